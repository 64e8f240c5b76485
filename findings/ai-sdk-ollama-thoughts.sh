#!/usr/bin/env bash
# npm ai-sdk-ollama 4.3.0 with ai 7.0.173: a thought beside a call comes back to the model as what it has said.
#
# Ollama's API has the field thinking for it, in replies and in the history. The provider reads it as reasoning, and
# writes it into content in the next request. A template then shows it as words to the user: gpt-oss reads its analysis
# as a final answer in front of the call. npm ollama-ai-provider-v2 4.0.1 sends it as thinking.
#
# Seen with Node 20.20: "content":"Hm." and no thinking, of a thought "Hm.".
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps ai@7.0.173 ai-sdk-ollama@4.3.0 ollama-ai-provider-v2@4.0.1 ollama@0.6.4 zod@4.6.7 >/dev/null
cat >main.mjs <<'JS'
import http from "node:http";
import { isStepCount, jsonSchema, stepCountIs, streamText, tool } from "ai";
import * as first from "ai-sdk-ollama";
import * as second from "ollama-ai-provider-v2";
const reply = (message, more) => JSON.stringify({ model: "m", created_at: "2026-01-01T00:00:00Z", message: { role: "assistant", content: "", ...message }, done: false, ...more }) + "\n";
const end = reply({}, { done: true, done_reason: "stop", prompt_eval_count: 1, eval_count: 1 });
const call = { id: "a", function: { index: 0, name: "look", arguments: {} } };
for (const [name, provider, path] of [["ai-sdk-ollama", first, ""], ["ollama-ai-provider-v2", second, "/api"]]) {
  const asked = [];
  const server = http.createServer((req, res) => {
    let body = "";
    req.on("data", (d) => (body += d)).on("end", () => {
      asked.push(JSON.parse(body));
      res.writeHead(200, { "content-type": "application/x-ndjson" });
      res.end((asked.length === 1 ? reply({ thinking: "Hm." }) + reply({ tool_calls: [call] }) : reply({ content: "Done." })) + end);
    });
  });
  await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
  const model = provider.createOllama({ baseURL: `http://127.0.0.1:${server.address().port}${path}` })("m");
  const look = tool({ description: "Look.", inputSchema: jsonSchema({ type: "object", properties: {} }), execute: async () => "ok" });
  await streamText({ model, prompt: "Hi", tools: { look }, stopWhen: (isStepCount ?? stepCountIs)(2) }).consumeStream();
  const { content, thinking } = asked[1].messages[1];
  console.log(name, JSON.stringify({ content, thinking }));
  server.close();
}
process.exit(0);
JS
out=$(node main.mjs 2>/dev/null)
printf '%s\n' "$out"
[ "$out" = 'ai-sdk-ollama {"content":"Hm."}
ollama-ai-provider-v2 {"content":"","thinking":"Hm."}' ]
echo 'as described'
