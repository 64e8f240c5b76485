package sidecar

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Two tools, one with a schema that can be violated.
const (
	execTool = `{"type":"function","function":{"name":"exec","parameters":{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer"}},"required":["command"],"additionalProperties":false}}}`
	readTool = `{"type":"function","function":{"name":"read","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}`
	bothTool = `"tools":[` + execTool + `,` + readTool + `]`
)

// shipped compiles the built-in rules once.
var shipped = sync.OnceValues(func() (*ruleset.Set, error) {
	files, err := ruleset.Builtin(os.DirFS(".."))
	if err != nil {
		return nil, err
	}
	set, problems := ruleset.Load(files)
	if set == nil {
		return nil, problems
	}
	return set, nil
})

// setup is what differs from the sidecar that most tests need.
type setup struct {
	key, token string
	server     string // dialect; "": probed
	limits     func(*ruleset.Limits)
	url        string // of the model server, in place of the one that is given
}

// rig is a sidecar in front of a model server, both over HTTP.
type rig struct {
	t     testing.TB
	s     *Server
	url   string
	http  *http.Client
	log   *journal
	model *script.Server // nil where the test brings its own
}

// play starts a sidecar in front of a server that gives these replies in order.
func play(t testing.TB, replies ...script.Reply) *rig {
	t.Helper()
	return start(t, setup{}, script.New(script.Scenario{Steps: replies}))
}

func start(t testing.TB, cfg setup, model http.Handler) *rig {
	t.Helper()
	r := &rig{t: t, log: &journal{}}
	r.model, _ = model.(*script.Server)
	if cfg.url == "" {
		up := httptest.NewServer(model)
		t.Cleanup(up.Close)
		cfg.url = up.URL
	}
	log := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	live := &Live{log: log, metrics: telemetry.New()}
	live.now.Store(&inForce{set: changed(t, cfg)})
	up, err := upstream.New(upstream.Config{BaseURL: cfg.url, Key: cfg.key, Server: cfg.server, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(up.Close)
	r.s = NewServer(live, up, NewApprovals(live.Set().Limits, time.Now, live.metrics), cfg.token, log, live.metrics)
	srv := httptest.NewServer(r.s.Handler())
	t.Cleanup(srv.Close)
	r.url, r.http = srv.URL, &http.Client{Transport: &http.Transport{}, Timeout: 20 * time.Second}
	t.Cleanup(r.http.CloseIdleConnections)
	return r
}

// changed is the shipped set with the changes of cfg. Waits are short.
func changed(t testing.TB, cfg setup) *ruleset.Set {
	t.Helper()
	first, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	set := *first // a copy of its own, so that tests can change it
	set.Limits.RetryMin, set.Limits.RetryMax, set.Limits.Connect = 5*time.Millisecond, 50*time.Millisecond, time.Second
	if cfg.limits != nil {
		cfg.limits(&set.Limits)
	}
	return &set
}

// journal is the log of a sidecar.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

// asking is a request body with these members before the usual ones.
func asking(more string) string {
	if more != "" {
		more += ","
	}
	return `{` + more + `"model":"gpt-oss","messages":[{"role":"user","content":"go"}]}`
}

const streaming = `"stream":true,"stream_options":{"include_usage":true}`

// do sends a request that ends with ctx.
func (r *rig) do(ctx context.Context, method, path, body string, header ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return r.http.Do(req)
}

// ask sends a request and reads the answer to its end, streamed or not.
func (r *rig) ask(method, path, body string, header ...string) *answer {
	return r.within(time.Minute, method, path, body, header...)
}

func (r *rig) chat(body string, header ...string) *answer {
	return r.ask(http.MethodPost, "/v1/chat/completions", body, header...)
}

// within is ask by a caller who leaves after d. The headers must have come.
func (r *rig) within(d time.Duration, method, path, body string, header ...string) *answer {
	ctx, cancel := context.WithTimeout(r.t.Context(), d)
	defer cancel()
	res, err := r.do(ctx, method, path, body, header...)
	if err != nil {
		r.t.Fatal(err)
	}
	return readAnswer(r.t, res)
}

// stream asks for a stream with both tools, whole for one document.
func (r *rig) stream() *answer { return r.chat(asking(streaming + "," + bothTool)) }
func (r *rig) whole() *answer  { return r.chat(asking(bothTool)) }

// chunk is a chat.completion.chunk or a chat.completion.
type chunk struct {
	ID      string `json:"id"`
	Choices []struct {
		Index   int    `json:"index"`
		Delta   part   `json:"delta"`
		Message part   `json:"message"`
		Finish  string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Total int `json:"total_tokens"`
	} `json:"usage"`
	Error *fault `json:"error"`
}

type part struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	Thought   string `json:"reasoning_content"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type fault struct{ Message, Type, Param, Code string }

// event is a piece of a stream, and when it came.
type event struct {
	chunk
	at time.Duration // since the headers
}

// answer is what a caller has read. Text, thoughts and calls are of choice 0.
type answer struct {
	status              int
	header              http.Header
	body                string
	events              []event
	ids                 map[string]bool
	roles, empty        int // chunks with a role; chunks that say nothing
	text, thought, last string
	calls               []call
	usage               int // total tokens; 0: none were told
	done                bool
	fault               fault
}

type call struct{ ID, Name, Args string }

func readAnswer(t testing.TB, res *http.Response) *answer {
	t.Helper()
	defer res.Body.Close()
	a := &answer{status: res.StatusCode, header: res.Header, ids: map[string]bool{}}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		doc, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		a.body = string(doc)
		a.add(t, doc, 0)
		return a
	}
	began, lines := time.Now(), bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadString('\n')
		a.body += line
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		switch {
		case ok && data == "[DONE]":
			a.done = true
		case ok:
			a.add(t, []byte(data), time.Since(began))
		}
		if err != nil {
			return a
		}
	}
}

func (a *answer) add(t testing.TB, doc []byte, at time.Duration) {
	t.Helper()
	e := event{at: at}
	if err := json.Unmarshal(doc, &e.chunk); err != nil {
		t.Fatalf("not JSON: %v in %q", err, doc)
	}
	a.events = append(a.events, e)
	if e.Error != nil {
		a.fault = *e.Error
		return
	}
	a.ids[e.ID] = true
	if e.Usage != nil {
		a.usage = e.Usage.Total
	}
	for _, c := range e.Choices {
		if c.Index != 0 {
			continue
		}
		p := c.Delta
		if c.Message.Role != "" {
			p = c.Message
		}
		a.take(p)
		if c.Finish != "" {
			a.last = c.Finish
		} else if p.Role == "" && p.Content == "" && p.Thought == "" && len(p.ToolCalls) == 0 {
			a.empty++
		}
	}
}

func (a *answer) take(p part) {
	if p.Role != "" {
		a.roles++
	}
	a.text += p.Content
	a.thought += p.Thought
	for _, c := range p.ToolCalls {
		a.calls = append(a.calls, call{c.ID, c.Function.Name, c.Function.Arguments})
	}
}
