#!/usr/bin/env bash
# npm @fugood/llama.node 1.7.15 (llama.cpp b10257): a grammar that lets the model write only what the schema refuses.
#
# The reply to a schema with allOf is read as an object, if the parts are no enum: for {"allOf": [{"$ref": …}]}, the form
# in which Pydantic 1 writes a field with a description, the model can write {} alone, though a string is wanted. Of
# an array with prefixItems and items the first is forgotten: all must be of the type of items.
#
# Seen with Node 20: "{" space space "}" of a string, integers alone of a string with integers behind it.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts --omit=optional \
  @fugood/llama.node@1.7.15 @fugood/node-llama-linux-x64@1.7.15 >/dev/null
cat >main.js <<'JS'
const fs = require("node:fs");
const { loadModel } = require("@fugood/llama.node");
// A model of zeros without words is enough for templates.
const u32 = (n) => { const b = Buffer.alloc(4); b.writeUInt32LE(n); return b; };
const u64 = (n) => { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(n)); return b; };
const f32 = (n) => { const b = Buffer.alloc(4); b.writeFloatLE(n); return b; };
const text = (s) => Buffer.concat([u64(Buffer.byteLength(s)), Buffer.from(s)]);
const template = `{% for m in messages %}{{ m.content }}{% endfor %}`;
const values = { "general.architecture": "llama", "tokenizer.ggml.model": "none", "llama.vocab_size": 32,
  "llama.context_length": 64, "llama.embedding_length": 32, "llama.block_count": 1, "llama.feed_forward_length": 32,
  "llama.attention.head_count": 1, "tokenizer.chat_template": template };
const tensors = { "token_embd.weight": [32, 32], "output_norm.weight": [32] };
for (const name of ["attn_norm", "ffn_norm"]) tensors[`blk.0.${name}.weight`] = [32];
for (const name of ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]) {
  tensors[`blk.0.${name}.weight`] = [32, 32];
}
let at = 0;
const head = Buffer.concat([Buffer.from("GGUF"), u32(3), u64(Object.keys(tensors).length), u64(Object.keys(values).length + 1),
  ...Object.entries(values).map(([k, v]) => Buffer.concat([text(k), ...(typeof v === "string" ? [u32(8), text(v)] : [u32(4), u32(v)])])),
  text("llama.attention.layer_norm_rms_epsilon"), u32(6), f32(1e-5),
  ...Object.entries(tensors).map(([k, d]) => {
    const from = at;
    at += 4 * d.reduce((a, b) => a * b);
    return Buffer.concat([text(k), u32(d.length), ...d.map(u64), u32(0), u64(from)]);
  })]);
fs.writeFileSync("zero.gguf", Buffer.concat([head, Buffer.alloc(-head.length & 31), Buffer.alloc(at)]));
const schemas = [{ allOf: [{ $ref: "#/$defs/name" }], $defs: { name: { type: "string" } } },
  { type: "array", prefixItems: [{ type: "string" }], items: { type: "integer" } }];
const rules = /^response-format-schema /;
(async () => {
  const model = await loadModel({ model: "zero.gguf", n_ctx: 64, n_threads: 1, n_gpu_layers: 0, use_mmap: false });
  for (const schema of schemas) {
    const { grammar } = await model.getFormattedChat([{ role: "user", content: "Hi" }], undefined,
      { jinja: true, response_format: { type: "json_schema", json_schema: { schema } } });
    console.log("RESULT", JSON.stringify(schema));
    for (const rule of grammar.split("\n").filter((line) => rules.test(line))) console.log("RESULT  ", rule);
  }
  process.exit(0);
})();
JS
out=$(node main.js 2>/dev/null | sed -n 's/^RESULT //p')
printf '%s\n' "$out"
[ "$out" = '{"allOf":[{"$ref":"#/$defs/name"}],"$defs":{"name":{"type":"string"}}}
  response-format-schema ::= "{" space  space "}"
{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"integer"}}
  response-format-schema ::= "[" space (integer ("," space integer)*)? space "]"' ]
echo 'as described'
