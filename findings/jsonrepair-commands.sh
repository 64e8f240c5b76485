#!/usr/bin/env bash
# npm jsonrepair 3.15.0: repaired arguments of a shell tool are valid JSON and another command.
#
# A backslash that JSON does not know, as models leave it before a dot or a semicolon, is dropped and not doubled: the
# pattern \.go becomes .go, which matches more, and find's \; ends the command. Of a path without quotes at the end of
# the object the closing brace becomes a part, though a bare word ends before it.
#
# Seen with Node 20.20.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts jsonrepair@3.15.0 >/dev/null
cat >damaged.txt <<'TXT'
{"command":"grep -c '\.go' list"}
{"command":"find . -exec ls {} \;"}
{"command":"ls","cwd":/tmp}
{"command":"ls","cwd":tmp}
TXT
cat >main.cjs <<'JS'
const { jsonrepair } = require("jsonrepair");
for (const line of require("fs").readFileSync("damaged.txt", "utf8").trim().split("\n")) console.log(jsonrepair(line));
JS
out=$(node main.cjs)
printf '%s\n' "$out"
[ "$out" = '{"command":"grep -c '"'.go'"' list"}
{"command":"find . -exec ls {} ;"}
{"command":"ls","cwd":"/tmp}"}
{"command":"ls","cwd":"tmp"}' ]
echo 'as described'
