// chat.mjs FILE NAME - llama.cpp's chat layer behind HTTP: its templates, its parsers and its grammar engine, in the build
// of @fugood/llama.node. What the model says comes from the test at $MODEL_SCRIPT; a grammar of that one literal makes the
// weightless model say it, which reads none of the prompt: that would take a second. It prints its URL. It has no streams,
// and few of llama-server's pages. Of a reply that the parser refuses the layer tells nothing, so that one without
// anything to show is taken for refused.
import http from 'node:http'
import { createRequire } from 'node:module'

const { loadModel } = createRequire(process.cwd() + '/')('@fugood/llama.node')
const script = process.env.MODEL_SCRIPT
fetch(script + '/alive').then((r) => r.text(), () => {}).then(() => process.exit(0)) // when the test has ended

const [file, name] = process.argv.slice(2)
const load = () => loadModel({ model: file, n_ctx: 8192, n_threads: 1, n_gpu_layers: 0, use_mmap: false })
let context = await load()
const parallel = context.getModelInfo().chatTemplates.jinja.defaultCaps.parallelToolCalls // as llama-server does

const prepare = ({ messages, tools, reasoning_effort, chat_template_kwargs }) => context.getFormattedChat(messages, undefined, {
  jinja: true, tools, tool_choice: 'auto', parallel_tool_calls: parallel, reasoning_format: 'auto',
  chat_template_kwargs,
  enable_thinking: reasoning_effort !== 'none' && (chat_template_kwargs?.enable_thinking ?? chat_template_kwargs?.thinking),
})

async function say(prompt) {
  const next = await fetch(script + '/next', { method: 'POST', body: JSON.stringify({ Text: prompt }) })
  return (await next.text()).replace(/<\|(return|call|endoftext)\|>$/, '') // the grammar ends there, so the model does
}

async function complete(request) {
  const { prompt, chat_format, chat_parser, generation_prompt, preserved_tokens } = await prepare(request)
  const said = await say(prompt)
  const options = {
    prompt: '.', chat_format, chat_parser, generation_prompt, preserved_tokens, reasoning_format: 'auto', temperature: 0,
    n_predict: request.max_tokens, grammar: 'root ::= ' + (said ? JSON.stringify(said) : '""'),
  }
  let reply
  try {
    reply = await context.completion(options)
  } catch (error) {
    if (error.message !== 'Another completion is in progress') throw error
    context = await load()
    reply = await context.completion(options)
  }
  const message = { role: 'assistant', content: reply.content ?? '' }
  if (reply.reasoning_content) message.reasoning_content = reply.reasoning_content
  if (reply.tool_calls) message.tool_calls = reply.tool_calls
  const finish_reason = reply.stopped_limited ? 'length' : reply.tool_calls ? 'tool_calls' : 'stop'
  if (said && finish_reason === 'stop' && !message.content && !message.reasoning_content) {
    throw Error('The model produced output that does not match the expected peg-native format')
  }
  return { choices: [{ index: 0, message, finish_reason }] }
}

// One at a time, as with --parallel 1. LlamaContext.cpp (1.7.15) hears of an end only when it began to listen before the
// completion ended, and of no error: its context then refuses all that follows, and another one takes its place.
let last = Promise.resolve()
const chat = (request) => (last = last.catch(() => {}).then(() => complete(request)))

const pages = {
  '/v1/models': () => ({ object: 'list', data: [{ id: name, object: 'model', owned_by: 'llamacpp' }] }),
  '/apply-template': async (request) => ({ prompt: (await prepare(request)).prompt }),
  '/v1/completions': async ({ prompt }) => ({ object: 'text_completion', choices: [{ index: 0, text: await say(prompt), finish_reason: 'stop' }] }),
}

http.createServer(async (request, response) => {
  let body = ''
  for await (const part of request) body += part
  const page = pages[request.url] ?? chat
  const [status, reply] = await Promise.resolve(body && JSON.parse(body)).then(page).then((r) => [200, r],
    (e) => [500, { error: { code: 500, message: e.message, type: 'server_error' } }])
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(reply))
}).listen(0, '127.0.0.1', function () { console.log(`http://127.0.0.1:${this.address().port}`) })
