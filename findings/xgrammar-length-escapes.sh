#!/usr/bin/env bash
# npm @mlc-ai/web-xgrammar 0.1.27: a string with minLength or maxLength can have no escape.
#
# Of {"type": "string"} xgrammar makes the strings of JSON. With a length it makes a number of characters that are
# neither a quote nor a backslash. A tool whose `command` has a minLength of 1, as many have, can be called with no quote,
# no line break and no backslash; and a raw tab, which JSON forbids in a string, is taken.
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
  for (const schema of [{ type: "string" }, { type: "string", minLength: 1 }, { type: "string", maxLength: 99 }]) {
    await ask(schema, String.raw`"ls"`, String.raw`"echo \"a\""`, String.raw`"cd a\nls"`, `"a\tb"`);
  }
  process.exit(0);
})();
JS
out=$(node main.cjs 2>/dev/null)
printf '%s\n' "$out"
[ "$out" = '{"type":"string"} "ls" taken
{"type":"string"} "echo \"a\"" taken
{"type":"string"} "cd a\nls" taken
{"type":"string"} "a	b" refused
{"type":"string","minLength":1} "ls" taken
{"type":"string","minLength":1} "echo \"a\"" refused
{"type":"string","minLength":1} "cd a\nls" refused
{"type":"string","minLength":1} "a	b" taken
{"type":"string","maxLength":99} "ls" taken
{"type":"string","maxLength":99} "echo \"a\"" refused
{"type":"string","maxLength":99} "cd a\nls" refused
{"type":"string","maxLength":99} "a	b" taken' ]
echo 'as described'
