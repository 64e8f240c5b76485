#!/usr/bin/env bash
# github.com/google/jsonschema-go v0.4.3, with which the MCP SDK for Go checks arguments: a price is no multiple of
# a cent.
#
# {"multipleOf": 0.01} refuses 19.99 and {"multipleOf": 0.1} refuses 0.3: the library divides floating-point numbers
# and wants no rest. By the numbers that stand there both are multiples, and santhosh-tekuri/jsonschema v6.0.3, which
# counts in fractions, takes them. A server built on the SDK so refuses a right call of a model.
#
# Seen with Go 1.26.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'MOD'
module finding

go 1.25

require (
	github.com/google/jsonschema-go v0.4.3
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
)
MOD
cat >main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
)

func check(schema, value string) error {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		return err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		return err
	}
	fmt.Printf("%s %s: google %t", schema, value, resolved.Validate(v) == nil)

	doc, err := santhosh.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		return err
	}
	c := santhosh.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		return err
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		return err
	}
	exact, err := santhosh.UnmarshalJSON(strings.NewReader(value))
	if err != nil {
		return err
	}
	fmt.Printf(", santhosh %t\n", compiled.Validate(exact) == nil)
	return nil
}

func main() {
	for _, c := range [][2]string{{`{"multipleOf": 0.01}`, "19.99"}, {`{"multipleOf": 0.1}`, "0.3"}, {`{"multipleOf": 0.5}`, "1.5"}} {
		if err := check(c[0], c[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = '{"multipleOf": 0.01} 19.99: google false, santhosh true
{"multipleOf": 0.1} 0.3: google false, santhosh true
{"multipleOf": 0.5} 1.5: google true, santhosh true' ]
echo 'as described'
