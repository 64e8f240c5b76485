package turn

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collected is all that a reader gave, by choice.
type collected struct {
	mu    sync.Mutex
	text  map[int]string
	calls map[int][]string
	ended map[int]int
	order []string // "D" for a document or event, "-" for a piece without one
}

func (c *collected) take(p *Piece) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.Doc != nil {
		c.order = append(c.order, "D")
	} else {
		c.order = append(c.order, "-")
	}
	for _, part := range p.Parts {
		for _, e := range part.Events {
			switch e.Kind {
			case parse.Text:
				c.text[part.Choice] += e.Text
			case parse.ToolCall:
				c.calls[part.Choice] = append(c.calls[part.Choice], e.Call.Name+string(e.Call.Arguments))
			}
		}
		if part.Reading != nil {
			c.ended[part.Choice]++
		}
	}
}

func (c *collected) of(choice int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text[choice]
}

// reading is a reader over the shipped rules for a request that offers read.
func reading(t testing.TB, flows bool) (*Reader, *collected) {
	set := ruletest.Shipped(t)
	catalog := tools.NewCatalog(set.Tools, nil, []tools.Tool{{Name: "read"}})
	got := &collected{text: map[int]string{}, calls: map[int][]string{}, ended: map[int]int{}}
	return NewReader(func() *parse.Reader { return set.Strategies("").Reader(catalog, parse.Facts{}) }, flows,
		got.take), got
}

func event(choice int, delta, finish string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"index\":%d,\"delta\":{%s},\"finish_reason\":%s}]}\n\n", choice,
		delta, finish)
}

// blank is the last event of Ollama's chat completions where its API for chats tells an error, byte for byte.
const blank = `data: {"id":"chatcmpl-57","object":"chat.completion.chunk","created":1795893868,"model":"","system_fingerprint":"fp_ollama",` +
	`"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"

const (
	mib  = 1 << 20
	done = "data: [DONE]\n\n"
)

// Choices that nobody can ask for are not read: a reply may hold any number of them.
func TestManyChoices(t *testing.T) {
	stream := event(0, `"content":"A"`, `"stop"`) +
		"data: {\"choices\":[{\"index\":200}" + strings.Repeat(`,{"index":128}`, 1000) + "]}\n\ndata: [DONE]\n\n"
	r, _ := reading(t, true)
	if err := r.Stream(strings.NewReader(stream), mib, mib); err != nil || len(r.End("")) != 1 {
		t.Errorf("%d of the stream, %v", len(r.End("")), err)
	}
	r, _ = reading(t, true)
	if err := r.Document([]byte(`{"choices":[{}` + strings.Repeat(`,{}`, 1000) + `]}`)); err != nil ||
		len(r.End("")) != maxChoices {
		t.Errorf("%d of the document, %v", len(r.End("")), err)
	}
}

// What a stream, or a document, becomes.
func TestReader(t *testing.T) {
	call := `"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]`
	for _, row := range []struct {
		name, stream, document string
		text                   []string // of each choice
		calls                  string   // of the first
		err                    string
	}{
		{"text", event(0, `"reasoning":"Hm."`, "null") + event(0, `"content":"Yes."`, `"stop"`) + done, `{"choices":[{"message":{"content":"Yes.","reasoning":"Hm."},"finish_reason":"stop"}]}`, []string{"Yes."}, "", ""},
		{"a call", event(0, call, "null") + event(0, "", `"tool_calls"`) + done, `{"choices":[{"message":{` + call + `},"finish_reason":"tool_calls"}]}`, []string{""}, `read{"path":"a"}`, ""},
		{"a leaked call", event(0, `"content":"[TOOL:read|pa"`, "null") + event(0, `"content":"th=a]"`, `"stop"`) + done, `{"choices":[{"message":{"content":"[TOOL:read|path=a]"},"finish_reason":"stop"}]}`, []string{""}, `read{"path":"a"}`, ""},
		{"two choices", event(1, `"content":"B"`, `"stop"`) + event(0, `"content":"A"`, `"stop"`) + done, `{"choices":[{"message":{"content":"A"}},{"message":{"content":"B"}}]}`, []string{"A", "B"}, "", ""},
		{"more after the end", event(0, `"content":"A"`, `"stop"`) + event(0, `"content":"B"`, "null") + done, "", []string{"A"}, "", ""},
		{"no choice", "data: {\"choices\":[]}\n\n" + done, `{"choices":[]}`, []string{""}, "", ""},
		{"no end mark", event(0, `"content":"A"`, `"stop"`), "", []string{"A"}, "", ""},
		{"no end of a second choice", event(1, `"content":"B"`, "null") + event(0, `"content":"A"`, `"stop"`), "", []string{"A", "B"}, "", ""},
		{"no end", event(0, `"content":"A"`, "null"), `{"choices":[{"message":{"content":"A"},"finish_reason":null}]}`, []string{"A"}, "", ""},
		{"nothing", "", "", []string{""}, "", ""},
		{"a blank event of Ollama", event(0, `"content":"A"`, "null") + blank, "", nil, "", "with a blank event"},
		{"no JSON", "data: {\n\n", `{`, nil, "", "JSON"},
		{"an error of llama.cpp", event(0, `"content":"The answer is fourty-"`, "null") + "error: {\"code\":500,\"message\":\"x\"}\n\n" + done, "", nil, "", `holds an error: {"code":500`},
		{"an error by name", "event: error\ndata: {\"message\":\"x\"}\n\n" + done, "", nil, "", `holds an error: {"message"`},
		{"lines of one event", "data: {\"choices\":[{\ndata: \"delta\":{\"content\":\"A\"},\"finish_reason\":\"stop\"}]}\n\n" + done, "", []string{"A"}, "", ""},
		{"an error", "data: {\"error\":{\"message\":\"x\"}}\n\n", `{"error":{"message":"x"}}`, nil, "", `holds an error: {"error"`},
	} {
		for shape, read := range map[string]func(*Reader) error{
			"stream": func(r *Reader) error {
				return r.Stream(strings.NewReader(row.stream), mib, mib)
			},
			"document": func(r *Reader) error { return r.Document([]byte(row.document)) },
		} {
			if shape == "document" && row.document == "" {
				continue
			}
			r, got := reading(t, true)
			err := read(r)
			if row.err != "" {
				if r.Close(); err == nil || !strings.Contains(err.Error(), row.err) {
					t.Errorf("%s, %s: %v", row.name, shape, err)
				}
				continue
			}
			readings := r.End("")
			if err != nil || len(readings) != len(row.text) {
				t.Errorf("%s, %s: %d readings, %v", row.name, shape, len(readings), err)
				continue
			}
			for i, want := range row.text {
				if readings[i].Content != want || got.of(i) != want || got.ended[i] != 1 {
					t.Errorf("%s, %s: choice %d is %q, passed on %q, ended %d times", row.name, shape, i,
						readings[i].Content, got.of(i), got.ended[i])
				}
			}
			if calls := strings.Join(got.calls[0], ";"); calls != row.calls {
				t.Errorf("%s, %s: %s", row.name, shape, calls)
			}
		}
	}
}

// A reply of which the server says how it ended is not cut, whatever stands behind it.
func TestUnfinished(t *testing.T) {
	for name, row := range map[string]struct {
		read func(*Reader) error
		cut  string
	}{
		"no end": {func(r *Reader) error {
			return r.Stream(strings.NewReader(event(0, `"content":"A"`, "null")), mib, mib)
		}, openai.Unfinished},
		"an end mark": {func(r *Reader) error {
			return r.Stream(strings.NewReader(event(0, `"content":"A"`, "null")+done), mib, mib)
		}, ""},
		"a reason": {func(r *Reader) error {
			return r.Stream(strings.NewReader(event(0, `"content":"A"`, `"stop"`)), mib, mib)
		}, ""},
		"null, whole": {func(r *Reader) error {
			return r.Document([]byte(`{"choices":[{"message":{"content":"A"},"finish_reason":null}]}`))
		}, openai.Unfinished},
		"no member, whole": {func(r *Reader) error { return r.Document([]byte(`{"choices":[{"message":{"content":"A"}}]}`)) }, ""},
	} {
		r, _ := reading(t, true)
		if err := row.read(r); err != nil {
			t.Fatal(err)
		}
		if got := r.End("")[0]; got.Cut != row.cut || got.Content != "A" {
			t.Errorf("%s: cut %q, %q", name, got.Cut, got.Content)
		}
	}
}

// What was held of a reply that broke off leaves, and no call of it does.
func TestBreak(t *testing.T) {
	r, got := reading(t, true)
	call := `"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]`
	stream := event(0, `"content":"I read"`, "null") + event(0, `"content":" it: <"`, "null") + event(0, call,
		"null") + "data: {\"error\":\"x\"}\n\n"
	if err := r.Stream(strings.NewReader(stream), mib, mib); err == nil {
		t.Fatal("no error")
	}
	readings := r.Break()
	if got.of(0) != "I read it: <" || readings[0].Content != got.of(0) ||
		len(got.calls[0])+len(readings[0].Calls) > 0 {
		t.Errorf("%q, %q, calls %v", got.of(0), readings[0].Content, got.calls)
	}
}

// However the bytes of a stream are cut, and whatever stands in one event, the readings
// are the same, and so is what is passed on.
func TestReaderTakesAnyPieces(t *testing.T) {
	const text = "I will look. <|channel|>commentary to=functions.read <|constrain|>json<|message|>{\"path\":\"a\"}<|call|>"
	whole, want := reading(t, false)
	if err := whole.Document(fmt.Appendf(nil,
		`{"choices":[{"message":{"content":%q},"finish_reason":"stop"}]}`, text)); err != nil {
		t.Fatal(err)
	}
	reads := whole.End("")
	rapid.Check(t, func(p *rapid.T) {
		var stream strings.Builder
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(p, "piece")
			stream.WriteString(event(0, fmt.Sprintf(`"content":%q`, rest[:n]), "null"))
			rest = rest[n:]
		}
		stream.WriteString(event(0, "", `"stop"`) + done)
		r, got := reading(t, false)
		err := r.Stream(cut{strings.NewReader(stream.String()), rapid.IntRange(1, 64).Draw(p, "read")}, mib,
			mib)
		if err != nil {
			p.Fatal(err)
		}
		if again := r.End(""); cmp.Diff(reads, again) != "" || got.of(0) != want.of(0) ||
			cmp.Diff(got.calls, want.calls) != "" {
			p.Fatalf("%s\n%v %v", cmp.Diff(reads, again), got, want)
		}
	})
}

// cut gives at most n bytes at a time.
type cut struct {
	from io.Reader
	n    int
}

func (c cut) Read(p []byte) (int, error) { return c.from.Read(p[:min(c.n, len(p))]) }

// A lead leaves by itself where the caller watches, and nowhere else. A reply that broke
// off leaves nothing later.
func TestLeadLeaves(t *testing.T) {
	for _, row := range []struct {
		flows, closed bool
		want          string
	}{{true, false, "It is "}, {false, false, ""}, {true, true, ""}} {
		synctest.Test(t, func(t *testing.T) {
			r, got := reading(t, row.flows)
			first := strings.TrimSuffix(strings.TrimPrefix(event(0, `"content":"It is "`, "null"), "data: "),
				"\n\n")
			if err := r.Event([]byte(first), []byte(first), false); err != nil {
				t.Fatal(err)
			}
			if row.closed {
				r.Close()
			}
			time.Sleep(2 * LeadWait)
			if text := got.of(0); text != row.want {
				t.Errorf("%+v: %q", row, text)
			}
			r.Close()
		})
	}
}

// What an error quotes of the model is read like a reply; what is nothing is told.
func TestRecovered(t *testing.T) {
	for _, row := range []struct {
		from upstream.Recovered
		text string
		call string
		ok   bool
	}{
		{upstream.Recovered{Text: "Done."}, "Done.", "", true},
		// the model ended it
		{upstream.Recovered{Calls: []upstream.RawCall{{Name: "read", Arguments: `{"path":"a`}}}, "", `read{"path":"a"}`, true},
		{upstream.Recovered{Calls: []upstream.RawCall{{Name: "exec", Arguments: `{"command":"rm -r /tm`}}}, "", "", false},
		{upstream.Recovered{Calls: []upstream.RawCall{{Name: "read", Arguments: `{"path":`}}}, "", "", false},
		{upstream.Recovered{Calls: []upstream.RawCall{{Name: "read", Arguments: `{"path":"a",}`}}}, "", `read{"path":"a"}`, true},
		{upstream.Recovered{Text: " \n"}, "", "", false},
	} {
		r, got := reading(t, true)
		ok := r.Recovered(&row.from)
		r.Close()
		if ok != row.ok || got.of(0) != row.text || strings.Join(got.calls[0], ";") != row.call ||
			!ok && len(got.order) > 0 {
			t.Errorf("%+v: %v %+v", row.from, ok, got)
		}
	}
}

// An event or a stream that is too long ends the reading with an error that says so.
func TestReaderIsBounded(t *testing.T) {
	long := event(0, `"content":"`+strings.Repeat("x", 2000)+`"`, "null")
	for _, row := range []struct{ event, total int }{{1000, mib}, {mib, 1000}} {
		r, _ := reading(t, false)
		err := r.Stream(strings.NewReader(long+done), row.event, row.total)
		if r.Close(); err == nil || !strings.Contains(err.Error(), "longer than 1000 bytes") {
			t.Errorf("%+v: %v", row, err)
		}
	}
	r, _ := reading(t, false)
	broken := errors.New("reset")
	err := r.Stream(io.MultiReader(strings.NewReader(event(0, "", "null")), failing{broken}), mib, mib)
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	r.Close()
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
