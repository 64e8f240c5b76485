#!/usr/bin/env bash
# npm just-bash 3.4.2, a shell for agents: set -e ends what it does not end in bash.
#
# Bash does not look at failures inside of a condition, be it in a function or a group in front of || or &&, and a
# command substitution does not inherit set -e. Here the first failure inside ends the script. A script with
# `check || repair`, check being a function, ends in silence with code 1 where bash goes on.
#
# Seen with Node 20.20 and bash 5.2: four scripts that print and end with 0 in bash, and print nothing here.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts just-bash@3.4.2 >/dev/null
cat >main.mjs <<'JS'
import { execFileSync } from "node:child_process";
import { Bash } from "just-bash";
for (const script of [
  "set -e; f() { false; echo in; }; f || echo or; echo end",
  "set -e; f() { false; echo in; }; f && echo and; echo end",
  "set -e; { false; echo in; } || echo or; echo end",
  "set -e; x=$(false; echo in); echo $x; echo end",
  "set -e; f() { false; echo in; }; if f; then echo then; fi; echo end",
]) {
  const here = await new Bash().exec(script);
  console.log(script, JSON.stringify(execFileSync("bash", ["-c", script], { encoding: "utf8" })), JSON.stringify(here.stdout), here.exitCode);
}
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = 'set -e; f() { false; echo in; }; f || echo or; echo end "in\nend\n" "" 1
set -e; f() { false; echo in; }; f && echo and; echo end "in\nand\nend\n" "" 1
set -e; { false; echo in; } || echo or; echo end "in\nend\n" "" 1
set -e; x=$(false; echo in); echo $x; echo end "in\nend\n" "" 1
set -e; f() { false; echo in; }; if f; then echo then; fi; echo end "in\nthen\nend\n" "in\nthen\nend\n" 0' ]
echo 'as described'
