#!/usr/bin/env bash
# npm @ax-llm/ax 24.0.21: what a server says of the failure of its stream is a TypeError about 'map'.
#
# vLLM and others tell of a failure after the first chunk in an event of its own, data: {"error":{…}}. The client looks
# for choices in it: the user reads of a property of undefined, and nothing of a context that is too long or a server
# that has run out of memory.
#
# Seen with Node 20.20: "Cannot read properties of undefined (reading 'map')" of "out of memory"; a whole reply is read.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @ax-llm/ax@24.0.21 >/dev/null
cat >main.mjs <<'JS'
import http from "node:http";
import { AxAIOpenAI } from "@ax-llm/ax";
const chunk = (delta, finish_reason = null) => ({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] });
const streams = [
  [chunk({ role: "assistant", content: "All is" }), { error: { message: "out of memory", type: "server_error", code: 500 } }],
  [chunk({ role: "assistant", content: "Hi" }), chunk({}, "stop")],
];
for (const events of streams) {
  const server = http.createServer((req, res) => req.resume().on("end", () => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.end(events.map((e) => `data: ${JSON.stringify(e)}\n\n`).join("") + "data: [DONE]\n\n");
  }));
  await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
  const model = new AxAIOpenAI({ apiKey: "x", apiURL: `http://127.0.0.1:${server.address().port}/v1`, config: { model: "m" } });
  let text = "";
  try {
    const stream = await model.chat({ chatPrompt: [{ role: "user", content: "Hi" }] }, { stream: true });
    for await (const { results } of stream) for (const r of results) text += r.content ?? "";
    console.log(text);
  } catch (e) { console.log(e.name, e.message); }
  server.close();
}
process.exit(0);
JS
out=$(node main.mjs 2>/dev/null)
printf '%s\n' "$out"
[ "$out" = "TypeError Cannot read properties of undefined (reading 'map')
Hi" ]
echo 'as described'
