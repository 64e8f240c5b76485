package trace

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// wireTap keeps what would be sent, byte for byte.
type wireTap struct{ sent []byte }

func (w *wireTap) UploadTraces(_ context.Context, list []*wire.ResourceSpans) error {
	doc, err := proto.Marshal(&wire.TracesData{ResourceSpans: list})
	w.sent = append(w.sent, doc...)
	return err
}

func (*wireTap) Start(context.Context) error { return nil }
func (*wireTap) Stop(context.Context) error  { return nil }

// planter makes up texts, and hides secrets in them.
type planter struct {
	*rand.Rand
	planted []string // the random part of each
}

const letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"

func (p *planter) random(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(letters[p.IntN(len(letters))])
	}
	return b.String()
}

// secret is one in a form that secrets knows.
func (p *planter) secret() string {
	form := []struct {
		text string
		n    int
	}{{"ghp_%s", 36}, {"sk-proj-%s", 48}, {"xoxb-123456789012-%s", 24}, {"glpat-%s", 20}, {"hf_%s", 34},
		{"npm_%s", 36}, {"Authorization: Bearer %s", 40}, {"password=%s", 16}, {"https://bob:%s@example.com/x", 20}, {"--api-key %s", 32}}[p.IntN(10)]
	core := p.random(form.n)
	p.planted = append(p.planted, core)
	return fmt.Sprintf(form.text, core)
}

// text is words, sometimes many, with or without a secret in the middle, at an end or at a cut.
func (p *planter) text(most int) string {
	word := []string{"list ", "the ", "files ", "in ", "it. ", "{ ", "\"a\": ", "\n", "日本 ", "» ", "| "}
	var b strings.Builder
	fill := func(n int) {
		for b.Len() < n {
			b.WriteString(word[p.IntN(len(word))])
		}
	}
	n := p.IntN(60)
	switch p.IntN(60) {
	case 0:
		n = most - p.IntN(80) // it stands across the end of what is kept
	case 1:
		n = most + 8<<10 - p.IntN(80) // or of what is looked at
	}
	fill(n)
	if p.IntN(3) > 0 {
		b.WriteString(" " + p.secret() + " ")
	}
	fill(b.Len() + p.IntN(60))
	return b.String()
}

func (p *planter) json(text string) []byte {
	key := []string{"command", "text", "token", "env"}[p.IntN(4)]
	doc, err := json.Marshal(map[string]any{key: text, "list": []string{p.text(100)}})
	if err != nil {
		panic(err)
	}
	return doc
}

func (p *planter) messages() string {
	var list []string
	for range 1 + p.IntN(5) {
		content, err := json.Marshal(p.text(1 << 10))
		if err != nil {
			panic(err)
		}
		switch p.IntN(4) {
		case 0:
			list = append(list, fmt.Sprintf(`{"role":"tool","tool_call_id":"c1","content":%s}`, content))
		case 1:
			args, err := json.Marshal(string(p.json(p.text(1 << 10))))
			if err != nil {
				panic(err)
			}
			list = append(list, fmt.Sprintf(`{"role":"assistant","content":null,"reasoning_content":%s,"tool_calls":[{"id":"c1","type":"function","function":{"name":"exec","arguments":%s}}]}`, content, args))
		case 2:
			list = append(list, fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%s}]}`, content))
		default:
			list = append(list, fmt.Sprintf(`{"role":"user","content":%s}`, content))
		}
	}
	return `{"model":"m","max_tokens":5,"messages":[` + strings.Join(list, ",") + `]}`
}

// turn is a request with all that can become of it, each text of a caller, a model or a tool made up.
func (p *planter) turn(t *testing.T, to *telemetry.Tracer, words telemetry.Words) {
	req, err := openai.ParseRequest([]byte(p.messages()))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/v1/chat/completions?key="+p.random(8), nil)
	r.Header.Set("Authorization", "Bearer "+p.secret())
	ctx, request := to.Request(context.Background(), r, p.text(40), words)
	by := policy.Subject{Session: p.text(256), Agent: p.text(40)}
	ctx, run := request.Children().Run(ctx, "run1", p.text(40), "v", nil, by)
	turn := run.Children().Turn(ctx, p.text(256), "v", []string{"x/a"}, by, req)
	ctx, attempt := turn.Attempt(ctx, telemetry.Destination{Provider: "vllm", Upstream: "main", Model: p.text(100),
		Host: "127.0.0.1", Port: 80, Number: 1})
	attempt.Began(true)
	var doc openai.Completion
	if err := doc.Parse(fmt.Appendf(nil, `{"id":%q,"model":%q,"choices":[]}`, p.secret(),
		p.secret())); err == nil {
		attempt.First(&doc)
	}
	delta := &parse.Delta{Content: p.text(1 << 10), Reasoning: p.text(1 << 10)}
	args := p.json(p.text(1 << 10))
	half := len(args) / 2
	delta.Calls = []parse.CallDelta{{Index: 0, Name: p.text(30), Arguments: args[:half]},
		{Index: 0, Arguments: args[half:]}}
	heard := &parse.Reading{
		Content: p.text(1 << 10), Reasoning: p.text(1 << 10), Finish: p.text(10),
		Calls: []tools.Call{{Name: p.text(30), Arguments: p.json(p.text(1 << 10)), Strategy: "harmony",
			Repairs: []tools.Repair{{Kind: "json.quote", From: p.secret(), To: p.secret()}}}},
		Refused: []tools.Refusal{{Code: tools.BadJSON, Name: p.text(30), Text: p.secret(), Why: p.secret()}},
	}
	turn.Replied(heard, []string{p.text(20)}, guard.Repairs, delta, nil, p.text(10),
		attempt)
	turn.Decided(telemetry.SpanDecision{Tool: p.text(30), Effect: "deny", Rule: "r", Place: "exec.yaml:1",
		Outcome: "refused"})
	turn.Fault("denied", "correct", p.text(30), p.IntN(2) == 0)
	attempt.End(1, 2, 0, "timeout")
	turn.End(telemetry.TurnOutcome{Upstream: "main", Style: "native", Fault: "denied"})
	_, tool := run.Tool(ctx, p.text(20), p.text(30), p.json(p.text(1<<10)))
	tool.End("failed", p.text(1<<10))
	run.End("failed", 1, 1, true)
	request.End(500)
}

// Of ten thousand turns with secrets in every text that others write, none is sent, not a part of one:
// neither with words nor without. Without, no words are sent either.
func TestNoSecretLeaves(t *testing.T) {
	turns := 2500
	if testing.Short() {
		turns = 200
	}
	for seed, bytes := range []rulefile.Size{0, 1 << 10, 0, 1 << 10} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			noSecretLeaves(t, uint64(seed), turns, telemetry.Words{Bytes: bytes})
		})
	}
}

func noSecretLeaves(t *testing.T, seed uint64, turns int, words telemetry.Words) {
	tap := &wireTap{}
	exporter, err := otlptrace.New(context.Background(), tap)
	if err != nil {
		t.Fatal(err)
	}
	with := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	to := telemetry.NewTracer(with.Tracer("test"))
	p := &planter{Rand: rand.New(rand.NewPCG(seed, 8))}
	leaks, planted, masked := 0, 0, 0
	for i := range turns {
		tap.sent, p.planted = tap.sent[:0], p.planted[:0]
		p.turn(t, to, words)
		sent := string(tap.sent)
		planted += len(p.planted)
		masked += strings.Count(sent, "«masked:")
		for _, secret := range p.planted {
			if at := partOf(sent, secret); at >= 0 {
				if leaks++; leaks < 4 {
					t.Errorf("turn %d: a part of %q left: …%q…", i, secret, sent[max(0, at-80):min(len(sent),
						at+60)])
				}
			}
		}
		if words.Bytes == 0 && strings.Contains(sent, "gen_ai.input.messages") {
			t.Fatal("words left, and no rule wants them")
		}
	}
	if planted < 10*turns || masked < turns {
		t.Errorf("%d secrets were planted, %d masked: nothing is tested", planted, masked)
	}
	if leaks > 0 {
		t.Errorf("%d of %d secrets left", leaks, planted)
	}
	if err := with.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}

// partOf is where ten signs of a secret stand; below 0: nowhere.
func partOf(sent, secret string) int {
	for from := 0; from+10 <= len(secret); from += 5 {
		if at := strings.Index(sent, secret[from:from+10]); at >= 0 {
			return at
		}
	}
	return -1
}
