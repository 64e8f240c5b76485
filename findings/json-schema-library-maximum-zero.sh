#!/usr/bin/env bash
# npm json-schema-library 11.6.2: a maximum of 0 is none.
#
# {"maximum": 0} takes 1, and any number. A maximum of 1 or -1 holds, and so do minimum, exclusiveMaximum, maxLength,
# maxItems and maxProperties of 0. Arguments that may not be positive, as an offset from the end of a file or a longitude
# west of Greenwich, are not checked.
#
# Seen with Node 20.20.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts json-schema-library@11.6.2 >/dev/null
cat >main.mjs <<'JS'
import { compileSchema } from "json-schema-library";
for (const [keyword, limit] of [["maximum", 0], ["maximum", -1], ["exclusiveMaximum", 0], ["maxLength", 0], ["maxItems", 0]]) {
  const schema = compileSchema({ $schema: "https://json-schema.org/draft/2020-12/schema", [keyword]: limit });
  const data = { maxLength: "a", maxItems: [1] }[keyword] ?? 1;
  console.log(keyword, limit, JSON.stringify(data), schema.validate(data).valid ? "taken" : "refused");
}
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = 'maximum 0 1 taken
maximum -1 1 refused
exclusiveMaximum 0 1 refused
maxLength 0 "a" refused
maxItems 0 [1] refused' ]
echo 'as described'
