#!/usr/bin/env bash
# github.com/ollama/ollama v0.17.4: most of what a tool's schema says never reaches the model.
#
# api.ToolProperty has fields for type, items, description, enum, anyOf and properties. What it has none for is
# dropped when the request is read: const, $ref, oneOf, default, minimum, pattern, and what an object within
# requires. The template shows such an argument as one that may be anything. A schema that is true is refused:
# the request with it is a 400, whatever the other tools are.
#
# Seen with Go 1.26.8: {} of const, $ref and oneOf, no required within, and an error for true.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.24\n\nrequire github.com/ollama/ollama v0.17.4\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"

	"github.com/ollama/ollama/api"
)

func main() {
	for _, schema := range []string{
		`{"const":"x"}`, `{"$ref":"#/$defs/unit"}`, `{"oneOf":[{"type":"string"}]}`,
		`{"type":"integer","minimum":1,"default":3}`,
		`{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}`, `true`,
	} {
		var tool api.Tool
		err := json.Unmarshal([]byte(`{"type":"function","function":{"name":"f","parameters":`+
			`{"type":"object","properties":{"a":`+schema+`}}}}`), &tool)
		if err != nil {
			fmt.Println("error")
			continue
		}
		out, err := json.Marshal(tool.Function.Parameters.Properties)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(out))
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = '{"a":{}}
{"a":{}}
{"a":{}}
{"a":{"type":"integer"}}
{"a":{"type":"object","properties":{"b":{"type":"string"}}}}
error' ]
echo 'as described'
