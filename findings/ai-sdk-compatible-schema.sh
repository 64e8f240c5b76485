#!/usr/bin/env bash
# npm ai 7.0.173 with @ai-sdk/openai-compatible 3.0.92: the schema of a structured output is in no part of the request.
#
# Without supportsStructuredOutputs, which is off, the provider asks for {"type": "json_object"}, and warns that it
# leaves the schema out. It is left out of the messages as well: the model is told neither the names nor that JSON is
# wanted, and its reply is then checked against the schema. vLLM and llama.cpp can generate by schema.
#
# Seen with Node 20: "capital" in the schema alone; response_format and messages without it.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts ai@7.0.173 @ai-sdk/openai-compatible@3.0.92 zod@4.6.7 >/dev/null
cat >main.mjs <<'JS'
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, Output } from "ai";
import { z } from "zod";
globalThis.AI_SDK_LOG_WARNINGS = false;
const schema = z.object({ capital: z.string().describe("of the country") });
for (const supportsStructuredOutputs of [undefined, true]) {
  const fetch = async (url, { body }) => {
    const { response_format, messages } = JSON.parse(body);
    console.log(response_format.type, JSON.stringify(messages), body.includes("capital"));
    return Response.json({ id: "c", object: "chat.completion", created: 1, model: "m", choices: [
      { index: 0, message: { role: "assistant", content: '{"capital":"Rome"}' }, finish_reason: "stop" }] });
  };
  const provider = createOpenAICompatible({ name: "x", baseURL: "http://127.0.0.1/v1", fetch, supportsStructuredOutputs });
  await generateText({ model: provider("m"), prompt: "Italy?", output: Output.object({ schema }) });
}
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = 'json_object [{"role":"user","content":"Italy?"}] false
json_schema [{"role":"user","content":"Italy?"}] true' ]
echo 'as described'
