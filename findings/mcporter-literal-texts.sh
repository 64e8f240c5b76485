#!/usr/bin/env bash
# npm mcporter 0.12.3: whether a word on its command line is a text does not depend on the schema.
#
# The command calls a tool of an MCP server with arguments name=value. Numbers are compared with the tool's schema: 5 is
# a text where a text is wanted, and so is 1e5. true, null and what looks like a list or an object are not: a branch that
# is called true, or a file that begins with {, goes to the server as a boolean or an object, which refuses the call.
# In the other form of a call, look(any: …), an integer beyond 2^53 gets other digits.
#
# Seen with Node 20.20.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps mcporter@0.12.3 >/dev/null
cat >server.mjs <<'JS'
import { createInterface } from "node:readline";
const inputSchema = { type: "object", properties: { text: { type: "string" }, any: {} } };
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = {
    initialize: () => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }),
    "tools/list": () => ({ tools: [{ name: "look", description: "Look.", inputSchema }] }),
    "tools/call": () => ({ content: [{ type: "text", text: `got ${JSON.stringify(params.arguments)}` }] }),
  }[method]?.();
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error: { code: -32601, message: "unknown" } }) }));
});
JS
printf '{"mcpServers":{"s":{"command":"node","args":["%s/server.mjs"]}}}' "$dir" >config.json
export HOME=$dir
for words in 's.look text=5' 's.look text=1e5' 's.look text=true' 's.look text=null' 's.look text=[1]' 's.look any=12345678901234567890'; do
  # shellcheck disable=SC2086
  printf '%s: %s\n' "$words" "$(node node_modules/mcporter/dist/cli.js --config config.json call $words 2>/dev/null | grep got)"
done >lines
words='s.look(any: 12345678901234567890)'
printf '%s: %s\n' "$words" "$(node node_modules/mcporter/dist/cli.js --config config.json call "$words" 2>/dev/null | grep got)" >>lines
cat lines
[ "$(cat lines)" = 's.look text=5: got {"text":"5"}
s.look text=1e5: got {"text":"1e5"}
s.look text=true: got {"text":true}
s.look text=null: got {"text":null}
s.look text=[1]: got {"text":[1]}
s.look any=12345678901234567890: got {"any":"12345678901234567890"}
s.look(any: 12345678901234567890): got {"any":12345678901234567000}' ]
echo 'as described'
