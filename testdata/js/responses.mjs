// responses.mjs MESSAGE - ask MODEL at BASE_URL through the official SDK and the Responses API, streamed, with an exec
// tool that it runs itself, and print as JSON what came: {text, reasoning, commands, results, finishes, usage}.
// Run it with the folder of its packages as working directory: node --input-type=module - MESSAGE < responses.mjs
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.BASE_URL, apiKey: "none", maxRetries: 0 });
const exec = {
  type: "function",
  name: "exec",
  description: "Run a shell command.",
  parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
  strict: false,
};

const input = [{ role: "user", content: process.argv[2] }];
const told = { text: "", reasoning: "", commands: [], results: [], finishes: [], usage: { total_tokens: 0 } };
for (let calls = 1; calls > 0; ) {
  const stream = client.responses.stream({ model: process.env.MODEL ?? "gpt-oss", input, tools: [exec], store: false });
  stream.on("response.reasoning_text.delta", (event) => (told.reasoning += event.delta));
  const response = await stream.finalResponse();
  input.push(...response.output);
  const called = response.output.filter((item) => item.type === "function_call");
  for (const call of called) {
    const { command } = JSON.parse(call.arguments);
    told.commands.push(command);
    told.results.push(`ran ${command}`);
    input.push({ type: "function_call_output", call_id: call.call_id, output: `ran ${command}` });
  }
  calls = called.length;
  told.text = response.output_text;
  told.finishes.push(calls > 0 ? "tool_calls" : "stop"); // the Responses API has no other words for these
  told.usage.total_tokens += response.usage.total_tokens;
}
console.log(JSON.stringify(told));
