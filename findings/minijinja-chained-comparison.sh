#!/usr/bin/env bash
# npm minijinja-js 2.11.0, the Rust engine minijinja in WebAssembly: a chained comparison compares a truth value.
#
# In Jinja 1 < 3 < 2 asks for 1 < 3 and 3 < 2, as in Python. This engine compares true with 2, true being 1, and says
# nothing: a template that writes a hint only while 0 < count < limit writes it always where the limit is above 1, and a
# falling chain never holds. Its compatibility with Python, switched on here, does not change it.
#
# Seen with Node 20.20; Jinja2 3.1.6 gives False, True and no.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts minijinja-js@2.11.0 >/dev/null
cat >main.cjs <<'JS'
const { Environment } = require("./node_modules/minijinja-js/dist/node/minijinja_js.js");
const engine = new Environment();
engine.enablePyCompat();
for (const template of ["{{ 1 < 3 < 2 }}", "{{ 3 > 2 > 1 }}", "{{ 'yes' if 0 < count < 5 else 'no' }}"]) {
  console.log(template, engine.renderStr(template, { count: 9 }));
}
JS
out=$(node main.cjs)
printf '%s\n' "$out"
[ "$out" = "{{ 1 < 3 < 2 }} true
{{ 3 > 2 > 1 }} false
{{ 'yes' if 0 < count < 5 else 'no' }} yes" ]
echo 'as described'
