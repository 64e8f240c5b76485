#!/usr/bin/env bash
# npm @langchain/openai 1.6.0: a refusal over chat completions is lost.
#
# OpenAI says a refusal in the field refusal of a message or delta, and no content. What ChatOpenAI makes of
# it is empty, streamed and whole: no content, nothing in additional_kwargs, finish_reason stop. The user
# reads nothing, and an agent takes it for an empty answer.
#
# Seen with Node 20: no word of the refusal in either message.
set -euo pipefail
dir=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @langchain/openai@1.6.0 @langchain/core@1.4.0 >/dev/null
cat >server.mjs <<'JS'
import http from "node:http";
http.createServer((req, res) => {
  let body = "";
  req.on("data", (d) => (body += d)).on("end", () => {
    const reply = { id: "c", created: 1, model: "m" };
    if (!JSON.parse(body).stream) {
      const message = { role: "assistant", content: null, refusal: "I can't help." };
      res.writeHead(200, { "content-type": "application/json" });
      res.end(JSON.stringify({ ...reply, object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }] }));
      return;
    }
    res.writeHead(200, { "content-type": "text/event-stream" });
    for (const [delta, finish_reason] of [[{ role: "assistant", content: null, refusal: "I can't" }, null],
      [{ refusal: " help." }, null], [{}, "stop"]]) {
      const choices = [{ index: 0, delta, finish_reason }];
      res.write(`data: ${JSON.stringify({ ...reply, object: "chat.completion.chunk", choices })}\n\n`);
    }
    res.end("data: [DONE]\n\n");
  });
}).listen(0, "127.0.0.1", function () { console.log(this.address().port); });
JS
node server.mjs >port & server=$!
until [ -s port ]; do sleep 0.1; done
cat >main.mjs <<'JS'
import { ChatOpenAI } from "@langchain/openai";
const model = new ChatOpenAI({ model: "m", apiKey: "x", configuration: { baseURL: `http://127.0.0.1:${process.argv[2]}/v1` } });
let streamed;
for await (const chunk of await model.stream("Hi")) streamed = streamed ? streamed.concat(chunk) : chunk;
const whole = await model.invoke("Hi");
for (const [what, m] of [["streamed", streamed], ["whole", whole]]) {
  console.log(what, JSON.stringify(m.content), m.response_metadata.finish_reason, JSON.stringify(m).includes("help"));
}
JS
out=$(node main.mjs "$(cat port)")
printf '%s\n' "$out"
[ "$out" = 'streamed "" stop false
whole "" stop false' ]
echo 'as described'
