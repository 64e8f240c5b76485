#!/usr/bin/env bash
# npm @mistralai/mistralai 2.7.0: a call that comes in pieces ends the stream with an error.
#
# In a stream of OpenAI's API the first piece of a call has its name, and the others its index and more of the arguments.
# vLLM and others send Mistral's models so. The client's schema asks for a name in every piece: the loop over the stream
# throws at the second one. A call in one piece, as Mistral's own servers send it, is read.
#
# Seen with Node 20.20: look({"q":1}) of one piece, an error about tool_calls[0].function.name of two.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @mistralai/mistralai@2.7.0 >/dev/null
cat >main.mjs <<'JS'
import http from "node:http";
import { Mistral } from "@mistralai/mistralai";
const begin = (text) => ({ index: 0, id: "a", type: "function", function: { name: "look", arguments: text } });
for (const pieces of [[begin('{"q":1}')], [begin('{"q"'), { index: 0, function: { arguments: ":1}" } }]]) {
  const server = http.createServer((req, res) => req.resume().on("end", () => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    for (const [delta, finish_reason] of [...pieces.map((piece) => [{ role: "assistant", tool_calls: [piece] }, null]), [{}, "tool_calls"]]) {
      const choices = [{ index: 0, delta, finish_reason }];
      res.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`);
    }
    res.end("data: [DONE]\n\n");
  }));
  await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
  const client = new Mistral({ apiKey: "x", serverURL: `http://127.0.0.1:${server.address().port}` });
  let text = "";
  try {
    for await (const { data } of await client.chat.stream({ model: "m", messages: [{ role: "user", content: "Hi" }] })) {
      for (const { function: f } of data.choices[0].delta.toolCalls ?? []) text += `${f.name}(${f.arguments})`;
    }
  } catch (e) { text += ` ${e.name} ${JSON.parse(e.message)[0].path.join(".")}`; }
  console.log(text);
  server.close();
}
process.exit(0);
JS
out=$(node main.mjs 2>/dev/null)
printf '%s\n' "$out"
[ "$out" = 'look({"q":1})
look({"q") ZodError data.choices.0.delta.tool_calls.0.function.name' ]
echo 'as described'
