#!/usr/bin/env bash
# npm openai 7.59.0: of the reasoning in a stream the helper keeps the last piece.
#
# vLLM and others send the model's thoughts piece by piece in delta.reasoning. chat.completions.stream() joins
# content, refusal and arguments, and of a field that it does not know it keeps what came last. The message of
# finalChatCompletion() has a field reasoning, so that it looks whole. Sent back with the next turn, as gpt-oss wants
# it between tool calls, the model reads one word of its thoughts.
#
# Seen with Node 20: reasoning "do." of "Now what to do.", content whole.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts openai@7.59.0 >/dev/null
cat >main.mjs <<'JS'
import http from "node:http";
import OpenAI from "openai";
const server = http.createServer((req, res) => {
  req.resume().on("end", () => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    for (const [delta, finish_reason] of [[{ role: "assistant", reasoning: "Now what " }, null], [{ reasoning: "to " }, null],
      [{ reasoning: "do." }, null], [{ content: "All " }, null], [{ content: "is well." }, null], [{}, "stop"]]) {
      const choices = [{ index: 0, delta, finish_reason }];
      res.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`);
    }
    res.end("data: [DONE]\n\n");
  });
});
await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
const client = new OpenAI({ apiKey: "x", baseURL: `http://127.0.0.1:${server.address().port}/v1` });
const stream = client.chat.completions.stream({ model: "m", messages: [{ role: "user", content: "Hi" }] });
const { reasoning, content } = (await stream.finalChatCompletion()).choices[0].message;
console.log(JSON.stringify({ reasoning, content }));
process.exit(0);
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = '{"reasoning":"do.","content":"All is well."}' ]
echo 'as described'
