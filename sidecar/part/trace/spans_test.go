package trace_test

import (
	"context"
	"encoding/hex"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/executor"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/trace"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// followed is a sidecar whose spans and metrics a collector gets.
type followed struct {
	*provider.Server
	to  *trace.Collector
	end func() []*wire.Span // sends all that is left
}

// follow makes one of what begin starts.
func follow(t *testing.T, cfg provider.Setup, begin func(provider.Setup) *provider.Server) *followed {
	t.Helper()
	to := trace.StartCollector(t)
	settings, err := trace.Read([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + to.URL})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Metrics = telemetry.New()
	sender, err := trace.Open(trace.Config{Settings: settings, Metrics: cfg.Metrics, Version: "v1",
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	end := func() []*wire.Span {
		if !closed {
			if err := sender.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
		closed = true
		return to.Spans()
	}
	t.Cleanup(func() { end() })
	cfg.Spans = sender.Tracer()
	return &followed{begin(cfg), to, end}
}

func followPlay(t *testing.T, cfg provider.Setup, replies ...script.Reply) *followed {
	t.Helper()
	return follow(t, cfg, func(cfg provider.Setup) *provider.Server {
		return provider.Start(t, cfg, script.New(script.Scenario{Steps: replies}))
	})
}

// spansOf finds the spans whose names begin so.
func spansOf(list []*wire.Span, begin string) (out []*wire.Span) {
	for _, s := range list {
		if strings.HasPrefix(s.Name, begin) {
			out = append(out, s)
		}
	}
	return out
}

// events are those of a span, each with its name and the values of some attributes.
func events(s *wire.Span, keys ...string) (out []string) {
	for _, e := range s.Events {
		line, of := strings.TrimPrefix(e.Name, "gptoss_executor."), trace.Attributes(e.Attributes)
		for _, key := range keys {
			if v, ok := of[key].(string); ok {
				line += " " + v
			}
		}
		out = append(out, line)
	}
	return out
}

// conventional are the names of all attributes of the conventions, as their package has them.
func conventional(t *testing.T) map[string]bool {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}",
		"go.opentelemetry.io/otel/semconv/v1.41.0").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "attribute_group.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, m := range regexp.MustCompile(`attribute\.Key\("([^"]+)"\)`).FindAllStringSubmatch(string(text),
		-1) {
		out[m[1]] = true
	}
	if len(out) < 300 {
		t.Fatalf("only %d attributes were found", len(out))
	}
	return out
}

// levels are which attributes a span must have, by its kind and operation.
func levels(s *wire.Span, of map[string]any) (required []string) {
	switch of[string(semconv.GenAIOperationNameKey)] {
	case semconv.GenAIOperationNameChat.Value.AsString():
		required = []string{string(semconv.GenAIProviderNameKey), string(semconv.GenAIRequestModelKey)}
		if of[string(semconv.ServerAddressKey)] != nil {
			required = append(required, string(semconv.ServerPortKey))
		}
	case semconv.GenAIOperationNameExecuteTool.Value.AsString():
		required = []string{string(semconv.GenAIToolNameKey), string(semconv.GenAIToolCallIDKey),
			string(semconv.GenAIToolTypeKey)}
	case semconv.GenAIOperationNameInvokeAgent.Value.AsString():
		required = []string{string(semconv.GenAIProviderNameKey), string(semconv.GenAIRequestModelKey),
			string(semconv.GenAIAgentNameKey), string(semconv.GenAIAgentIDKey)}
	default:
		if s.Kind == wire.Span_SPAN_KIND_SERVER {
			required = []string{string(semconv.HTTPRequestMethodKey), string(semconv.URLPathKey),
				string(semconv.URLSchemeKey), string(semconv.HTTPRouteKey),
				string(semconv.HTTPResponseStatusCodeKey)}
		}
	}
	if s.Status.Code == wire.Status_STATUS_CODE_ERROR {
		required = append(required, string(semconv.ErrorTypeKey))
	}
	return required
}

// conforms checks spans against the conventions, and that they are a tree below one another.
func conforms(t *testing.T, list []*wire.Span) {
	t.Helper()
	known, byID := conventional(t), map[string]*wire.Span{}
	for _, s := range list {
		byID[string(s.SpanId)] = s
	}
	kinds := map[string]wire.Span_SpanKind{
		"chat": wire.Span_SPAN_KIND_CLIENT, "execute_tool": wire.Span_SPAN_KIND_INTERNAL,
		"invoke_agent": wire.Span_SPAN_KIND_INTERNAL, "turn": wire.Span_SPAN_KIND_INTERNAL,
		"POST": wire.Span_SPAN_KIND_SERVER,
	}
	for _, s := range list {
		of := trace.Attributes(s.Attributes)
		first, rest, _ := strings.Cut(s.Name, " ")
		if s.Kind != kinds[first] {
			t.Errorf("%s is of the kind %s", s.Name, s.Kind)
		}
		for _, key := range levels(s, of) {
			if of[key] == nil {
				t.Errorf("%s has no %s: %v", s.Name, key, of)
			}
		}
		if op, ok := of[string(semconv.GenAIOperationNameKey)].(string); ok {
			name := of[string(semconv.GenAIRequestModelKey)]
			if op == "execute_tool" {
				name = of[string(semconv.GenAIToolNameKey)]
			}
			if first != op || rest != name {
				t.Errorf("the name of a span is %q, of %s %v", s.Name, op, name)
			}
		}
		for _, list := range append([]map[string]any{of}, eventAttributes(s)...) {
			for key := range list {
				if !known[key] && !strings.HasPrefix(key, "gptoss_executor.") {
					t.Errorf("%s: the conventions have no %s", s.Name, key)
				}
			}
		}
		if s.EndTimeUnixNano < s.StartTimeUnixNano || len(s.TraceId) != 16 || len(s.SpanId) != 8 {
			t.Errorf("%s: %+v", s.Name, s)
		}
		parent := byID[string(s.ParentSpanId)]
		if s.Kind != wire.Span_SPAN_KIND_SERVER && (parent == nil ||
			parent.StartTimeUnixNano > s.StartTimeUnixNano || string(parent.TraceId) != string(s.TraceId)) {
			t.Errorf("%s has the parent %v", s.Name, parent)
		}
	}
}

func eventAttributes(s *wire.Span) (out []map[string]any) {
	for _, e := range s.Events {
		out = append(out, trace.Attributes(e.Attributes))
	}
	return out
}

const callersTrace, callersSpan = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

// A turn that is mended, denied, asked again, and answered: each of that is told where it belongs, and
// the model server is part of the caller's trace.
func TestSpansOfATurn(t *testing.T) {
	r := followPlay(t, provider.Setup{Server: "vllm"},
		script.Native("exec", `{"command":"rm -rf /"}`),
		script.Reply{},
		script.Text(`<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{'command':'ls -l'}<|call|>`))
	a := r.Chat(provider.Body(provider.Streaming+","+provider.BothTools+`,"temperature":0.5,"max_tokens":100`),
		"traceparent", "00-"+callersTrace+"-"+callersSpan+"-01", "tracestate", "vendor=1", "session_id", "s1",
		"x-request-id", "r1")
	if a.Status != 200 || len(a.Calls) != 1 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	list := r.end()
	conforms(t, list)
	request, turn, chats := spansOf(list, "POST")[0], spansOf(list, "turn")[0], spansOf(list, "chat")
	if len(list) != 5 || len(chats) != 3 {
		t.Fatalf("%d spans", len(list))
	}
	if hex.EncodeToString(request.TraceId) != callersTrace ||
		hex.EncodeToString(request.ParentSpanId) != callersSpan || request.TraceState != "vendor=1" {
		t.Errorf("the request is not part of the caller's trace: %v", request)
	}
	if string(turn.ParentSpanId) != string(request.SpanId) {
		t.Error("the turn is no child of the request")
	}
	got := events(turn, "gen_ai.tool.name", "gptoss_executor.effect", "gptoss_executor.outcome",
		"gptoss_executor.fault", "gptoss_executor.action", "gptoss_executor.repair", "gptoss_executor.code")
	for _, want := range []string{"decision exec deny refused", "refusal exec denied",
		"again exec denied correct", "again empty resample", "decision exec allow left"} {
		if !slices.Contains(got, want) {
			t.Errorf("no event %q among %q", want, got)
		}
	}
	if !slices.ContainsFunc(got, func(e string) bool { return strings.HasPrefix(e, "repair exec json.") }) {
		t.Errorf("no repair among %q", got)
	}
	asked := r.Model.Requests("")
	for i, chat := range chats {
		if string(chat.ParentSpanId) != string(turn.SpanId) {
			t.Error("an attempt is no child of the turn")
		}
		want := "00-" + callersTrace + "-" + hex.EncodeToString(chat.SpanId) + "-01"
		if got := asked[i].Header.Get("traceparent"); got != want ||
			asked[i].Header.Get("tracestate") != "vendor=1" {
			t.Errorf("the model server got the traceparent %q, and not %q", got, want)
		}
		of := trace.Attributes(chat.Attributes)
		if of["gen_ai.request.temperature"] != .5 || of["gen_ai.request.max_tokens"] != int64(100) ||
			of["gen_ai.conversation.id"] != "s1" || of["server.address"] != "127.0.0.1" ||
			of["gen_ai.usage.input_tokens"] == nil || of["gen_ai.provider.name"] != "vllm" ||
			of["gen_ai.request.stream"] != true {
			t.Errorf("attempt %d: %v", i, of)
		}
		for _, key := range []string{"gen_ai.input.messages", "gen_ai.output.messages"} {
			if of[key] != nil {
				t.Errorf("words, and no rule wants them: %v", of[key])
			}
		}
	}
	of := trace.Attributes(request.Attributes)
	if of["gptoss_executor.request.id"] != "r1" || of["http.response.status_code"] != int64(200) {
		t.Errorf("the request: %v", of)
	}
	if of := trace.Attributes(turn.Attributes); of["gptoss_executor.again"] != int64(2) ||
		of["gptoss_executor.calls"] != int64(1) {
		t.Errorf("the turn: %v", of)
	}
	r.metricsOf(t, map[string]uint64{"gen_ai.client.operation.duration": 3,
		"gen_ai.client.operation.time_to_first_chunk": 3, "gen_ai.client.token.usage": 6})
}

// metricsOf checks the histograms that the conventions name: how many values they have, and that
// exemplars lead to a trace.
func (f *followed) metricsOf(t *testing.T, want map[string]uint64) {
	t.Helper()
	got, known := f.to.Metrics(), conventional(t)
	for _, by := range []struct{ name, unit string }{
		{genaiconv.ClientOperationDuration{}.Name(), genaiconv.ClientOperationDuration{}.Unit()},
		{genaiconv.ClientOperationTimeToFirstChunk{}.Name(), genaiconv.ClientOperationTimeToFirstChunk{}.Unit()},
		{genaiconv.ClientTokenUsage{}.Name(), genaiconv.ClientTokenUsage{}.Unit()},
	} {
		m := got[by.name]
		if m == nil || m.Unit != by.unit {
			t.Errorf("%s: %v", by.name, m)
			continue
		}
		count, traces := uint64(0), 0
		for _, p := range m.GetHistogram().DataPoints {
			count += p.Count
			of := trace.Attributes(p.Attributes)
			for key := range of {
				if !known[key] && !strings.HasPrefix(key, "gptoss_executor.") {
					t.Errorf("%s: the conventions have no %s", by.name, key)
				}
			}
			if of["gen_ai.operation.name"] != "chat" || of["gen_ai.provider.name"] == nil ||
				of["gptoss_executor.model"] != "gpt-oss" || of["gptoss_executor.upstream"] == nil ||
				strings.Contains(by.name, "token") && of["gen_ai.token.type"] == nil {
				t.Errorf("%s: %v", by.name, of)
			}
			if len(p.BucketCounts) != len(p.ExplicitBounds)+1 {
				t.Errorf("%s: %d buckets of %d bounds", by.name, len(p.BucketCounts), len(p.ExplicitBounds))
			}
			for _, e := range p.Exemplars {
				if hex.EncodeToString(e.TraceId) == callersTrace && len(e.SpanId) == 8 {
					traces++
				}
			}
		}
		if count != want[by.name] || traces == 0 {
			t.Errorf("%s: %d values, %d with a trace", by.name, count, traces)
		}
	}
	if got["gptoss_executor.requests"] == nil || !got["gptoss_executor.requests"].GetSum().IsMonotonic {
		t.Errorf("our own are not there: %v", got["gptoss_executor.requests"])
	}
}

// A server that is off and one that answers are two attempts of one turn.
func TestSpansOfTwoServers(t *testing.T) {
	main, far := provider.ServeModel(t, script.Text("main")), provider.ServeModel(t, script.Text("far"))
	r := follow(t, provider.Setup{Server: "vllm"}, func(cfg provider.Setup) *provider.Server { return provider.StartBoth(t, cfg, main, far) })
	main.Off()
	if a := r.Stream(); a.Text != "far" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	list := r.end()
	conforms(t, list)
	chats := spansOf(list, "chat")
	if len(chats) != 2 {
		t.Fatalf("%d attempts", len(chats))
	}
	failed, good := trace.Attributes(chats[0].Attributes), trace.Attributes(chats[1].Attributes)
	if chats[0].Status.Code != wire.Status_STATUS_CODE_ERROR ||
		failed["gptoss_executor.upstream"] != "main" || failed["error.type"] == "" ||
		chats[1].Status.Code == wire.Status_STATUS_CODE_ERROR || good["gptoss_executor.upstream"] != "far" ||
		good["server.port"] == failed["server.port"] {
		t.Errorf("%v, %v", failed, good)
	}
	if turn := spansOf(list, "turn")[0]; turn.Status.Code == wire.Status_STATUS_CODE_ERROR {
		t.Errorf("the turn has failed: %v", turn)
	}
}

// A run is a span with its turns and tools below it. A call that is denied says so.
func TestSpansOfARun(t *testing.T) {
	b, set := &provider.Source{}, *ruletest.Shipped(t, executor.Sections()...)
	r := followPlay(t, provider.Setup{Set: &set, Extend: executor.With(b), Server: "vllm"},
		script.Native("web_search", `{"query":"news"}`),
		script.Native("write", `{"path":"/etc/passwd","content":"x"}`),
		script.Text("Done."))
	a := r.Run(true, "")
	if a.Status != 200 || a.Text != "Done." {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	list := r.end()
	conforms(t, list)
	run := spansOf(list, "invoke_agent executor")[0]
	turns, calls := spansOf(list, "turn"), spansOf(list, "execute_tool")
	if len(turns) != 3 || len(calls) != 2 || len(spansOf(list, "chat")) != 3 {
		t.Fatalf("%d turns, %d calls", len(turns), len(calls))
	}
	for _, below := range append(turns, calls...) {
		if string(below.ParentSpanId) != string(run.SpanId) {
			t.Errorf("%s is no child of the run", below.Name)
		}
	}
	if of := trace.Attributes(run.Attributes); of["gen_ai.agent.id"] != a.Header.Get("X-Run-Id") ||
		of["gptoss_executor.run.status"] != "answered" || of["gptoss_executor.run.turns"] != int64(3) {
		t.Errorf("the run: %v", of)
	}
	if got := events(calls[0], "gen_ai.tool.name", "gptoss_executor.effect"); len(got) == 0 ||
		got[0] != "decision web_search allow" {
		t.Errorf("the decision about a call: %q", got)
	}
	denied := trace.Attributes(calls[1].Attributes)
	if denied["gptoss_executor.tool.outcome"] != "refused" ||
		calls[1].Status.Code != wire.Status_STATUS_CODE_ERROR ||
		!slices.Contains(events(calls[1], "gptoss_executor.effect", "gptoss_executor.outcome"),
			"decision deny refused") {
		t.Errorf("the denied call: %v %v", denied, events(calls[1], "gptoss_executor.effect",
			"gptoss_executor.outcome"))
	}
}

// What cannot be served is a span with its status, and an answer that failed says why in a word.
func TestSpansOfFailures(t *testing.T) {
	r := followPlay(t, provider.Setup{Server: "vllm", Limits: func(l *ruleset.Limits) { l.Retries = 0 }},
		script.Fail(500, "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD broke"))
	if a := r.Chat(`{"model":"gpt-oss"}`); a.Status != http.StatusBadRequest {
		t.Errorf("%d", a.Status)
	}
	if a := r.Chat(`{"model":"unknown","messages":[{"role":"user","content":"go"}]}`); a.Status != http.StatusNotFound {
		t.Errorf("%d", a.Status)
	}
	if a := r.Plain("whole"); a.Status < 500 {
		t.Errorf("%d", a.Status)
	}
	list := r.end()
	conforms(t, list)
	var status []int64
	for _, s := range spansOf(list, "POST") {
		status = append(status, trace.Attributes(s.Attributes)["http.response.status_code"].(int64))
	}
	if len(status) != 3 || status[0] != 400 || status[1] != 404 || status[2] < 500 {
		t.Errorf("%v", status)
	}
	chat := spansOf(list, "chat")[0]
	if of := trace.Attributes(chat.Attributes); chat.Status.Code != wire.Status_STATUS_CODE_ERROR ||
		of["error.type"] != string(ruleset.ServerError) || chat.Status.Message != "" {
		t.Errorf("%v %v", chat.Status, of)
	}
}

// A rule writes the words, with secrets masked and in the bytes that it gives: what the model server
// said in the attempt, what was made of it in the turn.
func TestSpansWithWords(t *testing.T) {
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	set := ruletest.Shipped(t, executor.Sections()...)
	ruleset.Of[telemetry.Words](set).Bytes = 2 << 10
	r := followPlay(t, provider.Setup{Server: "vllm", Set: set},
		script.Text(`<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{'command':'echo `+
			secret+`'}<|call|>`).Thinking("I use "+secret))
	body := `{"model":"gpt-oss",` + provider.BothTools +
		`,"messages":[{"role":"system","content":"` + strings.Repeat("old ", 2000) +
		`"},{"role":"user","content":"use ` + secret + ` please"}]}`
	if a := r.Chat(body); len(a.Calls) != 1 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	list := r.end()
	conforms(t, list)
	chat, turn := trace.Attributes(spansOf(list,
		"chat")[0].Attributes), trace.Attributes(spansOf(list, "turn")[0].Attributes)
	said, made, in := chat["gen_ai.output.messages"].(string), turn["gen_ai.output.messages"].(string),
		chat["gen_ai.input.messages"].(string)
	for _, c := range []struct{ what, got, want string }{
		{"what the server said", said, `to=functions.exec`},
		{"what was made of it", made, `"type":"tool_call"`},
		{"what was asked", in, `use «masked:`},
	} {
		if !strings.Contains(c.got, c.want) || !strings.Contains(c.got, "«masked:") ||
			strings.Contains(c.got, secret) || len(c.got) > 4<<10 {
			t.Errorf("%s: %d bytes, %s", c.what, len(c.got), c.got)
		}
	}
}

// Without a collector a caller's trace goes on as it came, and one that is damaged does not.
func TestTraceGoesOn(t *testing.T) {
	r := provider.Play(t, script.Text("a"), script.Text("b"))
	parent := "00-" + callersTrace + "-" + callersSpan + "-00"
	r.Chat(provider.Body(provider.Streaming), "traceparent", parent, "tracestate", "a=1,b=2")
	r.Chat(provider.Body(provider.Streaming), "traceparent", "00-"+callersTrace+"-0000000000000000-01", "tracestate", "a=1")
	asked := r.Model.Requests("")
	if h := asked[0].Header; h.Get("traceparent") != parent || h.Get("tracestate") != "a=1,b=2" {
		t.Errorf("%v", h)
	}
	if h := asked[1].Header; h.Get("traceparent") != "" || h.Get("tracestate") != "" {
		t.Errorf("%v", h)
	}
}

// A collector that is off costs a turn nothing but the queue, and the program ends in time.
func TestCollectorIsOff(t *testing.T) {
	r := followPlay(t, provider.Setup{Server: "vllm"}, script.Text("a"), script.Text("b"))
	r.to.Stop()
	for _, want := range []string{"a", "b"} {
		if a := r.Stream(); a.Text != want {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	if list := r.end(); len(list) != 0 {
		t.Errorf("%d spans", len(list))
	}
}

// Each line about a request says which one it is, and where in its trace: with a collector and without.
func TestLogOfATrace(t *testing.T) {
	replies := []script.Reply{script.Native("exec", `{"command":"rm -rf /"}`), script.Text("Done."),
		script.Fail(400, "no"), script.Native("web_search", `{"query":"x"}`), script.Text("Found.")}
	b, set := &provider.Source{}, *ruletest.Shipped(t, executor.Sections()...)
	cfg := provider.Setup{Set: &set, Extend: executor.With(b), Server: "vllm", JSON: true}
	for name, r := range map[string]*provider.Server{
		"without": provider.Start(t, cfg, script.New(script.Scenario{Steps: replies})),
		"with":    followPlay(t, cfg, replies...).Server,
	} {
		parent := []string{"traceparent", "00-" + callersTrace + "-" + callersSpan + "-01", "x-request-id",
			"r1"}
		r.Chat(provider.Body(provider.Streaming+","+provider.BothTools), parent...)
		r.Chat(provider.Body(""), parent...)
		r.Chat(`{"model":"executor","messages":[{"role":"user","content":"find it"}]}`, parent...)
		for _, event := range []string{"policy_deny", "fault", "request_served", "request_failed",
			"executor_run_start", "gpt_oss_call_complete", "tool_execution_success", "executor_run_end"} {
			lines := slices.DeleteFunc(strings.Split(r.Log.String(), "\n"),
				func(line string) bool { return !strings.Contains(line, `"event":"`+event+`"`) })
			if len(lines) == 0 {
				t.Errorf("%s: no line %s", name, event)
			}
			for _, line := range lines {
				if !strings.Contains(line, `"request":"r1"`) ||
					!strings.Contains(line, `"trace_id":"`+callersTrace+`"`) ||
					strings.Contains(line, `"span_id":"`) != (name == "with") ||
					strings.Count(line, `"request":`) != 1 {
					t.Errorf("%s: %s", name, line)
				}
			}
		}
	}
}
