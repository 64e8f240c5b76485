#!/usr/bin/env bash
# npm @mlc-ai/web-xgrammar 0.1.27: a slash in an enum or const has to be written with a backslash.
#
# xgrammar writes each value of the enum into the grammar as its JSON library would, and that one escapes the slash.
# JSON allows both forms, and every model writes the plain one. Where a server holds a model to the schema, the tokens of
# "application/json" or "org/model" are forbidden from the slash on, and the model is led to another value or to an
# escape that it never saw. The name of a property keeps its slash.
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
  await ask({ enum: ["application/json", "text"] }, String.raw`"application/json"`, String.raw`"application\/json"`);
  await ask({ const: "org/model" }, String.raw`"org/model"`, String.raw`"org\/model"`);
  await ask({ type: "object", properties: { "a/b": { const: 1 } } }, String.raw`{"a/b": 1}`);
  process.exit(0);
})();
JS
out=$(node main.cjs 2>/dev/null)
printf '%s\n' "$out"
[ "$out" = '{"enum":["application/json","text"]} "application/json" refused
{"enum":["application/json","text"]} "application\/json" taken
{"const":"org/model"} "org/model" refused
{"const":"org/model"} "org\/model" taken
{"type":"object","properties":{"a/b":{"const":1}}} {"a/b": 1} taken' ]
echo 'as described'
