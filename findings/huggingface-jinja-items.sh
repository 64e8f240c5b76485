#!/usr/bin/env bash
# npm @huggingface/jinja 0.5.11: a parameter named items hides the method of that name.
#
# Jinja's dot looks for an attribute first, so that x.items() goes through a mapping whatever its keys are.
# This engine looks for the key first, and calls its value. The template that comes with gpt-oss writes the
# parameters of each tool with properties.items(): a tool with a parameter `items`, as lists of tasks have,
# cannot be shown to the model.
#
# Seen with Node 20: "Cannot call something that is not a function: got ObjectValue" for items, "entries;" for
# entries.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @huggingface/jinja@0.5.11 >/dev/null
cat >main.mjs <<'JS'
import { Template } from "@huggingface/jinja";
const template = new Template("{% for name, schema in properties.items() %}{{ name }};{% endfor %}");
for (const name of ["entries", "items"]) {
  try {
    console.log(template.render({ properties: { [name]: { type: "array" } } }));
  } catch (e) {
    console.log(e.message);
  }
}
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = 'entries;
Cannot call something that is not a function: got ObjectValue' ]
echo 'as described'
