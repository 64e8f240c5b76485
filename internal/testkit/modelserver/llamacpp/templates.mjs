// templates.mjs FILE FOLDER OUT - writes to OUT as JSON what each chat template in FOLDER makes of messages of a model that calls tools,
// by llama.cpp's own reader of templates: what stands behind the prompt, without what ends the message.
import fs from 'node:fs'
import { createRequire } from 'node:module'

const { loadModel } = createRequire(process.cwd() + '/')('@fugood/llama.node')
const [file, folder, out] = process.argv.slice(2)
const context = await loadModel({ model: file, n_ctx: 512, n_threads: 1, n_gpu_layers: 0, use_mmap: false })

const text = { type: 'string' }
const task = { type: 'object', properties: { text, done: { type: 'boolean' } } }
const tool = (name, properties) => ({
  type: 'function',
  function: { name, description: name, parameters: { type: 'object', properties, required: Object.keys(properties).slice(0, 1) } },
})
const tools = [tool('read', { path: text, limit: { type: 'integer' } }), tool('write', { path: text, content: text, append: { type: 'boolean' } }),
  tool('todo', { items: { type: 'array', items: task } })]
const read = { name: 'read', arguments: { path: 'notes.md', limit: 5 } }
const messages = {
  one: { calls: [read] },
  said: { calls: [read], content: 'I look.', thought: 'Which file?' },
  text: { calls: [{ name: 'write', arguments: { path: 'a b.txt', content: 'He said "yes" & <b>no</b>\n\tif x < 3: {"a": [1]}\n', append: true } }] },
  nested: { calls: [{ name: 'todo', arguments: { items: [{ text: 'wash', done: false }, { text: "it's", done: true }] } }] },
  two: { calls: [{ name: 'read', arguments: { path: 'a.md' } }, { name: 'read', arguments: { path: 'b.md', limit: 2 } }] },
}

const turns = []
for (const name of fs.readdirSync(folder).filter((f) => f.endsWith('.jinja')).sort()) {
  const template = fs.readFileSync(folder + '/' + name, 'utf8')
  const prompt = async (messages, options) => (await context.getFormattedChat(messages, template, {
    jinja: true, tools, tool_choice: 'auto', parallel_tool_calls: true, reasoning_format: 'auto', enable_thinking: true, ...options,
  })).prompt
  const user = { role: 'user', content: 'go' }
  for (const [id, { calls, content = '', thought = '' }] of Object.entries(messages)) {
    const message = { role: 'assistant', content, tool_calls: calls.map((c, i) => ({ id: 'call0000' + (i + 1), type: 'function',
      function: { name: c.name, arguments: JSON.stringify(c.arguments) } })) }
    if (thought) message.reasoning_content = thought
    let raw = ''
    try {
      const before = await prompt([user])
      const after = await prompt([user, message], { add_generation_prompt: false })
      const plain = await prompt([user, { role: 'assistant', content: '@@@' }], { add_generation_prompt: false })
      let n = 0
      while (n < before.length && before[n] === after[n]) n++ // the prompt may begin a thought that the message has not
      const tag = after.lastIndexOf('<', n - 1)
      if (tag > 0 && after.indexOf('>', tag) >= n) n = tag
      const end = plain.slice(plain.lastIndexOf('@@@') + 3)
      raw = after.slice(n)
      if (end && raw.endsWith(end)) raw = raw.slice(0, -end.length)
    } catch { continue } // a template that refuses it, such as two calls
    turns.push({ template: name.replace(/\.jinja$/, ''), id, tools, calls, content, thought, raw })
  }
}
fs.writeFileSync(out, JSON.stringify(turns))
process.exit(0)
