//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// patience is the timeout for a whole answer.
const patience = 30 * time.Second

// caller sends requests over one connection. It uses little CPU, which it shares with the model server.
type caller struct {
	conn    net.Conn
	in      *bufio.Reader
	request []byte
	body    bytes.Buffer  // of the last answer
	waits   time.Duration // for a whole answer
}

func dial(address string, stream bool) (*caller, error) {
	conn, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		return nil, err
	}
	return &caller{conn: conn, in: bufio.NewReaderSize(conn, 32<<10), request: request(address, stream),
		waits: patience}, nil
}

// ask sends the request and reads the whole answer, whose status must be 200.
func (c *caller) ask() error {
	_ = c.conn.SetDeadline(time.Now().Add(c.waits))
	if _, err := c.conn.Write(c.request); err != nil {
		return err
	}
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return err
	}
	c.body.Reset()
	if _, err := c.body.ReadFrom(res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %.300s", res.Status, c.body.Bytes())
	}
	return nil
}

// request returns a request as an agent gateway sends it: a long system prompt, three tools.
func request(address string, stream bool) []byte {
	more := ""
	if stream {
		more = `"stream":true,"stream_options":{"include_usage":true},`
	}
	tool := func(name, properties, required string) string {
		return `{"type":"function","function":{"name":"` + name +
			`","description":"` + strings.ToTitle(name) +
			` of the workspace","parameters":{"type":"object","properties":{` + properties +
			`},"required":[` + required + `]}}}`
	}
	tools := tool("read", `"path":{"type":"string"},"offset":{"type":"integer"}`, `"path"`) + "," +
		tool("write", `"path":{"type":"string"},"content":{"type":"string"}`, `"path","content"`) + "," +
		tool("web_search", `"query":{"type":"string"},"count":{"type":"integer"}`, `"query"`)
	body := filled(4096, func(text string) string {
		return `{"model":"gpt-oss",` + more +
			`"temperature":0.2,"max_tokens":700,"messages":[{"role":"system","content":` + quoted("You are a careful assistant. "+text) +
			`},{"role":"user","content":"Write a short note about the folder."}],"tools":[` + tools +
			`],"tool_choice":"auto"}`
	})
	return fmt.Appendf(nil, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer bench\r\nContent-Length: %d\r\n\r\n%s", address, len(body), body)
}
