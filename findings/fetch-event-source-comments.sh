#!/usr/bin/env bash
# npm @microsoft/fetch-event-source 2.0.1: a comment that keeps a stream alive is a message without data.
#
# The standard of server-sent events does not dispatch an event whose data is empty, as one of a comment or retry and the
# blank line behind it. This client calls onmessage for each with data "". A page that reads every message as JSON
# fails at the first comment of a server or proxy, while the model still thinks; EventSource itself never shows it one.
#
# Seen with Node 20.20: "" for the comment, "" for retry, then the message.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @microsoft/fetch-event-source@2.0.1 eventsource-parser@4.1.3 >/dev/null
cat >main.mjs <<'JS'
import { createRequire } from "node:module";
import { createParser } from "eventsource-parser";
const { fetchEventSource } = createRequire(import.meta.url)("@microsoft/fetch-event-source");
globalThis.window = globalThis; // it is for browsers
globalThis.document = { removeEventListener() {} };
const stream = ': keep-alive\n\nretry: 1000\n\ndata: {"a":1}\n\n', data = [], expected = [];
await fetchEventSource("http://127.0.0.1/", {
  openWhenHidden: true,
  fetch: async () => new Response(stream, { headers: { "content-type": "text/event-stream" } }),
  onmessage: (message) => data.push(message.data),
});
createParser({ onEvent: (message) => expected.push(message.data) }).feed(stream);
console.log(JSON.stringify(data), "of", JSON.stringify(expected));
process.exit(0);
JS
out=$(timeout 60 node main.mjs)
printf '%s\n' "$out"
[ "$out" = '["","","{\"a\":1}"] of ["{\"a\":1}"]' ]
echo 'as described'
