#!/usr/bin/env bash
# incomplete-json-parser 1.1.5: an empty object is a mistake.
#
# The package reads JSON that may be cut. It refuses the whole document {}, and any with {} in it, such as a call
# without arguments: it wants a key in front of the brace that closes. Empty lists are read.
#
# Seen with Node 20.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund incomplete-json-parser@1.1.5
cat >try.mjs <<'JS'
import { IncompleteJsonParser } from 'incomplete-json-parser'
for (const text of ['{"name":"now","arguments":[]}', '{"name":"now","arguments":{}}', '{}']) {
  let read
  try {
    read = JSON.stringify(IncompleteJsonParser.parse(text))
  } catch (e) {
    read = e.message
  }
  console.log(text, 'is', read)
}
JS
out=$(node try.mjs)
printf '%s\n' "$out"
[ "$out" = '{"name":"now","arguments":[]} is {"name":"now","arguments":[]}
{"name":"now","arguments":{}} is Expected ", got }
{} is Expected ", got }' ]
echo 'as described'
