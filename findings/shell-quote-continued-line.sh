#!/usr/bin/env bash
# npm shell-quote 1.12.0: a line that goes on behind a backslash becomes two words.
#
# POSIX removes a backslash and the line break behind it before words are made: what stands on both sides is
# one word. shell-quote ends the word there. A long URL or path that a model has broken so is read as two.
#
# Seen with Node 20: bash reads https://example.org/a/b, shell-quote https://example.org/ and a/b.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts shell-quote@1.12.0 >/dev/null
printf 'echo https://example.org/\\\na/b' >line.sh
cat >main.js <<'JS'
const { parse } = require("shell-quote");
console.log("shell-quote", JSON.stringify(parse(require("fs").readFileSync("line.sh", "utf8")).slice(1)));
JS
out=$(echo "bash $(bash line.sh)"; node main.js)
printf '%s\n' "$out"
[ "$out" = 'bash https://example.org/a/b
shell-quote ["https://example.org/","a/b"]' ]
echo 'as described'
