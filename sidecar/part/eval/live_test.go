package eval

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

const questionLines = `{"id":"a","user":"Read a.","tools":["read"],"expect":{"calls":[{"name":"read","arguments":{"path":"a"}}]}}
{"id":"b","messages":[{"role":"system","content":"Be short."},{"role":"user","content":"Greet."}],"expect":{"content":"Hi."}}
{"id":"c","tools":["read"]}
`

// model answers rightly where it is asked at 0, and else in every second four; broken says which
// requests fail.
func model(broken func(n int) bool) *script.Server {
	return script.New(script.Scenario{Choose: func(q script.Request) *script.Reply {
		n, out := q.Step+1, script.Text("Hi.")
		if last := q.Messages[len(q.Messages)-1].Text; strings.HasPrefix(last, "Read") {
			out = script.Text(`<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path":"a"}<|call|>`)
		}
		if gjson.GetBytes(q.Body, "temperature").Num > 0 && q.Step/4%2 == 1 {
			out = script.Text("I would rather not.")
		}
		if broken != nil && broken(n) {
			out = script.Fail(http.StatusBadRequest, "no such luck")
		}
		out.Pause = time.Millisecond
		return &out
	}})
}

// address is that of a model server at which one model follows the other.
type address struct {
	*httptest.Server
	model atomic.Pointer[http.Handler]
}

func (a *address) serve(model http.Handler) { a.model.Store(&model) }

func (a *address) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*a.model.Load()).ServeHTTP(w, r)
}

func place(t *testing.T) *address {
	a := &address{}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

func live(t *testing.T, m http.Handler, l Live) (*Report, string) {
	t.Helper()
	return place(t).live(t, m, l, "")
}

// live asks that model here. With a profile, that one reads.
func (a *address) live(t *testing.T, m http.Handler, l Live, profile string) (*Report, string) {
	t.Helper()
	a.serve(m)
	var tell bytes.Buffer
	l.URL, l.Tell, l.Wait = a.URL+"/v1", &tell, 10*time.Second
	broken, err := l.Read("f", strings.NewReader(questionLines))
	ruletest.Must(t, err)
	if broken != 1 || !strings.Contains(tell.String(), "f:3: there is nothing to ask") {
		t.Errorf("%d broken lines: %s", broken, tell.String())
	}
	variants := []Variant{{Name: "v", Set: ruletest.Shipped(t), Profile: profile}}
	r := NewReport(variants)
	ruletest.Must(t, l.Run(context.Background(), r, variants, guard.World{}))
	r.Finish()
	return r, tell.String()
}

// Each case is asked so often at each temperature, and read as it is served.
func TestLive(t *testing.T) {
	m := model(nil)
	r, said := live(t, m, Live{Times: 4, Temperatures: []float64{0, 0.7}})
	v := r.Variants[0]
	if len(m.Requests("")) != 16 || v.Cases != 16 || v.Right != 12 || v.Errors != 0 ||
		*v.Steady != (Steady{Always: 2, Sometimes: 2}) {
		t.Errorf("asked %d, %+v, %+v\n%s", len(m.Requests("")), v, v.Steady, said)
	}
	if id := r.All[0].ID; id != "a at 0, time 1" {
		t.Errorf("the first row is %q", id)
	}
	if !strings.Contains(said, " 16 requests, and what is asked again") ||
		!strings.Contains(said, "16 of 16") {
		t.Error(said)
	}
	var page bytes.Buffer
	ruletest.Must(t, r.HTML(&page))
	// a case is shown once
	for want, n := range map[string]int{"<details>": 2, "v: right in 2 of 4": 2, "2 + 2 of 4": 1} {
		if got := strings.Count(page.String(), want); got != n || strings.Contains(page.String(), "repairs") {
			t.Errorf("%s is %d times in the page", want, got)
		}
	}
}

// What was answered is not asked again; a bound stops; a changed case, profile or model server is another
// one.
func TestLiveGoesOn(t *testing.T) {
	file, here := filepath.Join(t.TempDir(), "answers"), place(t)
	first := model(nil)
	r, said := here.live(t, first, Live{Times: 3, Most: Bounds{Requests: 4}, Answers: file}, "")
	if len(first.Requests("")) != 4 || r.Cases != 4 || !strings.Contains(said, "stopped behind 4 requests") {
		t.Errorf("asked %d, %d cases\n%s", len(first.Requests("")), r.Cases, said)
	}
	doc, err := os.ReadFile(file)
	ruletest.Must(t, err)
	ruletest.Must(t, os.WriteFile(file, doc[:len(doc)-9], 0o600)) // the last line broke off
	second := model(nil)
	r, _ = here.live(t, second, Live{Times: 3, Answers: file}, "")
	if len(second.Requests("")) != 3 || r.Cases != 6 || r.Variants[0].Right != 6 {
		t.Errorf("asked %d, %+v", len(second.Requests("")), r.Variants[0])
	}
	for _, row := range []struct {
		as      string
		at      *address
		profile string
		degrees []float64
		asked   int
	}{
		{"the same", here, "", nil, 0},
		{"at another temperature", here, "", []float64{0.3}, 6},
		{"at another model server", place(t), "", nil, 6},
		{"with a profile", here, "native", nil, 6},
		{"with it again", here, "native", nil, 0},
	} {
		third := model(nil)
		row.at.live(t, third, Live{Times: 3, Answers: file, Temperatures: row.degrees}, row.profile)
		if n := len(third.Requests("")); n != row.asked {
			t.Errorf("%s %d were asked", row.as, n)
		}
	}
}

// The profile of a variant reads what is answered.
func TestLiveProfile(t *testing.T) {
	for profile, found := range map[string]int{"": 1, "native": 0} {
		m := script.New(script.Scenario{Loop: true,
			Steps: []script.Reply{script.Text(`[TOOL_CALLS][{"name":"read","arguments":{"path":"a"}}]`)}})
		if r, said := place(t).live(t, m, Live{}, profile); r.Variants[0].CallsExact != found {
			t.Errorf("%q: %+v\n%s", profile, r.Variants[0], said)
		}
	}
}

// What the server could not answer is counted apart.
func TestLiveErrors(t *testing.T) {
	r, said := live(t, model(func(n int) bool { return n == 2 }), Live{Times: 2})
	if v := r.Variants[0]; v.Errors != 1 || v.Cases != 3 || v.Right != 3 {
		t.Errorf("%+v\n%s", v, said)
	}
	r, _ = live(t, model(func(int) bool { return true }), Live{Times: 1})
	if v := r.Variants[0]; v.Errors != 2 || v.Cases != 0 {
		t.Errorf("a server that is down: %+v", v)
	}
	r, _ = live(t, model(func(n int) bool { return n == 2 }), Live{Times: 2})
	var out bytes.Buffer
	ruletest.Must(t, r.Write(&out))
	if !strings.Contains(out.String(), "no answer") {
		t.Error(out.String())
	}
}

// What is asked is a stream, as a gateway asks, or a whole answer; both are read the same.
func TestLiveStreams(t *testing.T) {
	for _, whole := range []bool{false, true} {
		m := model(nil)
		r, _ := live(t, m, Live{Times: 2, Whole: whole})
		for _, q := range m.Requests("") {
			if q.Stream == whole || q.Usage == whole {
				t.Errorf("whole %v: asked %s", whole, q.Body)
			}
		}
		if v := r.Variants[0]; v.Right != 4 || v.Each().First <= 0 || !whole && v.First >= v.Milliseconds {
			t.Errorf("whole %v: %+v", whole, v)
		}
	}
}

// All that the server counts is told, what was asked again, too.
func TestLiveTokens(t *testing.T) {
	m := script.New(script.Scenario{Steps: []script.Reply{script.Empty(),
		script.Native("read", `{"path":"a"}`), script.Text("Hi.")}})
	r, said := live(t, m, Live{Times: 1, Most: Bounds{In: 3, Out: 20}})
	prompts := 0
	for _, q := range m.Requests("") {
		prompts += len(q.Body)/4 + 1 // as the script counts
	}
	if v := r.Variants[0]; v.Prompt != prompts || v.Completion != 3+7+3 || v.Cases != 2 {
		t.Errorf("%+v, not %d tokens", v, prompts)
	}
	if want := fmt.Sprintf("2 of 2, %d tokens, cost %.4f\n", prompts+13,
		(3*float64(prompts)+20*13)/1e6); !strings.Contains(said, want) {
		t.Errorf("no %q in\n%s", want, said)
	}
	var out bytes.Buffer
	ruletest.Must(t, r.Write(&out))
	if !strings.Contains(out.String(), "first ms") || strings.Contains(out.String(), "repairs") {
		t.Error(out.String())
	}
}

// A run ends when it has spent enough, and the next one goes on there.
func TestLiveBounded(t *testing.T) {
	whole, _ := live(t, model(nil), Live{Times: 3})
	spent := whole.Variants[0].Spent // of 6 questions that take about as much
	most, price := spent.tokens()*2/5, 1e6/float64(spent.tokens())
	for says, most := range map[string]Bounds{fmt.Sprintf(" of %d tokens\n", most): {Tokens: most},
		" of 0.4\n": {Cost: 0.4, In: price, Out: price}} {
		file, here := filepath.Join(t.TempDir(), "answers"), place(t)
		first, second, third := model(nil), model(nil), model(nil)
		r, said := here.live(t, first, Live{Times: 3, Most: most, Answers: file}, "")
		if n := len(first.Requests("")); n != 3 || r.Cases != 3 ||
			!strings.Contains(said, "stopped behind 3 requests, ") || !strings.Contains(said, says) {
			t.Errorf("%q: asked %d, %d cases\n%s", says, n, r.Cases, said)
		}
		if r, said = here.live(t, second, Live{Times: 3, Most: most, Answers: file}, ""); r.Cases != 6 ||
			len(second.Requests("")) != 3 {
			t.Errorf("%q: then %d cases\n%s", says, r.Cases, said)
		}
		if r, _ = here.live(t, third, Live{Times: 3, Answers: file}, ""); len(third.Requests("")) != 0 ||
			r.Variants[0].Prompt != spent.Prompt || r.Variants[0].Completion != spent.Completion {
			t.Errorf("%q: the answers took %+v, and %+v in one go", says, r.Variants[0].Spent, spent)
		}
	}
	if said, err := (&crowd{}).ask(t, t.Context(), place(t), Live{Most: Bounds{Tokens: 1000}}); err == nil ||
		!strings.Contains(err.Error(), "does not say how many tokens") {
		t.Errorf("a server that counts no tokens: %v\n%s", err, said)
	}
	for _, b := range []Bounds{{Tokens: -1}, {In: -1}, {Cost: 1}} {
		if b.Check() == nil {
			t.Errorf("%+v is taken", b)
		}
	}
}

// Bounds are those of what really goes to the server: what is sent again and asked again counts, and so
// does what is on its way, of which no more is than fits.
func TestLiveBoundsHold(t *testing.T) {
	for most, want := range map[Bounds][2]int{
		{Requests: 3}: {3, 1}, {Requests: 7}: {6, 2}, {Requests: 9}: {9, 3},
		{Tokens: 300}: {6, 2}, {}: {18, 6},
	} {
		// of which each is asked for three times
		m := script.New(script.Scenario{Loop: true, Steps: []script.Reply{script.Empty()}})
		r, said := live(t, m, Live{Times: 3, Parallel: 4, Most: most})
		if n := len(m.Requests("")); n != want[0] || r.Cases+r.Variants[0].Errors != want[1] {
			t.Errorf("%+v: %d requests, %d answers, %d tokens\n%s", most, n, r.Cases+r.Variants[0].Errors,
				r.Variants[0].tokens(), said)
		}
	}
}

// What broke off, and what holds an error, is no answer.
func TestReadAnswer(t *testing.T) {
	event := func(inside string) string { return `data: {"choices":[{"index":0,` + inside + "}]}\n\n" }
	for _, row := range []struct{ body, made, err string }{
		{event(`"delta":{"content":"a"}`) + ": waits\n\n" + event(`"delta":{"content":"b"},"finish_reason":"stop"`) + "data: [DONE]\n\n", `[] ab stop`, ""},
		{event(`"delta":{"tool_calls":[{"index":1,"function":{"name":"x","arguments":"{"}}]}`) + event(`"delta":{"tool_calls":[{"index":3,"function":{"name":"y","arguments":"[]"}}]}`) +
			event(`"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]}`) + "data: [DONE]\n\n",
			`[{x {}} {y []}]  `, ""},
		{event(`"delta":{"content":"a"}`), "", "the stream broke off"},
		{event(`"delta":{"content":"a"}`) + "data: {\"error\":{\"message\":\"no luck\"}}\n\n", "", "no luck"},
		{"data: {\"choices\":[],\"usage\":{}}\n\ndata: [DONE]\n\n", "", "has no choice"},
		{`data: {"choices":[{"index":1,"delta":{"content":"other"}}]}` + "\n\ndata: [DONE]\n\n", "", "has no choice"},
		{"data: {\n\n", "", "read the answer"},
	} {
		made, err := readAnswer([]byte(row.body), true)
		got := fmt.Sprintf("%s %s %s", made.Calls, made.Content, made.Finish)
		if row.err == "" && (err != nil || got != row.made) || row.err != "" &&
			(err == nil || !strings.Contains(err.Error(), row.err)) {
			t.Errorf("%s\n%s, %v", row.body, got, err)
		}
	}
}
