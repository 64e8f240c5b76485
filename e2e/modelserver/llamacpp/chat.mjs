// chat.mjs MODEL - llama.cpp's chat layer behind HTTP: its templates, its Harmony parser and its grammar engine, in the
// build of @fugood/llama.node. What the model says comes from the test at $MODEL_SCRIPT; a grammar of that one literal
// makes the weightless model say it. It prints its URL. It has no streams, and nothing of llama-server. A reply that
// the parser refuses looks like one without words.
import http from 'node:http'
import { createRequire } from 'node:module'

const { loadModel } = createRequire(process.cwd() + '/')('@fugood/llama.node')
const script = process.env.MODEL_SCRIPT
fetch(script + '/alive').then((r) => r.text(), () => {}).then(() => process.exit(0)) // when the test has ended

const context = await loadModel({ model: process.argv[2], n_ctx: 8192, n_threads: 1, n_gpu_layers: 0, use_mmap: false })

async function answer(request) {
  const { messages, tools } = JSON.parse(request)
  const chat = await context.getFormattedChat(messages, undefined, { jinja: true, tools, tool_choice: 'auto', reasoning_format: 'auto' })
  const next = await fetch(script + '/next', { method: 'POST', body: JSON.stringify({ Text: chat.prompt }) })
  const said = (await next.text()).replace(/<\|(return|call|endoftext)\|>$/, '') // the grammar ends there, so the model does
  const reply = await context.completion({
    prompt: chat.prompt, chat_format: chat.chat_format, chat_parser: chat.chat_parser, generation_prompt: chat.generation_prompt,
    preserved_tokens: chat.preserved_tokens, reasoning_format: 'auto', temperature: 0,
    grammar: 'root ::= ' + (said ? JSON.stringify(said) : '""'),
  })
  const message = { role: 'assistant', content: reply.content ?? '' }
  if (reply.reasoning_content) message.reasoning_content = reply.reasoning_content
  if (reply.tool_calls) message.tool_calls = reply.tool_calls
  return [200, { choices: [{ index: 0, message, finish_reason: reply.tool_calls ? 'tool_calls' : 'stop' }] }]
}

http.createServer(async (request, response) => {
  let body = ''
  for await (const part of request) body += part
  const [status, reply] = await answer(body).catch((e) => [500, { error: { code: 500, message: e.message, type: 'server_error' } }])
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(reply))
}).listen(0, '127.0.0.1', function () { console.log(`http://127.0.0.1:${this.address().port}`) })
