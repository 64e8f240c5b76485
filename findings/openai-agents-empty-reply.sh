#!/usr/bin/env bash
# npm @openai/agents 0.20.0: a streamed reply without text is asked for again, ten times and with the same request.
#
# A reasoning model that stops behind its thoughts gives a reply with reasoning_content, content "" and finish_reason
# stop. The runner counts such a turn as neither an answer nor a call, adds nothing to the history and asks the same
# again. After maxTurns requests, which all cost, the user reads of turns and nothing of an empty reply.
#
# Seen with Node 20.20: 10 requests, one text, MaxTurnsExceededError.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @openai/agents@0.20.0 openai@6.49.0 zod@4.6.7 >/dev/null
cat >main.mjs <<'JS'
import http from "node:http";
import OpenAI from "openai";
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled } from "@openai/agents";

const asked = [];
const server = http.createServer((req, res) => {
  let body = "";
  req.on("data", (d) => (body += d)).on("end", () => {
    asked.push(body);
    res.writeHead(200, { "content-type": "text/event-stream" });
    for (const [delta, finish_reason] of [[{ role: "assistant", content: "", reasoning_content: "Hm." }, null], [{}, "stop"]]) {
      const choices = [{ index: 0, delta, finish_reason }];
      res.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`);
    }
    res.end("data: [DONE]\n\n");
  });
});
await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
setTracingDisabled(true);
const openai = new OpenAI({ apiKey: "x", baseURL: `http://127.0.0.1:${server.address().port}/v1` });
let end = "answered";
try {
  const result = await run(new Agent({ name: "a", model: new OpenAIChatCompletionsModel(openai, "m") }), "How is it?", { stream: true });
  for await (const _ of result);
  await result.completed;
} catch (e) { end = e.constructor.name; }
console.log(asked.length, "requests,", new Set(asked).size, "text,", end);
process.exit(0);
JS
out=$(node main.mjs 2>/dev/null)
printf '%s\n' "$out"
[ "$out" = '10 requests, 1 text, MaxTurnsExceededError' ]
echo 'as described'
