#!/usr/bin/env bash
# npm @google/genai 3.1.0: a stream whose events have a line in front of their data is empty, and no error.
#
# An event of server-sent events may have the lines event, id and retry, and comments that keep it alive, before its
# data. The client looks for events that begin with "data:" and leaves out all others. Behind a proxy or gateway
# that writes one of these lines the loop over the stream ends at once: the user reads an empty answer. An id behind
# the data is read as a part of the JSON.
#
# Seen with Node 20.20: "Hi" of data alone; nothing behind event, id or a comment; an error for an id behind it.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @google/genai@3.1.0 >/dev/null
cat >main.mjs <<'JS'
import http from "node:http";
import { GoogleGenAI } from "@google/genai";
const data = `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }] })}\n`;
for (const event of ["%\n", "event: message\n%\n", "id: 1\n%\n", ": still here\n%\n", "%id: 1\n\n"]) {
  const server = http.createServer((_, res) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.end(event.replace("%", data));
  });
  await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
  const client = new GoogleGenAI({ apiKey: "x", httpOptions: { baseUrl: `http://127.0.0.1:${server.address().port}` } });
  let text = "";
  try {
    for await (const chunk of await client.models.generateContentStream({ model: "m", contents: "Hi" })) text += chunk.text;
  } catch (e) { text = e.name; }
  console.log(JSON.stringify(event.replace("%", "data…\n")), JSON.stringify(text));
  server.close();
}
process.exit(0);
JS
out=$(node main.mjs 2>/dev/null)
printf '%s\n' "$out"
[ "$out" = '"data…\n\n" "Hi"
"event: message\ndata…\n\n" ""
"id: 1\ndata…\n\n" ""
": still here\ndata…\n\n" ""
"data…\nid: 1\n\n" "SyntaxError"' ]
echo 'as described'
