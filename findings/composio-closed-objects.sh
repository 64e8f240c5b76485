#!/usr/bin/env bash
# npm @composio/json-schema-to-zod 0.3.3 and @n8n/json-schema-to-zod 1.16.0: an object that does not say so is closed.
#
# JSON Schema lets an object have other properties than those it names, unless additionalProperties says otherwise, and
# a tool that takes the columns of a row or the variables of a template relies on it. Of such a schema, which the model
# and the server go by, Composio's object refuses the right call, and n8n's drops what has no name and says nothing.
# npm zod-from-json-schema 0.5.6 keeps it; additionalProperties: true is kept by all three.
#
# Seen with Node 20.20: refused, {"table":"t"} and the whole of {"table":"t","row":1}.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps @composio/json-schema-to-zod@0.3.3 @n8n/json-schema-to-zod@1.16.0 zod-from-json-schema@0.5.6 zod@4.6.7 >/dev/null
cat >main.mjs <<'JS'
import { jsonSchemaToZod as composio } from "@composio/json-schema-to-zod";
import { createRequire } from "node:module";
import { convertJsonSchemaToZod } from "zod-from-json-schema";
const n8n = createRequire(import.meta.url)("@n8n/json-schema-to-zod");
for (const more of [{}, { additionalProperties: true }]) {
  const schema = { type: "object", properties: { table: { type: "string" } }, required: ["table"], ...more };
  for (const [name, convert] of [["composio", composio], ["n8n", n8n.jsonSchemaToZod], ["zod-from-json-schema", convertJsonSchemaToZod]]) {
    const { success, data } = convert(schema).safeParse({ table: "t", row: 1 });
    console.log(JSON.stringify(more), name, success ? JSON.stringify(data) : "refused");
  }
}
JS
out=$(node main.mjs 2>/dev/null)
printf '%s\n' "$out"
[ "$out" = '{} composio refused
{} n8n {"table":"t"}
{} zod-from-json-schema {"table":"t","row":1}
{"additionalProperties":true} composio {"table":"t","row":1}
{"additionalProperties":true} n8n {"table":"t","row":1}
{"additionalProperties":true} zod-from-json-schema {"table":"t","row":1}' ]
echo 'as described'
