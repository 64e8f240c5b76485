package provider

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// Says returns a vLLM server that answers every chat with these bytes.
func Says(kind, body string) http.Handler {
	probed := script.New()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			probed.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, body)
	})
}

// The content types of a stream and a document.
const (
	SSE      = "text/event-stream; charset=utf-8"
	Document = "application/json"
)

// Piece is an event of one choice, with unspecified members too.
func Piece(index int, delta, finish string) string {
	return fmt.Sprintf(`data: {"id": "chatcmpl-9","object":"chat.completion.chunk", "created":1760000000,"model":"openai/gpt-oss-20b","system_fingerprint":"fp_1","x_unknown":{"a":[1, 2]},"choices":[{"index":%d,"delta":{%s},"logprobs":null,"finish_reason":%s,"stop_reason":null}]}`+"\n\n", index, delta, finish)
}

// The end of a stream.
const (
	UsageEvent = `data: {"id": "chatcmpl-9","object":"chat.completion.chunk","created":1760000000,"model":"openai/gpt-oss-20b","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"x":1}}` + "\n\n"
	DoneEvent  = "data: [DONE]\n\n"
)

// Reply is a whole reply.
func Reply(message, finish string) string {
	return fmt.Sprintf(`{ "id":"chatcmpl-9","object":"chat.completion","x_unknown": [1,  2],"choices":[{"index":0,"message":{%s},"finish_reason":%q,"stop_reason":null}],"usage":{"total_tokens":12},"kv_transfer_params":null}`, message, finish)
}

// ModelServer is a machine with a model server that can be switched off.
type ModelServer struct {
	t       testing.TB
	Model   *script.Server
	Address string
	srv     *httptest.Server
}

// ServeModel starts one whose model repeats its replies.
func ServeModel(t testing.TB, replies ...script.Reply) *ModelServer {
	t.Helper()
	b := &ModelServer{t: t, Model: script.New(script.Scenario{Steps: replies, Loop: true}),
		Address: "127.0.0.1:0"}
	b.On()
	b.Address = b.srv.Listener.Addr().String()
	t.Cleanup(b.Off)
	return b
}

// On switches it on.
func (b *ModelServer) On() {
	b.t.Helper()
	l, err := net.Listen("tcp", b.Address)
	if err != nil {
		b.t.Fatal(err)
	}
	b.srv = &httptest.Server{Listener: l, Config: &http.Server{Handler: b.Model}}
	b.srv.Start()
}

// Off drops all connections, as a power failure does.
func (b *ModelServer) Off() {
	b.srv.CloseClientConnections()
	b.srv.Close()
}

// Asked returns the number of requests to the model.
func (b *ModelServer) Asked() int { return len(b.Model.Requests("")) }

// StartBoth starts a sidecar with two model servers: main first, then far.
func StartBoth(t testing.TB, cfg Setup, main, far *ModelServer) *Server {
	t.Helper()
	set := *ruletest.Shipped(t, Sections()...)
	set.Upstreams = []ruleset.Upstream{{Name: ruleset.Main}, {Name: "far", URL: "http://" + far.Address}}
	set.Models = append([]ruleset.Model(nil), set.Models...)
	for i := range set.Models {
		set.Models[i].Upstreams = []rulefile.Text{{Value: ruleset.Main}, {Value: "far"}}
	}
	more := cfg.Limits
	cfg.Set, cfg.URL, cfg.Limits = &set, "http://"+main.Address, func(l *ruleset.Limits) {
		l.Circuit.Failures, l.Circuit.Open = 2, time.Hour
		if more != nil {
			more(l)
		}
	}
	return Start(t, cfg, nil)
}
