#!/usr/bin/env bash
# npm ajv 8.20.0: what every object of JavaScript inherits counts as its property.
#
# An optional property named constructor, toString or valueOf is looked at in an object that has none: the
# inherited function is no string, so {} is refused. Where the property is required, {} is taken without it. A
# tool with an argument `constructor` can thus only be called with it, and lacks it unseen. The option
# ownProperties changes both.
#
# Seen with Node 20: optional: data/constructor must be string; required: taken.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts ajv@8.20.0 >/dev/null
cat >main.js <<'JS'
const Ajv = require("ajv");
const ajv = new Ajv();
const type = "object";
for (const [what, schema] of Object.entries({
  optional: { type, properties: { constructor: { type: "string" } } },
  required: { type, required: ["constructor"] },
})) {
  console.log(`${what}: ${ajv.validate(schema, {}) ? "taken" : ajv.errorsText()}`);
}
JS
out=$(node main.js)
printf '%s\n' "$out"
[ "$out" = 'optional: data/constructor must be string
required: taken' ]
echo 'as described'
