#!/usr/bin/env bash
# npm @modelcontextprotocol/sdk 1.32.2: the pattern of one tool's result hides every tool of its server.
#
# The client compiles the outputSchema of all tools when it lists them. Draft 7 asks for a pattern of ECMA-262, and
# "\-" for a hyphen is one (annex B). Ajv reads each pattern with the flag u, under which it is none, and the error
# becomes that of listTools: the agent gets no tool of this server.
#
# Seen with Node 20: "Invalid escape" and no tool for ^\d{4}\-\d{2}$; two tools for ^\d{4}-\d{2}$.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @modelcontextprotocol/sdk@1.32.2 >/dev/null
cat >main.mjs <<'JS'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
for (const pattern of ["^\\d{4}\\-\\d{2}$", "^\\d{4}-\\d{2}$"]) {
  const inputSchema = { type: "object" };
  const outputSchema = { $schema: "http://json-schema.org/draft-07/schema#", type: "object",
    properties: { month: { type: "string", pattern } } };
  const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: "look", inputSchema }, { name: "count", inputSchema, outputSchema }] }));
  const [here, there] = InMemoryTransport.createLinkedPair();
  await server.connect(there);
  const client = new Client({ name: "c", version: "1" });
  await client.connect(here);
  try {
    console.log(new RegExp(pattern).test("2026-11"), (await client.listTools()).tools.map((tool) => tool.name).join(" "));
  } catch (e) {
    console.log(new RegExp(pattern).test("2026-11"), e.message);
  }
}
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = 'true Invalid regular expression: /^\d{4}\-\d{2}$/u: Invalid escape
true look count' ]
echo 'as described'
