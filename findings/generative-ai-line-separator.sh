#!/usr/bin/env bash
# npm @google/generative-ai 0.24.1: a line separator in the text of a model is the end of its stream.
#
# JSON allows the character U+2028 in a string as it is, and for server-sent events it ends no line. The client finds
# an event by a regular expression of JavaScript, whose dot takes it for an end of line: the event is none, and
# the stream ends there with an error. The same text with an escape, \u2028, is read.
#
# Seen with Node 20.20: "Failed to parse stream" for the character, the text for its escape.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @google/generative-ai@0.24.1 >/dev/null
cat >main.mjs <<'JS'
import http from "node:http";
import { GoogleGenerativeAI } from "@google/generative-ai";
process.on("unhandledRejection", () => {});
const part = (text) => JSON.stringify({ candidates: [{ index: 0, content: { role: "model", parts: [{ text }] } }] });
for (const second of [part("two\u2028three"), part("two\u2028three").replace("\u2028", "\\u2028")]) {
  JSON.parse(second);
  const server = http.createServer((_, res) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.end(`data: ${part("one ")}\n\ndata: ${second}\n\n`);
  });
  await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
  const model = new GoogleGenerativeAI("x").getGenerativeModel({ model: "m" }, { baseUrl: `http://127.0.0.1:${server.address().port}` });
  let text = "";
  try {
    for await (const chunk of (await model.generateContentStream("Hi")).stream) text += chunk.text();
  } catch (e) { text += e.message.split(": ").pop(); }
  console.log(JSON.stringify(text).replace("\u2028", "<U+2028>"));
  server.close();
}
process.exit(0);
JS
out=$(node main.mjs 2>/dev/null)
printf '%s\n' "$out"
[ "$out" = '"one Failed to parse stream"
"one two<U+2028>three"' ]
echo 'as described'
