#!/usr/bin/env bash
# npm @opentelemetry/otlp-transformer 0.301.1 × Go go.opentelemetry.io/proto/otlp v1.11.0: a whole number is an
# integer, whatever it is meant to be, and a large one stops the batch.
#
# gen_ai.request.temperature is a double by the semantic conventions. JavaScript has one type for numbers, and the
# exporter looks at the value: 0.7 is a doubleValue, 1 an intValue, so that one attribute has two types. A number
# such as 1e21 is an intValue too. As JSON it is none that an int64 can hold: the receiver refuses all spans of the
# request.
#
# Seen with Node 20 and Go 1.26.8: doubleValue for 0.7, intValue for 1, and an error for 1e21.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @opentelemetry/otlp-transformer@0.301.1 >/dev/null
cat >main.mjs <<'JS'
import { JsonTraceSerializer } from "@opentelemetry/otlp-transformer";
const resource = { attributes: {}, merge() { return this; } };
for (const number of [0.7, 1, 1e21]) {
  const span = { name: "chat", kind: 2, spanContext: () => ({ traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331", traceFlags: 1 }), startTime: [1, 0], endTime: [2, 0], status: { code: 0 }, links: [], events: [],
    attributes: { "gen_ai.request.temperature": number }, resource, instrumentationScope: { name: "x" } };
  console.log(new TextDecoder().decode(JsonTraceSerializer.serializeRequest([span])));
}
JS
node main.mjs >requests.jsonl
printf 'module finding\n\ngo 1.24\n\nrequire go.opentelemetry.io/proto/otlp v1.11.0\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"bufio"
	"fmt"
	"os"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var request collector.ExportTraceServiceRequest
		if err := protojson.Unmarshal(lines.Bytes(), &request); err != nil {
			fmt.Println("error")
			continue
		}
		fmt.Printf("%T\n", request.ResourceSpans[0].ScopeSpans[0].Spans[0].Attributes[0].Value.Value)
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run . <requests.jsonl)
printf '%s\n' "$out"
[ "$out" = '*v1.AnyValue_DoubleValue
*v1.AnyValue_IntValue
error' ]
echo 'as described'
