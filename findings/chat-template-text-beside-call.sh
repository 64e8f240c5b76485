#!/usr/bin/env bash
# Chat templates of Llama 3.3, MiniMax-M1 and Solar Open in llama.cpp's sources (node-llama-cpp 3.22.1), rendered by
# @huggingface/jinja 0.5.11: what the model says beside a call is not in the next prompt.
#
# OpenAI's API has content and tool_calls in one message. A plan that the model has told the user, "first a.md, then
# b.md", is in the agent's history and on the user's screen, and the model that goes on does not know of it.
#
# Seen with Node 20.20: Llama-3.3-70B, MiniMax-M1 and Solar-Open-100B lost, gpt-oss-120b and Qwen3-0.6B kept.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund @huggingface/jinja@0.5.11
npm pack --silent node-llama-cpp@3.22.1 >/dev/null
tar xzf node-llama-cpp-3.22.1.tgz package/llama/gitRelease.bundle
git clone --quiet --bare package/llama/gitRelease.bundle llama.git
git --git-dir llama.git archive HEAD models/templates | tar x
cat >show.mjs <<'JS'
import fs from 'node:fs'
import { Template } from '@huggingface/jinja'

const call = { id: 'call00001', type: 'function', function: { name: 'read', arguments: { path: 'a.md' } } }
const messages = [{ role: 'user', content: 'go' }, { role: 'assistant', content: 'First a, then b.', tool_calls: [call] },
  { role: 'tool', tool_call_id: 'call00001', name: 'read', content: 'text of a' }]
const tools = [{ type: 'function', function: { name: 'read', description: 'read', parameters: { type: 'object',
  properties: { path: { type: 'string' } } } } }]
for (const name of ['meta-llama-Llama-3.3-70B-Instruct', 'MiniMax-M1', 'upstage-Solar-Open-100B', 'openai-gpt-oss-120b',
  'Qwen-Qwen3-0.6B']) {
  const template = new Template(fs.readFileSync(`models/templates/${name}.jinja`, 'utf8'))
  const text = template.render({ messages, tools, bos_token: '', eos_token: '', add_generation_prompt: true })
  console.log(name, ['First a, then b.', 'a.md', 'text of a'].map((part) => text.includes(part)).join(' '))
}
JS
out=$(node show.mjs)
printf '%s\n' "$out"
[ "$out" = 'meta-llama-Llama-3.3-70B-Instruct false true true
MiniMax-M1 false true true
upstage-Solar-Open-100B false true true
openai-gpt-oss-120b true true true
Qwen-Qwen3-0.6B true true true' ]
echo 'as described'
