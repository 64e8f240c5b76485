#!/usr/bin/env bash
# npm @llamaindex/openai 0.4.23: of two calls in one chunk the second is lost, and pieces of two are an error.
#
# A chunk may hold pieces of several calls, and a piece says by its index which call it belongs to. The adapter looks
# at the first piece of a chunk only, and takes a call for complete when one with another index comes. A call whose
# arguments are "", as for a tool without parameters, is an error too.
#
# Seen with Node 20.20: a alone of a and b in a chunk; SyntaxError for pieces in turn and for "".
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps @llamaindex/openai@0.4.23 llamaindex@0.12.1 >/dev/null
cat >main.mjs <<'JS'
import http from "node:http";
import { OpenAI } from "@llamaindex/openai";
const begin = (index, id, text) => ({ index, id, type: "function", function: { name: "look", arguments: text } });
const more = (index, text) => ({ index, function: { arguments: text } });
const streams = {
  "one chunk each": [[begin(0, "a", '{"q":1}')], [begin(1, "b", '{"q":2}')]],
  "one chunk": [[begin(0, "a", '{"q":1}'), begin(1, "b", '{"q":2}')]],
  "in turn": [[begin(0, "a", "")], [begin(1, "b", "")], [more(0, '{"q":1}')], [more(1, '{"q":2}')]],
  "without arguments": [[begin(0, "a", "")]],
};
for (const [name, pieces] of Object.entries(streams)) {
  const server = http.createServer((req, res) => req.resume().on("end", () => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    for (const [delta, finish_reason] of [...pieces.map((tool_calls) => [{ role: "assistant", tool_calls }, null]), [{}, "tool_calls"]]) {
      const choices = [{ index: 0, delta, finish_reason }];
      res.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`);
    }
    res.end("data: [DONE]\n\n");
  }));
  await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
  const model = new OpenAI({ apiKey: "x", model: "m", baseURL: `http://127.0.0.1:${server.address().port}/v1` });
  const tools = [{ metadata: { name: "look", description: "Look.", parameters: { type: "object", properties: {} } }, call: () => "" }];
  const calls = new Map();
  let error = "";
  try {
    for await (const { options } of await model.chat({ messages: [{ role: "user", content: "Hi" }], stream: true, tools })) {
      for (const { id, input } of options?.toolCall ?? []) calls.set(id, JSON.stringify(input));
    }
  } catch (e) { error = e.name; }
  console.log(`${name}:`, error || [...calls].map(([id, input]) => id + input).join(" "));
  server.close();
}
process.exit(0);
JS
out=$(node main.mjs 2>/dev/null)
printf '%s\n' "$out"
[ "$out" = 'one chunk each: a{"q":1} b{"q":2}
one chunk: a{"q":1}
in turn: SyntaxError
without arguments: SyntaxError' ]
echo 'as described'
