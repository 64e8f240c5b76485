#!/usr/bin/env bash
# github.com/redis/go-redis/v9 v9.23.0: one Incr may count four times.
#
# A command whose answer does not come within ReadTimeout is sent again, three times by default, whatever command it is.
# Redis or Valkey has carried it out when it was merely slow to answer. A limit of requests that is counted with INCR is
# used up four times as fast while the server is busy, and the caller is told nothing. MaxRetries -1 sends once.
#
# Seen with Go 1.26.8: Incr gives 4 of a new key when the first three answers are late, and no error.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.24\n\nrequire github.com/redis/go-redis/v9 v9.23.0\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// serve answers the commands of a connection. The first three INCR it carries out without an answer.
func serve(conn net.Conn, count *atomic.Int64) {
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		var arguments, size int
		fmt.Sscanf(lines.Text(), "*%d", &arguments)
		var words []string
		for range arguments {
			lines.Scan()
			fmt.Sscanf(lines.Text(), "$%d", &size)
			lines.Scan()
			words = append(words, lines.Text())
		}
		switch strings.ToLower(words[0]) {
		case "hello":
			io.WriteString(conn, "-ERR unknown command\r\n")
		case "incr":
			if n := count.Add(1); n > 3 {
				fmt.Fprintf(conn, ":%d\r\n", n)
			}
		default:
			io.WriteString(conn, "+OK\r\n")
		}
	}
}

func main() {
	var count atomic.Int64
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			go serve(conn, &count)
		}
	}()
	client := redis.NewClient(&redis.Options{Addr: listener.Addr().String(), ReadTimeout: 2 * time.Second})
	fmt.Println(client.Incr(context.Background(), "requests").Result())
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = '4 <nil>' ]
echo 'as described'
