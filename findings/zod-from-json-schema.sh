#!/usr/bin/env bash
# npm zod 4.6.7: z.fromJSONSchema reads a keyword only beside the type it goes with.
#
# JSON Schema's keywords hold by themselves: required without properties, properties without type, minimum beside an
# anyOf or a $ref. The tools of MCP servers have such schemas. zod refuses keywords that it does not support, if and
# not among them, but leaves these out and says nothing: what the server will refuse passes the check before the call.
#
# Seen with Node 20: all six of zod "taken", all six of Ajv 8.20.0 "refused".
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts zod@4.6.7 ajv@8.20.0 >/dev/null
cat >main.mjs <<'JS'
import Ajv from "ajv/dist/2020.js";
import { z } from "zod";
for (const [schema, value] of [
  [{ type: "object", required: ["path"] }, {}],
  [{ required: ["path"], properties: { path: { type: "string" } } }, {}],
  [{ properties: { path: { type: "string" } } }, { path: 1 }],
  [{ minimum: 3 }, 1],
  [{ anyOf: [{ type: "integer" }, { type: "null" }], minimum: 3 }, 1],
  [{ $ref: "#/$defs/n", minimum: 3, $defs: { n: { type: "integer" } } }, 1],
]) {
  const zod = z.fromJSONSchema(schema).safeParse(value).success;
  const ajv = new Ajv.Ajv2020({ strict: false }).validate(schema, value);
  console.log(`${JSON.stringify(schema)} ${JSON.stringify(value)}: zod ${zod ? "taken" : "refused"}, Ajv ${ajv ? "taken" : "refused"}`);
}
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$(grep -c ': zod taken, Ajv refused$' <<<"$out")" = 6 ]
echo 'as described'
