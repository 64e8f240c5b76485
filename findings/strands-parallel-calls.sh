#!/usr/bin/env bash
# npm @strands-agents/sdk 1.19.0, model OpenAIModel with api "chat": of two tool calls in one reply only the last one runs.
#
# The stream is the one of OpenAI's documentation: each call has its index, and its pieces come one after the other.
# The adapter ends the blocks of all calls with the finish_reason, and the aggregator has room for one open block. The
# first call neither runs nor stands in the history of the next request. So it is with text before a call.
#
# Seen with Node 20.20: two calls: ran b; the history holds b. Text and a call: the history holds "".
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @strands-agents/sdk@1.19.0 openai@6.49.0 zod@4.6.7 >/dev/null
cat >main.mjs <<'JS'
import http from "node:http";
import { z } from "zod";
import { Agent, tool } from "@strands-agents/sdk";
import { OpenAIModel } from "@strands-agents/sdk/models/openai";

const call = (index, path) => [
  { tool_calls: [{ index, id: `c${index}`, type: "function", function: { name: "look", arguments: "" } }] },
  { tool_calls: [{ index, function: { arguments: JSON.stringify({ path }) } }] }];
const replies = { two: [...call(0, "a"), ...call(1, "b")], text: [{ content: "I look." }, ...call(0, "a")] };
for (const [modelId, deltas] of Object.entries(replies)) {
  const ran = [];
  let history;
  const server = http.createServer((req, res) => {
    let body = "";
    req.on("data", (d) => (body += d)).on("end", () => {
      const { messages } = JSON.parse(body);
      history = messages.find((m) => m.role === "assistant");
      res.writeHead(200, { "content-type": "text/event-stream" });
      const say = (delta, finish_reason = null) => res.write(`data: ${JSON.stringify({ id: "c", created: 1, model: "m",
        object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
      say({ role: "assistant", content: null });
      for (const delta of history ? [{ content: "done" }] : deltas) say(delta);
      say({}, history ? "stop" : "tool_calls");
      res.end("data: [DONE]\n\n");
    });
  });
  await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
  const clientConfig = { baseURL: `http://127.0.0.1:${server.address().port}/v1` };
  const look = tool({ name: "look", description: "look", inputSchema: z.object({ path: z.string() }),
    callback: ({ path }) => { ran.push(path); return "ok"; } });
  await new Agent({ model: new OpenAIModel({ api: "chat", modelId, apiKey: "x", clientConfig }), tools: [look], printer: false }).invoke("go");
  console.log(`${modelId}: ran ${ran}; history ${JSON.stringify(history.content)}`,
    history.tool_calls.map((c) => c.function.arguments).join());
  server.close();
}
process.exit(0);
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = 'two: ran b; history "" {"path":"b"}
text: ran a; history "" {"path":"a"}' ]
echo 'as described'
