#!/usr/bin/env bash
# npm @langchain/core 1.4.0 with @langchain/openai 1.6.0: a streamed tool call that was cut off is a valid one.
#
# The pieces of arguments are read with a parser that closes what is open. When the reply ends at its limit of
# tokens, the half path is the argument, and the call stands in tool_calls, not in invalid_tool_calls. An agent
# runs it. The same reply as a whole is an invalid call.
#
# Seen with Node 20: {"path":"reports/20"} of {"path":"reports/2026/november"}, finish_reason length.
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
    const call = { id: "a", type: "function", function: { name: "remove", arguments: '{"path":"reports/20' } };
    if (!JSON.parse(body).stream) {
      const message = { role: "assistant", content: null, tool_calls: [call] };
      res.writeHead(200, { "content-type": "application/json" });
      res.end(JSON.stringify({ ...reply, object: "chat.completion", choices: [{ index: 0, message, finish_reason: "length" }] }));
      return;
    }
    res.writeHead(200, { "content-type": "text/event-stream" });
    for (const [delta, finish_reason] of [[{ role: "assistant", tool_calls: [{ index: 0, ...call }] }, null], [{}, "length"]]) {
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
  const valid = m.tool_calls.map((call) => JSON.stringify(call.args));
  console.log(what, m.response_metadata.finish_reason, `valid ${valid}`, `invalid ${m.invalid_tool_calls.length}`);
}
JS
out=$(node main.mjs "$(cat port)")
printf '%s\n' "$out"
[ "$out" = 'streamed length valid {"path":"reports/20"} invalid 0
whole length valid  invalid 1' ]
echo 'as described'
