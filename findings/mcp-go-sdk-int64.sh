#!/usr/bin/env bash
# github.com/modelcontextprotocol/go-sdk v1.8.0: an argument of type int64 loses digits.
#
# AddTool makes the schema from a Go type, and hands the handler a value of that type. In between, the arguments are a
# map[string]any and its JSON, to put defaults in. So a tool whose parameter is an int64 is called with another
# number beyond 2^53: the next user's id, and a result that says so.
#
# Seen with Go 1.26.8: "type":"integer" in the schema, 1099511627776000129 in the call, 1099511627776000100 in the
# handler.
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

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type Input struct {
	User int64 `json:"user"`
}

func main() {
	ctx := context.Background()
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "ban", Description: "Ban."},
		func(_ context.Context, _ *mcp.CallToolRequest, in Input) (*mcp.CallToolResult, any, error) {
			fmt.Println("handler", in.User)
			return nil, nil, nil
		})
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, there, nil); err != nil {
		panic(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		panic(err)
	}
	for _, arguments := range []string{`{"user":1099511627776}`, `{"user":1099511627776000129}`} {
		fmt.Println("call", arguments)
		params := &mcp.CallToolParams{Name: "ban", Arguments: json.RawMessage(arguments)}
		if _, err := session.CallTool(ctx, params); err != nil {
			panic(err)
		}
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = 'call {"user":1099511627776}
handler 1099511627776
call {"user":1099511627776000129}
handler 1099511627776000100' ]
echo 'as described'
