#!/usr/bin/env bash
# npm @ai-sdk-tool/parser 4.1.26, qwen3CoderProtocol and yamlXmlProtocol: a text in a call is another text.
#
# Qwen3-Coder writes a text bare between <parameter=…> and </parameter>, with one line break on each side. The parser
# cuts all white space, so that the first line of a file loses its indentation and the file its last line break, and
# decodes entities: a page that shows &amp; gets &. In the YAML form an argument that the schema says is a text is a
# number if it looks like one: the code 007 is 7.
#
# Seen with Node 20.20: "- &" of "  - &amp;" with a line break, and 7 of 007.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps @ai-sdk-tool/parser@4.1.26 ai@7.0.173 zod@4.6.7 >/dev/null
cat >main.mjs <<'JS'
import { qwen3CoderProtocol, yamlXmlProtocol } from "@ai-sdk-tool/parser";
const inputSchema = { type: "object", properties: { text: { type: "string" } } };
const tools = [{ type: "function", name: "write", inputSchema }];
for (const [protocol, text] of [
  [qwen3CoderProtocol(), "<tool_call>\n<function=write>\n<parameter=text>\n  - &amp;\n\n</parameter>\n</function>\n</tool_call>"],
  [yamlXmlProtocol(), "<write>\ntext: 007\n</write>"],
]) {
  for (const part of protocol.parseGeneratedText({ text, tools, options: {} })) console.log(part.toolName, part.input);
}
JS
out=$(node main.mjs 2>/dev/null)
printf '%s\n' "$out"
[ "$out" = 'write {"text":"- &"}
write {"text":7}' ]
echo 'as described'
