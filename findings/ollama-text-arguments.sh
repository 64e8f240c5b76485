#!/usr/bin/env bash
# github.com/ollama/ollama v0.17.4: two parsers take a text for what it is not.
#
# LFM2 writes its calls as Python, where "a\nb" has a line break: the argument of the call has a backslash and an n. A
# file that the model writes is one line. In the calls of Qwen3-Coder a text stands bare, and the schema says what is
# one: a text null is no text all the same, and where an integer may stand as well, 007 is 7.
#
# Seen with Go 1.26.8: {"text":"a\\nb"}; {"text":null} and {"code":7}.
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
	"github.com/ollama/ollama/model/parsers"
)

func main() {
	var tools []api.Tool
	err := json.Unmarshal([]byte(`[{"type":"function","function":{"name":"put","parameters":{"type":"object","properties":`+
		`{"text":{"type":"string"},"code":{"type":["string","integer"]}}}}}]`), &tools)
	if err != nil {
		panic(err)
	}
	const bare = "<tool_call>\n<function=put>\n<parameter=%s>\n%s\n</parameter>\n</function>\n</tool_call>"
	for _, reply := range [][2]string{
		{"lfm2", `<|tool_call_start|>[put(text="a\nb")]<|tool_call_end|>`},
		{"qwen3-coder", fmt.Sprintf(bare, "text", "null")},
		{"qwen3-coder", fmt.Sprintf(bare, "code", "007")},
	} {
		parser := parsers.ParserForName(reply[0])
		parser.Init(tools, nil, nil)
		_, _, calls, err := parser.Add(reply[1], true)
		if err != nil {
			panic(err)
		}
		arguments, err := json.Marshal(calls[0].Function.Arguments)
		if err != nil {
			panic(err)
		}
		fmt.Println(reply[0], string(arguments))
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = 'lfm2 {"text":"a\\nb"}
qwen3-coder {"text":null}
qwen3-coder {"code":7}' ]
echo 'as described'
