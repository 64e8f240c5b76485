#!/usr/bin/env bash
# npm just-bash 3.4.2, a shell for agents: awk, sed and cut print other texts than POSIX says, without an error.
#
# awk writes 1e20 as 1e+2, since it cuts zeros off the exponent, and compares two texts as numbers. In the replacement of
# sed's s two backslashes are one, so that a pattern is not escaped. cut prints an empty line in place of one without
# the delimiter. Of "${a[*]}" in a here-document the elements are joined with blanks, whatever IFS says.
#
# Seen with Node 20.20; POSIX's words, and bash 5.2 with the tools of Debian 12, in the first column.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts just-bash@3.4.2 >/dev/null
cat >main.mjs <<'JS'
import { Bash } from "just-bash";
for (const [script, right] of [
  ["awk 'BEGIN { print 1e20 * 1.5 / 1.5 }'", "1e+20"],
  [`awk 'BEGIN { print ("10" > "9") }'`, "0"],
  ["echo a.b | sed 's/[.]/\\\\./'", "a\\.b"],
  ["echo plain | cut -d: -f2", "plain"],
  [`a=(x y); IFS=,; cat <<<"\${a[*]}"`, "x,y"],
]) {
  const { stdout, exitCode } = await new Bash().exec(script);
  console.log(JSON.stringify(right), JSON.stringify(stdout.replace(/\n$/, "")), exitCode, script.split(" ")[0]);
}
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = '"1e+20" "1e+2" 0 awk
"0" "1" 0 awk
"a\\.b" "a.b" 0 echo
"plain" "" 0 echo
"x,y" "x y" 0 a=(x' ]
echo 'as described'
