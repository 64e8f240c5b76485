#!/usr/bin/env bash
# npm openai 7.59.0 and groq-sdk 1.6.0: an event without data ends the stream with an error of JSON.
#
# A server that keeps a connection alive may send "event: ping" and a blank line. The standard of server-sent events
# dispatches nothing for an event without data lines. These clients hand on an event whose data is "", and read it as JSON:
# the loop over the stream throws at the first ping, and what the model says behind it is lost. Comments do no harm.
#
# Seen with Node 20.20.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts openai@7.59.0 groq-sdk@1.6.0 >/dev/null
cat >main.mjs <<'JS'
import OpenAI from "openai";
import Groq from "groq-sdk";
const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content: "Hi" } }] };
for (const [name, Client] of Object.entries({ openai: OpenAI, groq: Groq })) {
  for (const idle of [": ping\n\n", "event: ping\n\n"]) {
    const fetch = async () => new Response(`${idle}data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`,
      { headers: { "content-type": "text/event-stream" } });
    const client = new Client({ apiKey: "x", fetch, maxRetries: 0, logLevel: "off" });
    let text = "";
    try {
      const stream = await client.chat.completions.create({ model: "m", messages: [{ role: "user", content: "Hi" }], stream: true });
      for await (const { choices } of stream) text += choices[0].delta.content;
    } catch (e) { text = "error"; }
    console.log(name, JSON.stringify(idle), text);
  }
}
JS
out=$(node main.mjs 2>/dev/null)
printf '%s\n' "$out"
[ "$out" = 'openai ": ping\n\n" Hi
openai "event: ping\n\n" error
groq ": ping\n\n" Hi
groq "event: ping\n\n" error' ]
echo 'as described'
