#!/usr/bin/env bash
# npm openai 7.59.0: a Retry-After of more than a minute counts as none.
#
# A server that asks for a minute is asked again after a minute. One that asks for two, as providers do when a
# limit per hour or day is used up, is asked again after half a second, and has used up the client's retries
# while it still says the same.
#
# Seen with Node 20: Retry-After 50 waits, 120 is asked again at once.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts openai@7.59.0 >/dev/null
cat >main.mjs <<'JS'
import http from "node:http";
import OpenAI from "openai";
for (const seconds of ["50", "120"]) {
  let asked = 0;
  const server = http.createServer((req, res) => {
    asked++;
    req.resume().on("end", () => res.writeHead(429, { "retry-after": seconds }).end("{}"));
  });
  await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
  const client = new OpenAI({ apiKey: "x", baseURL: `http://127.0.0.1:${server.address().port}/v1`, maxRetries: 1 });
  client.chat.completions.create({ model: "m", messages: [] }).catch(() => {});
  await new Promise((over) => setTimeout(over, 4000));
  console.log(`Retry-After ${seconds}: asked ${asked} times in 4 seconds`);
}
process.exit(0);
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = 'Retry-After 50: asked 1 times in 4 seconds
Retry-After 120: asked 2 times in 4 seconds' ]
echo 'as described'
