#!/usr/bin/env bash
# npm best-effort-json-parser 1.5.1: behind a number with an exponent, in JSON that is cut, one name is lost.
#
# The package is for what a model has written so far. JSON's numbers have exponents. This reader ends the number in
# front of it, and takes what follows, up to the next colon, for a name: the value of the next argument stands under
# another name until the text is complete, and 1e-7 is 1.
#
# Seen with Node 20: {"rate":1,"e-7,\"dry\"":true} of {"rate":1e-7,"dry":true; right with the brace behind it.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts best-effort-json-parser@1.5.1 >/dev/null
cat >main.js <<'JS'
const { parse } = require("best-effort-json-parser");
for (const text of ['{"rate":1e-7,"dry":true', '{"rate":1e-7,"dry":true}']) {
  console.log(text, JSON.stringify(parse(text)));
}
JS
out=$(node main.js 2>/dev/null)
printf '%s\n' "$out"
[ "$out" = '{"rate":1e-7,"dry":true {"rate":1,"e-7,\"dry\"":true}
{"rate":1e-7,"dry":true} {"rate":1e-7,"dry":true}' ]
echo 'as described'
