// client.mjs MESSAGE - ask MODEL at BASE_URL through the official SDK, streamed, with an exec tool that it runs itself,
// and print as JSON what came: {text, reasoning, commands, results, finishes, usage}.
// Run it with the folder of its packages as working directory: node --input-type=module - MESSAGE < client.mjs
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.BASE_URL, apiKey: "none", maxRetries: 0 });
const commands = [];
const exec = {
  type: "function",
  function: {
    name: "exec",
    description: "Run a shell command.",
    parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
    parse: JSON.parse,
    function: ({ command }) => {
      commands.push(command);
      return `ran ${command}`;
    },
  },
};

const runner = client.chat.completions.runTools({
  model: process.env.MODEL ?? "gpt-oss",
  stream: true,
  stream_options: { include_usage: true },
  tools: [exec],
  messages: [{ role: "user", content: process.argv[2] }],
});
let reasoning = "";
runner.on("chunk", (chunk) => {
  reasoning += chunk.choices[0]?.delta?.reasoning_content ?? "";
});
const results = [];
runner.on("functionToolCallResult", (result) => results.push(result));

const text = await runner.finalContent();
const finishes = runner.allChatCompletions().map((completion) => completion.choices[0].finish_reason);
const usage = await runner.totalUsage();
console.log(JSON.stringify({ text, reasoning, commands, results, finishes, usage }));
