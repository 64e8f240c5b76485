#!/usr/bin/env bash
# npm @marcbachmann/cel-js 8.0.0: the same rule in CEL decides otherwise than CEL's definition says, and without an error.
#
# The definition has b"é" as the two bytes of its UTF-8, a key that stands twice in a map as an error, and -(-2^63) as an
# overflow; lowerAscii and upperAscii of cel-go's extension change ASCII letters alone. Here b"é" is one byte, the last key
# counts, the integer leaves its 64 bits, and ß becomes SS. @bufbuild/cel 0.6.1 follows the definition, so that a rule
# tried in one engine is another rule in the other.
#
# Seen with Node 20.20.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @marcbachmann/cel-js@8.0.0 @bufbuild/cel@0.6.1 >/dev/null
cat >main.mjs <<'JS'
import { evaluate } from "@marcbachmann/cel-js";
import { run } from "@bufbuild/cel";
for (const rule of [`size(b"é")`, `{"a": 1, "a": 2}["a"]`, `-(-9223372036854775807 - 1)`]) {
  let other;
  try { other = run(rule, {}); } catch (e) { other = e; }
  console.log(rule, evaluate(rule, {}), other instanceof Error ? "error" : other);
}
for (const rule of [`"ß".upperAscii()`, `"É".lowerAscii()`]) console.log(rule, evaluate(rule, {}));
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = 'size(b"é") 1n 2n
{"a": 1, "a": 2}["a"] 2n error
-(-9223372036854775807 - 1) 9223372036854775808n error
"ß".upperAscii() SS
"É".lowerAscii() é' ]
echo 'as described'
