//go:build unix

package service_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

const offered = `"tools":[{"type":"function","function":{"name":"exec","parameters":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}}]`

func body(stream bool) string {
	return fmt.Sprintf(`{"model":"gpt-oss","stream":%t,%s,"messages":[{"role":"user","content":"look"}]}`,
		stream, offered)
}

// wrong is what is wrong with an answer; "": it is whole.
func wrong(status int, text string, stream bool) string {
	switch {
	case status != http.StatusOK:
		return fmt.Sprintf("status %d: %.200s", status, text)
	case !strings.Contains(text, `"exec"`) || !strings.Contains(text, `"tool_calls"`):
		return fmt.Sprintf("no call: %.200s", text)
	case stream && !strings.HasSuffix(strings.TrimSpace(text), "data: [DONE]"):
		return fmt.Sprintf("the stream does not end: %.200s", text)
	}
	return ""
}

// load are callers that ask without a pause for breath, and never twice for the same.
type load struct {
	t       testing.TB
	address string
	stop    context.CancelFunc
	all     sync.WaitGroup
	asked   atomic.Int64
	failed  atomic.Int64
	first   atomic.Pointer[string] // of what has failed
}

// begin begins with callers of every kind: Go's client, connections that are kept by hand, and Node's
// fetch, where there is one.
func begin(t testing.TB, address string) *load {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	l := &load{t: t, address: address, stop: stop}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	t.Cleanup(func() { l.stop(); l.all.Wait(); client.CloseIdleConnections() })
	for i := range 12 {
		l.all.Go(func() { l.callers(ctx, client, i%2 == 0) })
		l.all.Go(func() { l.keeps(ctx, i) })
	}
	l.all.Go(func() { l.node(ctx) })
	ruletest.Soon(t, "callers get answers", func() bool { return l.asked.Load() > 40 })
	return l
}

// end ends the load, and says how many have asked. All of them must have got an answer.
func (l *load) end() int64 {
	l.t.Helper()
	l.stop()
	l.all.Wait()
	if n := l.failed.Load(); n > 0 {
		l.t.Errorf("%d of %d requests have failed; the first: %s", n, l.asked.Load(), *l.first.Load())
	}
	l.t.Logf("%d requests, %d failed", l.asked.Load(), l.failed.Load())
	return l.asked.Load()
}

func (l *load) count(why string) {
	l.asked.Add(1)
	if why != "" {
		l.failed.Add(1)
		l.first.CompareAndSwap(nil, &why)
	}
}

func (l *load) callers(ctx context.Context, client *http.Client, stream bool) {
	for ctx.Err() == nil {
		l.count(func() string {
			res, err := client.Post("http://"+l.address+"/v1/chat/completions", "application/json",
				strings.NewReader(body(stream)))
			if err != nil {
				return "Go's client: " + err.Error()
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if err != nil {
				return "Go's client: " + err.Error()
			}
			return wrong(res.StatusCode, string(text), stream)
		}())
	}
}

// keeps asks over one connection until the server says that it ends it. It is silent for a moment between
// two requests, some callers for longer. It asks nothing twice.
func (l *load) keeps(ctx context.Context, i int) {
	var c net.Conn
	defer func() {
		if c != nil {
			c.Close()
		}
	}()
	var in *bufio.Reader
	for n := 0; ctx.Err() == nil; n++ {
		time.Sleep(time.Duration(i*n%7) * 50 * time.Millisecond) // callers come at any moment
		stream, closed := n%2 == 0, false
		l.count(func() string {
			if c == nil {
				var err error
				if c, err = net.Dial("tcp", l.address); err != nil {
					return "a kept connection: " + err.Error()
				}
				in = bufio.NewReader(c)
			}
			closed = true // on any error
			ask := body(stream)
			if _, err := fmt.Fprintf(c,
				"POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", l.address, len(ask), ask); err != nil {
				return "a kept connection: " + err.Error()
			}
			res, err := http.ReadResponse(in, nil)
			if err != nil {
				return "a kept connection: " + err.Error()
			}
			text, err := io.ReadAll(res.Body)
			if err != nil {
				return "a kept connection: " + err.Error()
			}
			closed = res.Close
			return wrong(res.StatusCode, string(text), stream)
		}())
		if closed && c != nil {
			c.Close()
			c = nil
		}
	}
}

// fetching asks with Node's fetch until its input ends, and prints what came of each request.
const fetching = `
let on = true; process.stdin.on('end', () => { on = false }).resume()
const one = async stream => { while (on) {
  let why = ''
  try {
    const r = await fetch(process.argv[1], {method: 'POST', headers: {'content-type': 'application/json'}, body: process.argv[stream ? 2 : 3]})
    const text = await r.text()
    if (r.status !== 200 || !text.includes('"exec"') || stream && !text.trim().endsWith('data: [DONE]')) why = r.status + ': ' + text.slice(0, 200)
  } catch (e) { why = String(e) + ' ' + String(e.cause) }
  console.log(JSON.stringify(why))
} }
for (let i = 0; i < 8; i++) one(i % 2 === 0)
`

func (l *load) node(ctx context.Context) {
	node, err := exec.LookPath("node")
	if err != nil {
		l.t.Log("Node is not here, so its fetch does not ask")
		return
	}
	cmd := exec.Command(node, "-e", fetching, "http://"+l.address+"/v1/chat/completions", body(true),
		body(false))
	in, ierr := cmd.StdinPipe()
	out, oerr := cmd.StdoutPipe()
	if ierr != nil || oerr != nil || cmd.Start() != nil {
		l.t.Error("Node does not start")
		return
	}
	stop := context.AfterFunc(ctx, func() { in.Close() })
	defer stop()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var why string
		if json.Unmarshal(lines.Bytes(), &why) != nil {
			why = lines.Text()
		}
		if why != "" {
			why = "Node's fetch: " + why
		}
		l.count(why)
	}
	if err := cmd.Wait(); err != nil {
		l.t.Errorf("Node: %v", err)
	}
}
