#!/usr/bin/env bash
# npm zod-to-json-schema 3.25.2 with zod 4.6.7, which its peerDependencies allow: the schema comes out empty.
#
# Zod 4 keeps its definitions in another place than Zod 3. The package finds none there, and tells nothing of
# it: the schema has a $schema and nothing else. A model that is offered a tool so is told of no argument, and
# guesses the names.
#
# Seen with Node 20: only $schema of a schema of Zod 4; the property path of the same one of zod/v3.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts zod@4.6.7 zod-to-json-schema@3.25.2 >/dev/null
cat >main.mjs <<'JS'
import { readFileSync } from "node:fs";
import * as four from "zod";
import * as three from "zod/v3";
import { zodToJsonSchema } from "zod-to-json-schema";
console.log(JSON.parse(readFileSync("node_modules/zod-to-json-schema/package.json", "utf8")).peerDependencies.zod);
for (const { z } of [four, three]) {
  const schema = zodToJsonSchema(z.object({ path: z.string() }));
  console.log(Object.keys(schema).sort().join(" "), Object.keys(schema.properties ?? {}).join(" "));
}
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = '^3.25.28 || ^4
$schema 
$schema additionalProperties properties required type path' ]
echo 'as described'
