#!/usr/bin/env bash
# github.com/modelcontextprotocol/go-sdk v1.8.0: the schema of a type that encodes itself is that of its insides.
#
# AddTool makes a schema of a Go type. encoding/json writes []byte as base64, json.RawMessage as it is, and a type
# with MarshalText, as netip.Addr, as its text. The schema says list of integers, list of integers and object without
# properties. No argument of the right form is taken, and a tool that returns one fails whenever it is called.
#
# Seen with Go 1.26.8: each result of these three refused by the tool's own schema; time.Time, an exception, taken.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.24\n\nrequire github.com/modelcontextprotocol/go-sdk v1.8.0\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type Output[T any] struct {
	Value T `json:"value"`
}

func try[T any](value T) {
	ctx := context.Background()
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "get", Description: "Get."},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, Output[T], error) {
			return nil, Output[T]{value}, nil
		})
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, there, nil); err != nil {
		panic(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		panic(err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "get"})
	fmt.Printf("%T %s: refused %v\n", value, text, err != nil && strings.Contains(err.Error(), "/properties/value"))
}

func main() {
	try([]byte("hello"))
	try(json.RawMessage(`{"a":1}`))
	try(netip.MustParseAddr("127.0.0.1"))
	try(time.Unix(0, 0).UTC())
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = '[]uint8 "aGVsbG8=": refused true
json.RawMessage {"a":1}: refused true
netip.Addr "127.0.0.1": refused true
time.Time "1970-01-01T00:00:00Z": refused false' ]
echo 'as described'
