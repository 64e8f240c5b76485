#!/usr/bin/env bash
# npm genkit 1.42.0 with @genkit-ai/compat-oai 1.42.0: arguments count only where finish_reason is tool_calls.
#
# OpenAI's reference says that a function which tool_choice names ends with stop, and other servers end all calls
# so. The plugin then hands the tool the text "" for its input, whatever the arguments are: a tool whose input has
# no schema runs with it, another one is refused as "must be object".
#
# Seen with Node 20, streamed and whole: {"q":"x"} for tool_calls, "" for stop.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts genkit@1.42.0 @genkit-ai/compat-oai@1.42.0 >/dev/null
cat >main.mjs <<'JS'
import http from "node:http";
import { openAICompatible } from "@genkit-ai/compat-oai";
import { genkit, z } from "genkit";
let finish;
const server = http.createServer((req, res) => {
  let body = "";
  req.on("data", (d) => (body += d)).on("end", () => {
    const { messages, stream } = JSON.parse(body);
    const call = { index: 0, id: "a", type: "function", function: { name: "look", arguments: '{"q":"x"}' } };
    const answered = messages.at(-1).role === "tool";
    const message = answered ? { role: "assistant", content: "Done." } : { role: "assistant", content: null, tool_calls: [call] };
    const choice = { index: 0, [stream ? "delta" : "message"]: message, finish_reason: answered ? "stop" : finish };
    const object = stream ? "chat.completion.chunk" : "chat.completion";
    const reply = JSON.stringify({ id: "c", object, created: 1, model: "m", choices: [choice] });
    res.writeHead(200, { "content-type": stream ? "text/event-stream" : "application/json" });
    res.end(stream ? `data: ${reply}\n\ndata: [DONE]\n\n` : reply);
  });
});
await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
const ai = genkit({ plugins: [openAICompatible({ name: "x", apiKey: "x", baseURL })] });
const inputs = [];
const look = ai.defineTool({ name: "look", description: "Look.", inputSchema: z.any() }, async (input) => {
  inputs.push(JSON.stringify(input));
  return "ok";
});
for (finish of ["tool_calls", "stop"]) {
  const asked = { model: "x/m", prompt: "Hi", tools: [look] };
  await ai.generateStream(asked).response;
  await ai.generate(asked);
  console.log(finish, inputs.splice(0).join(" "));
}
process.exit(0);
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = 'tool_calls {"q":"x"} {"q":"x"}
stop "" ""' ]
echo 'as described'
