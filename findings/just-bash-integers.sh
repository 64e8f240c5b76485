#!/usr/bin/env bash
# npm just-bash 3.4.2, a shell for agents: integers have 53 bits, and 32 where their bits count.
#
# Bash computes with 64 bits, as POSIX asks for at least those of a long. This shell takes JavaScript's numbers: ids of
# chat services and times in nanoseconds lose their last digits, two that differ are equal for test, and a shift or a
# mask cuts off all above 32 bits. 1<<40, the bytes of a tebibyte, are 256.
#
# Seen with Node 20.20 and bash 5.2.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts just-bash@3.4.2 >/dev/null
cat >main.mjs <<'JS'
import { execFileSync } from "node:child_process";
import { Bash } from "just-bash";
for (const script of [
  "echo $((1<<40)) $((5000000000 & 4294967296))",
  "t=1730419200123456789; echo $((t % 1000000000))",
  "[ 9007199254740993 -eq 9007199254740992 ] && echo equal || echo other",
  'printf "%d\\n" 1152921504606846977',
]) {
  const [bash, here] = [execFileSync("bash", ["-c", script], { encoding: "utf8" }), (await new Bash().exec(script)).stdout];
  process.stdout.write(`${script}\n  bash ${bash}  here ${here}`);
}
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = 'echo $((1<<40)) $((5000000000 & 4294967296))
  bash 1099511627776 4294967296
  here 256 0
t=1730419200123456789; echo $((t % 1000000000))
  bash 123456789
  here 123456768
[ 9007199254740993 -eq 9007199254740992 ] && echo equal || echo other
  bash other
  here equal
printf "%d\n" 1152921504606846977
  bash 1152921504606846977
  here 1152921504606847000' ]
echo 'as described'
