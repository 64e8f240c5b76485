#!/usr/bin/env bash
# npm ollama-ai-provider-v2 4.0.1 with ai 7.0.173: the error of a stream is no error, and the text of its last line is one.
#
# Ollama's API ends a stream that fails with a line {"error": "…"}. The provider leaves that line out: half an answer
# ends with the reason "other". The last line, done, is a message like the others and may have content; its text comes
# behind the end of the text, where the AI SDK refuses it, so that the answer lacks its end.
#
# Seen with Node 20.20: "All is" and other, no error; "Hello" without " world", and an error.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps ai@7.0.173 ollama-ai-provider-v2@4.0.1 zod@4.6.7 >/dev/null
cat >main.mjs <<'JS'
import http from "node:http";
import { streamText } from "ai";
import { createOllama } from "ollama-ai-provider-v2";
const reply = (content, more) => ({ model: "m", created_at: "2026-01-01T00:00:00Z", message: { role: "assistant", content }, done: false, ...more });
const end = { done: true, done_reason: "stop", prompt_eval_count: 1, eval_count: 2 };
for (const lines of [[reply("All is"), { error: "runner has stopped" }], [reply("Hello"), reply(" world", end)]]) {
  const server = http.createServer((req, res) => req.resume().on("end", () => {
    res.writeHead(200, { "content-type": "application/x-ndjson" });
    res.end(lines.map((line) => JSON.stringify(line) + "\n").join(""));
  }));
  await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
  const model = createOllama({ baseURL: `http://127.0.0.1:${server.address().port}/api` })("m");
  let errors = 0;
  const result = streamText({ model, prompt: "Hi", maxRetries: 0 });
  for await (const part of result.fullStream) errors += part.type === "error";
  console.log(JSON.stringify(await result.text), await result.finishReason, `errors ${errors}`);
  server.close();
}
process.exit(0);
JS
out=$(node main.mjs 2>/dev/null)
printf '%s\n' "$out"
[ "$out" = '"All is" other errors 0
"Hello" stop errors 1' ]
echo 'as described'
