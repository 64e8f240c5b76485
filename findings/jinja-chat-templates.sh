#!/usr/bin/env bash
# @huggingface/jinja 0.5.11: it cannot run three chat templates of public models that llama.cpp runs (node-llama-cpp 3.22.1).
#
# Apriel's asks for the text of an object, MiniCPM5's for the smallest of a list, and Seed-OSS's has a mapping with
# numbers as keys. Jinja has all three. A program in JavaScript that formats or counts a prompt with the model's own
# template stops at these models.
#
# Seen with Node 20.20:
#   Apriel-1.6-15b-Thinker-fixed: Unknown ObjectValue filter: string
#   ByteDance-Seed-OSS: Object keys must be strings: got IntegerValue
#   openbmb-MiniCPM5-1B: Unknown ArrayValue filter: min
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund @huggingface/jinja@0.5.11
npm pack --silent node-llama-cpp@3.22.1 >/dev/null
tar xzf node-llama-cpp-3.22.1.tgz package/llama/gitRelease.bundle
git clone --quiet --bare package/llama/gitRelease.bundle llama.git
git --git-dir llama.git archive HEAD models/templates | tar x
cat >run.mjs <<'JS'
import fs from 'node:fs'
import { Template } from '@huggingface/jinja'

const messages = [{ role: 'user', content: 'go' }, { role: 'assistant', content: '', tool_calls: [
  { id: 'call00001', type: 'function', function: { name: 'read', arguments: { path: 'a.md' } } }] }]
const tools = [{ type: 'function', function: { name: 'read', description: 'read', parameters: { type: 'object', properties: {} } } }]
for (const name of ['Apriel-1.6-15b-Thinker-fixed', 'ByteDance-Seed-OSS', 'openbmb-MiniCPM5-1B', 'Qwen-Qwen3-0.6B']) {
  let result = 'ran'
  try {
    new Template(fs.readFileSync(`models/templates/${name}.jinja`, 'utf8')).render({ messages, tools, bos_token: '', eos_token: '' })
  } catch (e) { result = e.message }
  console.log(name + ':', result)
}
JS
out=$(node run.mjs)
printf '%s\n' "$out"
[ "$out" = 'Apriel-1.6-15b-Thinker-fixed: Unknown ObjectValue filter: string
ByteDance-Seed-OSS: Object keys must be strings: got IntegerValue
openbmb-MiniCPM5-1B: Unknown ArrayValue filter: min
Qwen-Qwen3-0.6B: ran' ]
echo 'as described'
