#!/usr/bin/env bash
# Draws the pictures of README: the first half minute of the demo in a terminal, as docs/demo.svg, and the console
# with its turns, as docs/console.png. It needs bin/gpt-oss-executor, script (util-linux) and chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
mkfifo "$work/keys"
trap 'rm -r "$work"' EXIT

TERM=xterm script -qfec 'stty cols 110; bin/gpt-oss-executor demo' "$work/said" <"$work/keys" >/dev/null &
exec 3>"$work/keys"
for _ in {1..300}; do
  console=$(sed -n 's/\r$//; s/^These turns are in the console: //p' "$work/said" 2>/dev/null || true)
  [ -n "$console" ] && break
  sleep 0.2 # until the demo has said it
done
chromium --headless --no-sandbox --hide-scrollbars --force-color-profile=srgb --window-size=1180,720 \
  --timeout=8000 --screenshot="$work/console.png" "$console" 2>/dev/null
echo >&3
exec 3>&-
wait
cp "$work/console.png" docs/console.png

# A line appears after the other, as in the terminal; a viewer without animation shows all of them.
sed 's/\r$//; 1{/^Script started/d}' "$work/said" | awk '
  BEGIN { rows[n++] = "<text x=\"14\" y=\"30\"><tspan class=\"f\">$</tspan> make demo</text>"; css["1"] = "b"; css["2"] = "f"; css["31"] = "r"; css["32"] = "g" }
  function plain(s) { gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); gsub(/>/, "\\&gt;", s); return s }
  /^$/ && n == 1 { next }
  n < 34 {
    line = $0; ink = ""
    if (match(line, /\033\[[0-9]+m/)) ink = css[substr(line, RSTART + 2, RLENGTH - 3)]
    lead = ink == "" ? "" : substr(line, 1, RSTART - 1)
    gsub(/\033\[[0-9]*m/, "", line)
    if (length(line) > 108) line = substr(line, 1, 107) "…"
    text = plain(substr(line, length(lead) + 1)); lead = plain(lead)
    rows[n++] = sprintf("<text x=\"14\" y=\"%d\" style=\"animation-delay:%.1fs\">%s<tspan class=\"%s\">%s</tspan></text>", 12 + 18 * n, 0.3 * n, lead, ink, text)
  }
  END {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"%d\" role=\"img\" aria-label=\"make demo in a terminal\">\n", 30 + 18 * n
    print "<style>text{font:13px ui-monospace,monospace;fill:#d7dce2;white-space:pre;animation:show .01s both}.b{font-weight:700;fill:#fff}.f{fill:#8b949e}.r{fill:#ff7b72}.g{fill:#56d364}@keyframes show{from{opacity:0}to{opacity:1}}@media(prefers-reduced-motion){text{animation:none}}</style>"
    print "<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>"
    for (i = 0; i < n; i++) print rows[i]
    print "</svg>"
  }' >docs/demo.svg
ls -l docs/console.png docs/demo.svg
