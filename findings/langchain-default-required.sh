#!/usr/bin/env bash
# npm @langchain/core 1.4.0 with zod 4.6.7: an argument of a tool that has a default is a required one.
#
# The schema that the model gets is that of zod's output, in which a default stands always, and not that of its
# input. The tool itself takes a call without the argument. The model must make up a value, and a server that
# checks or generates by schema refuses a call without it. Zod 3's schema does not require it.
#
# Seen with Node 20: required path and limit of zod 4, path of zod/v3; the call without limit runs with 100.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @langchain/core@1.4.0 zod@4.6.7 >/dev/null
cat >main.mjs <<'JS'
import { tool } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import * as four from "zod";
import * as three from "zod/v3";
for (const { z } of [four, three]) {
  const schema = z.object({ path: z.string(), limit: z.number().default(100) });
  const read = tool(async (input) => JSON.stringify(input), { name: "read", description: "Read.", schema });
  const { required } = convertToOpenAITool(read).function.parameters;
  console.log(required.join(" "), await read.invoke({ path: "a.md" }));
}
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = 'path limit {"path":"a.md","limit":100}
path {"path":"a.md","limit":100}' ]
echo 'as described'
