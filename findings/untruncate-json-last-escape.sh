#!/usr/bin/env bash
# untruncate-json 0.0.1: a whole document that ends with an escaped character gets another end.
#
# The package completes JSON that was cut, as a stream of arguments is until its last piece. If the last text of a
# whole document ends with an escape of a character, \u00f8, it does not see that the escape is over: it adds a quote
# and the brackets again, and the result is no JSON. One character behind the escape, and it is right.
#
# Seen with Node 20.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund untruncate-json@0.0.1
cat >try.mjs <<'JS'
import module from 'untruncate-json'
const untruncate = module.default ?? module
for (const text of ['{"city":"Troms\\u00f8"}', '{"city":"Troms\\u00f8 "}', '["\\u0041"]']) {
  console.log(text, 'becomes', untruncate(text))
}
JS
out=$(node try.mjs)
printf '%s\n' "$out"
[ "$out" = '{"city":"Troms\u00f8"} becomes {"city":"Troms\u00f8"}"}
{"city":"Troms\u00f8 "} becomes {"city":"Troms\u00f8 "}
["\u0041"] becomes ["\u0041"]"]' ]
echo 'as described'
