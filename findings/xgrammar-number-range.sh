#!/usr/bin/env bash
# npm @mlc-ai/web-xgrammar 0.1.27: minimum and maximum of a number keep out what lies within, and let in what does not.
#
# The ranges are those of the digits before the point, and any fraction may follow. A share from 0 to 1 may be 1.9,
# and beside a minimum of 0 alone 0.5 is no number. Ranges of integers are exact.
#
# Seen with Node 20.20.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @mlc-ai/web-xgrammar@0.1.27 >/dev/null
cp node_modules/@mlc-ai/web-xgrammar/lib/index.js xgrammar.cjs
cat >main.cjs <<'JS'
const { Grammar, Testings } = require("./xgrammar.cjs");
async function ask(schema, ...texts) {
  const grammar = await Grammar.fromJSONSchema(JSON.stringify(schema));
  for (const text of texts) {
    console.log(JSON.stringify(schema), text, await Testings.isGrammarAcceptString(grammar, text) ? "taken" : "refused");
  }
}
(async () => {
  const type = "number";
  await ask({ type, minimum: 0 }, "0", "0.5", "1.5");
  await ask({ type, exclusiveMinimum: 0 }, "0", "0.5");
  await ask({ type, minimum: 0, maximum: 1 }, "0.5", "1.9");
  await ask({ type, minimum: -1, maximum: 1 }, "-0.5", "-1.5");
  await ask({ type: "integer", minimum: 1, maximum: 100 }, "0", "1", "100", "101");
  process.exit(0);
})();
JS
out=$(node main.cjs 2>/dev/null)
printf '%s\n' "$out"
[ "$out" = '{"type":"number","minimum":0} 0 taken
{"type":"number","minimum":0} 0.5 refused
{"type":"number","minimum":0} 1.5 taken
{"type":"number","exclusiveMinimum":0} 0 taken
{"type":"number","exclusiveMinimum":0} 0.5 refused
{"type":"number","minimum":0,"maximum":1} 0.5 taken
{"type":"number","minimum":0,"maximum":1} 1.9 taken
{"type":"number","minimum":-1,"maximum":1} -0.5 refused
{"type":"number","minimum":-1,"maximum":1} -1.5 taken
{"type":"integer","minimum":1,"maximum":100} 0 refused
{"type":"integer","minimum":1,"maximum":100} 1 taken
{"type":"integer","minimum":1,"maximum":100} 100 taken
{"type":"integer","minimum":1,"maximum":100} 101 refused' ]
echo 'as described'
