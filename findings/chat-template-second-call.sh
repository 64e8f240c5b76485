#!/usr/bin/env bash
# Chat templates of GigaChat 3 and gpt-oss in llama.cpp's sources (node-llama-cpp 3.22.1), rendered by @huggingface/jinja
# 0.5.11: of two calls in one message the second is not in the prompt.
#
# A server with such a template takes a history in which an agent ran both, and shows the model two results behind
# one call.
#
# Seen with Node 20.20: GigaChat3-10B-A1.8B 1 of 2, openai-gpt-oss-120b 1 of 2, Qwen-Qwen3-0.6B 2 of 2.
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

const read = (id, path) => ({ id, type: 'function', function: { name: 'read', arguments: { path } } })
const messages = [{ role: 'user', content: 'go' },
  { role: 'assistant', content: '', tool_calls: [read('call00001', 'first.md'), read('call00002', 'second.md')] }]
const tools = [{ type: 'function', function: { name: 'read', description: 'read', parameters: { type: 'object', properties: {} } } }]
for (const name of ['GigaChat3-10B-A1.8B', 'openai-gpt-oss-120b', 'Qwen-Qwen3-0.6B']) {
  const template = new Template(fs.readFileSync(`models/templates/${name}.jinja`, 'utf8'))
  const text = template.render({ messages, tools, bos_token: '', eos_token: '', add_generation_prompt: false })
  console.log(name, ['first.md', 'second.md'].filter((path) => text.includes(path)).length, 'of 2')
}
JS
out=$(node show.mjs)
printf '%s\n' "$out"
[ "$out" = 'GigaChat3-10B-A1.8B 1 of 2
openai-gpt-oss-120b 1 of 2
Qwen-Qwen3-0.6B 2 of 2' ]
echo 'as described'
