#!/usr/bin/env bash
# npm @continuedev/cli 1.5.47: a stream that ends in the middle counts as a whole answer.
#
# The server sends two words, no finish_reason and no [DONE], and closes the connection in good order, as a proxy does
# whose upstream has gone. `cn -p` prints the half answer, says nothing of it, and exits with 0.
# Other agents (pi, Qwen Code) look for the finish_reason, and ask again.
#
# Seen with Node 20: "All is" and exit code 0.
set -euo pipefail
dir=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @continuedev/cli@1.5.47 >/dev/null
cat >server.mjs <<'JS'
import http from "node:http";
http.createServer((req, res) => {
  req.resume().on("end", () => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    for (const content of ["All", " is"]) {
      const choices = [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }];
      res.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`);
    }
    res.end();
  });
}).listen(0, "127.0.0.1", function () { console.log(this.address().port); });
JS
node server.mjs >port & server=$!
until [ -s port ]; do sleep 0.1; done
mkdir home
cat >config.yaml <<YAML
name: c
version: 1.0.0
schema: v1
models:
  - {name: m, provider: openai, model: m, apiBase: "http://127.0.0.1:$(cat port)/v1", apiKey: x, roles: [chat]}
YAML
code=0
out=$(HOME=$dir/home CONTINUE_TELEMETRY_ENABLED=0 CONTINUE_CLI_ENABLE_TELEMETRY=0 timeout 120 \
  node node_modules/@continuedev/cli/dist/cn.js --config config.yaml -p 'How is it?' </dev/null 2>/dev/null) || code=$?
printf '%s\nexit code %s\n' "$out" "$code"
[ "$code" = 0 ] && [ "$out" = 'All is' ]
echo 'as described'
