#!/usr/bin/env bash
# npm parse-prometheus-text-format 1.1.1: all histograms of one name become one, without labels, sum and count.
#
# A histogram has a series for each set of labels, as a duration for each model or route. The package asks for the labels
# of a bucket by "le" alone: as soon as there is another label the buckets of all series overwrite each other, and
# _sum and _count are left out. A summary is read in the same way. Nothing is said of it.
#
# Seen with Node 20.20: {"buckets":{"1":"5","+Inf":"6"}} of two series, with sums and counts.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts parse-prometheus-text-format@1.1.1 >/dev/null
cat >main.mjs <<'JS'
import parse from "parse-prometheus-text-format";
const series = (labels, ...[one, all, sum]) => `wait_bucket{${labels}le="1"} ${one}\nwait_bucket{${labels}le="+Inf"} ${all}\n` +
  `wait_sum${labels && `{${labels}}`} ${sum}\nwait_count${labels && `{${labels}}`} ${all}\n`;
for (const text of [series("", 1, 2, 3), series('model="a",', 1, 2, 3) + series('model="b",', 5, 6, 7)]) {
  console.log(JSON.stringify(parse(`# TYPE wait histogram\n${text}`)[0].metrics));
}
JS
out=$(node main.mjs 2>/dev/null)
printf '%s\n' "$out"
[ "$out" = '[{"buckets":{"1":"1","+Inf":"2"},"count":"2","sum":"3"}]
[{"buckets":{"1":"5","+Inf":"6"}}]' ]
echo 'as described'
