#!/usr/bin/env bash
# npm @ai-sdk/mcp 2.0.99: a tool that takes any names of arguments takes none.
#
# A server's inputSchema may say additionalProperties: {"type": "string"}, as for the variables of a template or the
# columns of a row. The client of the AI SDK writes additionalProperties: false over it, in the outermost object
# alone. A model is told so, and a server that generates by schema, as vLLM and llama.cpp do, lets it write {} only.
#
# Seen with Node 20: false of {"type":"string"}; that of an object within is left.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @ai-sdk/mcp@2.0.99 @modelcontextprotocol/sdk@1.32.2 >/dev/null
cat >main.mjs <<'JS'
import { createMCPClient } from "@ai-sdk/mcp";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
const additionalProperties = { type: "string" };
const inputSchema = { type: "object", properties: { row: { type: "object", additionalProperties } }, additionalProperties };
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: "insert", inputSchema }] }));
const [here, there] = InMemoryTransport.createLinkedPair();
await server.connect(there);
const { insert } = await (await createMCPClient({ transport: here })).tools();
const schema = await insert.inputSchema.jsonSchema;
console.log("outermost", JSON.stringify(schema.additionalProperties));
console.log("within", JSON.stringify(schema.properties.row.additionalProperties));
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = 'outermost false
within {"type":"string"}' ]
echo 'as described'
