#!/usr/bin/env bash
# npm @huggingface/jinja 0.5.11: strip, lstrip and rstrip do not look at their argument.
#
# Qwen's chat templates cut line breaks around an answer with strip('\n'), lstrip('\n') and rstrip('\n'). Jinja leaves the
# spaces that Python leaves; this engine cuts all white space, and of strip('x') no x. An answer that begins with indented
# code comes back to the model in the next turn without the indent. Equality differs as unseen: '1' == 1 holds,
# and [1] == [1] does not.
#
# Seen with Node 20.20; Jinja2 3.1.6 gives |  a  |, |  a|, |b|, False and True.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @huggingface/jinja@0.5.11 >/dev/null
cat >main.mjs <<'JS'
import { Template } from "@huggingface/jinja";
for (const template of [
  String.raw`|{{ '\n  a  \n'.strip('\n') }}|`, String.raw`|{{ '\n  a'.lstrip('\n') }}|`, "|{{ 'xbx'.strip('x') }}|",
  "{{ '1' == 1 }}", "{{ [1] == [1] }}",
]) console.log(template, new Template(template).render({}));
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = "|{{ '\n  a  \n'.strip('\n') }}| |a|
|{{ '\n  a'.lstrip('\n') }}| |a|
|{{ 'xbx'.strip('x') }}| |xbx|
{{ '1' == 1 }} true
{{ [1] == [1] }} false" ]
echo 'as described'
