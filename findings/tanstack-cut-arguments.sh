#!/usr/bin/env bash
# npm @tanstack/ai 0.58.0 with @tanstack/ai-openai 0.23.1: a call that was cut off runs without arguments.
#
# When a reply ends at its limit of tokens inside the arguments, they are no JSON. The adapter writes that into its log,
# hands the tool {} and goes on: a tool whose parameters are optional runs on its defaults, and the model is shown a
# result of a call that it did not make. finish_reason is length.
#
# Seen with Node 20.20: list({}) for {"path":"reports/20, and a second request with its result.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps @tanstack/ai@0.58.0 @tanstack/ai-openai@0.23.1 openai@6.49.0 zod@4.6.7 >/dev/null
cat >main.mjs <<'JS'
import http from "node:http";
import { chat, toolDefinition } from "@tanstack/ai";
import { createOpenaiChatCompletions } from "@tanstack/ai-openai";
const asked = [];
const call = { index: 0, id: "a", type: "function", function: { name: "list", arguments: '{"path":"reports/20' } };
const server = http.createServer((req, res) => {
  let body = "";
  req.on("data", (d) => (body += d)).on("end", () => {
    asked.push(JSON.parse(body));
    res.writeHead(200, { "content-type": "text/event-stream" });
    const cut = [[{ role: "assistant", content: "", tool_calls: [call] }, null], [{}, "length"]];
    for (const [delta, finish_reason] of asked.length === 1 ? cut : [[{ role: "assistant", content: "Done." }, null], [{}, "stop"]]) {
      const choices = [{ index: 0, delta, finish_reason }];
      res.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`);
    }
    res.end("data: [DONE]\n\n");
  });
});
await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
const adapter = createOpenaiChatCompletions("gpt-4o", "x", { baseURL: `http://127.0.0.1:${server.address().port}/v1` });
const inputSchema = { type: "object", properties: { path: { type: "string" } } };
const list = toolDefinition({ name: "list", description: "List.", inputSchema }).server(async (input) => {
  process.stdout.write(`list(${JSON.stringify(input)})\n`);
  return "all files";
});
for await (const _ of chat({ adapter, messages: [{ role: "user", content: "Hi" }], tools: [list] }));
const { role, content } = asked[1].messages.at(-1);
process.stdout.write(`${asked.length} requests, ${role}: ${content}\n`);
process.exit(0);
JS
out=$(node main.mjs 2>/dev/null | grep -e '^list' -e requests)
printf '%s\n' "$out"
[ "$out" = 'list({})
2 requests, tool: all files' ]
echo 'as described'
