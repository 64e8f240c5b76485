#!/usr/bin/env bash
# npm langsmith 0.12.0, @langfuse/openai 5.11.1 and @arizeai/openinference-instrumentation-openai 4.2.7 around openai
# 6.49.0: of a streamed reply with two tool calls they record one call.
#
# A piece of a call says by its index which call it belongs to. LangSmith groups the pieces by the index of the choice,
# OpenInference by their place in the chunk, and Langfuse not at all. The trace shows one call with the arguments of
# both, which is no JSON, where the agent ran two. A reply that is not streamed is recorded well.
#
# Seen with Node 20.20: names looklook, look and looklook, each with the arguments {"path":"a"}{"path":"b"}.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts openai@6.49.0 langsmith@0.12.0 @langfuse/openai@5.11.1 \
  @arizeai/openinference-instrumentation-openai@4.2.7 @opentelemetry/api@1.9.0 @opentelemetry/sdk-trace-base@2.12.1 >/dev/null
cat >main.mjs <<'JS'
import http from "node:http";
import OpenAI from "openai";
import { trace } from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { observeOpenAI } from "@langfuse/openai";
import { wrapOpenAI } from "langsmith/wrappers";
import { OpenAIInstrumentation } from "@arizeai/openinference-instrumentation-openai";

const spans = new InMemorySpanExporter();
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
const server = http.createServer((req, res) => {
  res.writeHead(200, { "content-type": "text/event-stream" });
  const say = (delta, finish_reason = null) => res.write(`data: ${JSON.stringify({ id: "c", created: 1, model: "m",
    object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  ["a", "b"].forEach((path, index) => {
    say({ tool_calls: [{ index, id: `c${index}`, type: "function", function: { name: "look", arguments: "" } }] });
    say({ tool_calls: [{ index, function: { arguments: JSON.stringify({ path }) } }] });
  });
  say({}, "tool_calls");
  req.resume().on("end", () => res.end("data: [DONE]\n\n"));
});
await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
const client = () => new OpenAI({ apiKey: "x", baseURL: `http://127.0.0.1:${server.address().port}/v1` });
async function ask(openai) {
  for await (const _ of await openai.chat.completions.create({ model: "m", messages: [{ role: "user", content: "go" }], stream: true }));
}
const show = (name, calls) => console.log(name, calls.length, calls[0].name, calls[0].arguments);
await new Promise(async (over) => {
  const updateRun = async (_, run) => over(show("langsmith", run.outputs.choices[0].message.tool_calls.map((c) => c.function)));
  await ask(wrapOpenAI(client(), { tracingEnabled: true, client: { createRun: async () => {}, updateRun } }));
});
await ask(observeOpenAI(client()));
const output = spans.getFinishedSpans().at(-1).attributes["langfuse.observation.output"];
show("langfuse", JSON.parse(output).tool_calls.map((c) => c.function));
const instrumentation = new OpenAIInstrumentation();
instrumentation.manuallyInstrument(OpenAI);
await ask(client());
const { attributes } = spans.getFinishedSpans().at(-1);
const calls = [0, 1].map((n) => `llm.output_messages.0.message.tool_calls.${n}.tool_call.function.`).filter((key) => attributes[`${key}name`]);
show("openinference", calls.map((key) => ({ name: attributes[`${key}name`], arguments: attributes[`${key}arguments`] })));
process.exit(0);
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = 'langsmith 1 looklook {"path":"a"}{"path":"b"}
langfuse 1 look {"path":"a"}{"path":"b"}
openinference 1 looklook {"path":"a"}{"path":"b"}' ]
echo 'as described'
