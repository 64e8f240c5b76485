#!/usr/bin/env bash
# npm @mlc-ai/web-xgrammar 0.1.27, strict_mode off as JSON Schema has it: an object that may have other properties may have
# anything under its own.
#
# Each name counts as another one, the declared ones too, so that the type of a property does not hold. A required name that
# is not under properties is not asked for, and an object of it alone is refused. And anyOf beside properties counts alone,
# in which a branch with only `required` is any value: a number is then a whole call.
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
  const grammar = await Grammar.fromJSONSchema(JSON.stringify(schema), true, undefined, undefined, false); // not strict
  for (const text of texts) {
    console.log(JSON.stringify(schema), text, await Testings.isGrammarAcceptString(grammar, text) ? "taken" : "refused");
  }
}
(async () => {
  const type = "object", properties = { url: { type: "string" } };
  await ask({ type, properties }, "1", `{"url": "a"}`, `{"url": 1}`);
  await ask({ type, properties, anyOf: [{ required: ["url"] }, { required: ["id"] }] }, "1");
  await ask({ type, properties, required: ["id"] }, `{"url": "a"}`, `{"id": 1}`);
  process.exit(0);
})();
JS
out=$(node main.cjs 2>/dev/null)
printf '%s\n' "$out"
[ "$out" = '{"type":"object","properties":{"url":{"type":"string"}}} 1 refused
{"type":"object","properties":{"url":{"type":"string"}}} {"url": "a"} taken
{"type":"object","properties":{"url":{"type":"string"}}} {"url": 1} taken
{"type":"object","properties":{"url":{"type":"string"}},"anyOf":[{"required":["url"]},{"required":["id"]}]} 1 taken
{"type":"object","properties":{"url":{"type":"string"}},"required":["id"]} {"url": "a"} taken
{"type":"object","properties":{"url":{"type":"string"}},"required":["id"]} {"id": 1} refused' ]
echo 'as described'
