//go:build unix

package sidecar

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// BenchmarkToolCall measures an undamaged call of the server's own, beside a proxy that does
// nothing, over real connections. cpu-µs/op is what lies between the caller and the model
// server: the processor time of the process less that of the two alone. ×proxy is the ratio.
func BenchmarkToolCall(b *testing.B) {
	for _, kb := range []int{8, 64} {
		for _, stream := range []bool{false, true} {
			name, reply, ask := fmt.Sprintf("%dKB/whole", kb), wholeCall(kb<<10), []byte(writeRequest(""))
			if stream {
				name, reply, ask = fmt.Sprintf("%dKB/streamed", kb), streamedCall(kb<<10), []byte(writeRequest(streaming+","))
			}
			b.Run(name, func(b *testing.B) {
				model := canned(b, reply)
				var alone, proxy float64
				b.Run("alone", func(b *testing.B) { alone = exchange(b, model, ask, kb<<10, 0, 0) })
				b.Run("ReverseProxy", func(b *testing.B) { proxy = exchange(b, reverseProxy(b, model), ask, kb<<10, alone, 0) })
				b.Run("sidecar", func(b *testing.B) { exchange(b, benchedSidecar(b, model), ask, kb<<10, alone, proxy) })
			})
		}
	}
}

// writeArguments are the arguments of write, with a content of about n bytes.
func writeArguments(n int) string {
	const line = "    if (await run(\"main.ts\")) { // Größe: 12 KB\n        throw new Error(name + ': not run')\n    }\n"
	content := openai.AppendString(nil, strings.Repeat(line, n/len(line)+1)[:n])
	return `{"path":"internal/main.go","content":` + string(content) + `}`
}

func writeRequest(more string) string {
	const text = `{"type":"string"}`
	body := `{` + more + `"model":"gpt-oss","temperature":0.2,"messages":[{"role":"system","content":"` + strings.Repeat("You are careful. ", 60) +
		`"},{"role":"user","content":"Write the file."}],"tools":[` +
		`{"type":"function","function":{"name":"read","parameters":{"type":"object","required":["path"],"properties":{"path":` + text + `,"offset":{"type":"integer","minimum":1}}}}},` +
		`{"type":"function","function":{"name":"write","parameters":{"type":"object","required":["path","content"],"properties":{"path":` + text + `,"content":` + text + `}}}},` +
		`{"type":"function","function":{"name":"exec","parameters":{"type":"object","required":["command"],"properties":{"command":` + text + `,"env":{"type":"object","patternProperties":{"^.*$":` + text + `}}}}}}]}`
	return "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// wholeCall is an HTTP response with one call, as vLLM writes it.
func wholeCall(n int) string {
	body := fmt.Sprintf(`{"id":"chatcmpl-5b0f","object":"chat.completion","created":1760000000,"model":"gpt-oss","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"chatcmpl-tool-4f1d0a","type":"function","function":{"name":"write","arguments":%s}}],"reasoning":"We write the file."},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1820,"total_tokens":2304,"completion_tokens":484}}`,
		openai.AppendString(nil, writeArguments(n)))
	return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// streamedCall is the same as events, 64 bytes of arguments in each.
func streamedCall(n int) string {
	const head = `data: {"id":"chatcmpl-5b0f","object":"chat.completion.chunk","created":1760000000,"model":"gpt-oss","choices":[{"index":0,"delta":`
	const tail = `,"logprobs":null,"finish_reason":null}]}` + "\n\n"
	var out strings.Builder
	event := func(s string) { fmt.Fprintf(&out, "%x\r\n%s\r\n", len(s), s) }
	event(head + `{"role":"assistant","content":""}` + tail)
	event(head + `{"reasoning":"We write the file."}` + tail)
	event(head + `{"tool_calls":[{"id":"chatcmpl-tool-4f1d0a","type":"function","index":0,"function":{"name":"write","arguments":""}}]}` + tail)
	for args := writeArguments(n); args != ""; {
		cut := min(64, len(args))
		for cut < len(args) && args[cut]&0xC0 == 0x80 {
			cut++
		}
		event(head + `{"tool_calls":[{"index":0,"function":{"arguments":` + string(openai.AppendString(nil, args[:cut])) + `}}]}` + tail)
		args = args[cut:]
	}
	event(head + `{},"logprobs":null,"finish_reason":"tool_calls"}]}` + "\n\n")
	event("data: [DONE]\n\n")
	return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n" + out.String() + "0\r\n\r\n"
}

// canned is the address of a server that gives one response to every request.
func canned(b *testing.B, response string) string {
	reply := []byte(response)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for takeMessage(in, nil) == nil {
					if _, err := c.Write(reply); err != nil {
						return
					}
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// takeMessage reads one HTTP message; a body has a length or comes in chunks.
func takeMessage(in *bufio.Reader, body *bytes.Buffer) error {
	length, chunked := 0, false
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= 2 {
			break
		}
		key, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(key, []byte("Content-Length")):
			length, _ = strconv.Atoi(string(bytes.TrimSpace(value)))
		case bytes.EqualFold(key, []byte("Transfer-Encoding")):
			chunked = true
		}
	}
	part := func(n int) error {
		if body != nil {
			_, err := io.CopyN(body, in, int64(n))
			return err
		}
		_, err := in.Discard(n)
		return err
	}
	for chunked {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err == nil {
			err = part(int(n))
		}
		if err == nil {
			_, err = in.Discard(2)
		}
		if n == 0 || err != nil {
			return err
		}
	}
	return part(length)
}

func reverseProxy(b *testing.B, model string) string {
	to, err := url.Parse(model)
	if err != nil {
		b.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	b.Cleanup(transport.CloseIdleConnections)
	srv := httptest.NewServer(&httputil.ReverseProxy{Transport: transport, ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }})
	b.Cleanup(srv.Close)
	return srv.URL
}

// benchedSidecar is the address of a sidecar as it is served: shipped rules, no debug log.
func benchedSidecar(b *testing.B, model string) string {
	quiet, metrics := slog.New(slog.DiscardHandler), telemetry.New()
	rules := fixed{changed(b, setup{})}
	up, err := upstream.New(upstream.Config{BaseURL: model + "/v1", Server: "vllm", IdleConnections: 64, Log: quiet})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(up.Close)
	s := New(Config{Rules: rules, Upstream: up, Guard: guard.New(guard.Config{Now: time.Now, Metrics: metrics, Log: quiet}), Metrics: metrics, Log: quiet})
	b.Cleanup(s.Close)
	srv := httptest.NewServer(s.Handler())
	b.Cleanup(srv.Close)
	return srv.URL
}

// exchange sends requests on 16 connections and returns the CPU time of one, in µs, less alone.
// The first reply is checked: at least n bytes of it are a call of write.
func exchange(b *testing.B, address string, ask []byte, n int, alone, proxy float64) float64 {
	var first bytes.Buffer
	if c := dial(b, address); !c.ask(ask, &first) || first.Len() < n || !bytes.Contains(first.Bytes(), []byte(`"name":"write"`)) {
		b.Fatalf("no call: %.300s", first.Bytes())
	}
	var lost atomic.Int64
	b.SetParallelism(8)
	began := cpuTime(b)
	b.RunParallel(func(pb *testing.PB) {
		c := dial(b, address)
		for pb.Next() {
			if !c.ask(ask, nil) { // ReverseProxy fails where the model answers before it has seen the end of the request
				lost.Add(1)
				c = dial(b, address)
			}
		}
	})
	if lost.Load() > 1+int64(b.N)/20 {
		b.Fatalf("%d of %d exchanges failed", lost.Load(), b.N)
	}
	each := float64((cpuTime(b) - began).Microseconds()) / float64(b.N)
	b.ReportMetric(each-alone, "cpu-µs/op")
	b.ReportMetric(0, "ns/op")
	if proxy > 0 {
		b.ReportMetric((each-alone)/proxy, "×proxy")
	}
	return each - alone
}

// caller is one connection.
type caller struct {
	net.Conn
	in *bufio.Reader
}

func dial(b *testing.B, address string) caller {
	c, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		panic(err) // Fatal is not for the goroutines of a parallel benchmark
	}
	b.Cleanup(func() { c.Close() })
	return caller{c, bufio.NewReaderSize(c, 64<<10)}
}

// ask sends a request and reads the reply.
func (c caller) ask(request []byte, body *bytes.Buffer) bool {
	_, err := c.Write(request)
	return err == nil && takeMessage(c.in, body) == nil
}

// cpuTime is the processor time of this process so far.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
