package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

const asked = `{"messages":[{"role":"system","content":"be kind"},{"role":"user","content":"早くして"}],"model":"executor","timeout":5}`

// words are texts of all sorts.
func words(rng *rand.Rand, most int) string {
	pieces := []string{"plain words ", `"quoted" \ `, "日本語のテキスト", "Größe ", "🙂", "\n", `{"a":1}`,
		"https://example.com/a/b?c=d "}
	var b strings.Builder
	for range rng.IntN(most) {
		b.WriteString(pieces[rng.IntN(len(pieces))])
	}
	return b.String()
}

// made is a reply with calls, and their results.
func made(rng *rand.Rand, n int) (*modelReply, []tools.Result) {
	s := &modelReply{usage: usage{prompt: 100 * n, completion: 20}}
	s.Content, s.Reasoning = words(rng, 5), words(rng, 20)
	var results []tools.Result
	for i := range 1 + rng.IntN(3) {
		args, _ := json.Marshal(map[string]string{"path": fmt.Sprint(i, " ", words(rng, 5)),
			"token": "sk-secret-argument"})
		s.Calls = append(s.Calls, tools.Call{Name: []string{"read", "write", "exec"}[rng.IntN(3)],
			Arguments: args})
		s.ids = append(s.ids, fmt.Sprintf("call%d_%d", n, i))
		results = append(results, tools.Result{Text: "result-text " + words(rng, 300),
			Failed: rng.IntN(4) == 0})
	}
	return s, results
}

// sound says what is wrong with the messages of a request: every call has its result right
// behind it, and every result its call.
func sound(body []byte) error {
	req, err := openai.ParseRequest(body)
	if err != nil {
		return err
	}
	var open []string // calls without a result so far
	for i := range req.Messages {
		var m struct {
			Role   string
			CallID string                `json:"tool_call_id"`
			Calls  []struct{ ID string } `json:"tool_calls"`
		}
		if err := json.Unmarshal(req.Messages[i].Of(body), &m); err != nil {
			return err
		}
		switch {
		case m.Role == "tool" && (len(open) == 0 || open[0] != m.CallID):
			return fmt.Errorf("message %d is the result of %s, and %v are open", i, m.CallID, open)
		case m.Role == "tool":
			open = open[1:]
		case len(open) > 0:
			return fmt.Errorf("message %d is of %s, and %v have no result", i, m.Role, open)
		case i < 2 && m.Role != []string{"system", "user"}[i], i > 1 && m.Role != "assistant":
			return fmt.Errorf("message %d is of %s", i, m.Role)
		}
		for _, c := range m.Calls {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%v have no result", open)
	}
	return nil
}

// Whatever is left out of a talk, in whatever order, no call is without its result, what the
// caller wrote stays, and until something is left out each request begins as the one before.
func TestTalk(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		req, err := openai.ParseRequest([]byte(asked))
		ruletest.Must(t, err)
		talk := newConversation(req, []tools.Tool{{Name: "read", Description: "It reads."}})
		short := func(_, text string) string { return text[:min(len(text), 12)] }
		for n := range 12 {
			before := talk.body("")
			changed := false
			switch rng.IntN(6) {
			case 0:
				changed = talk.trim(rng.IntN(4), short)
			case 1:
				changed = talk.compact(rng.IntN(4))
			}
			same := bytes.Equal(before, talk.body(""))
			if same == changed {
				t.Fatalf("seed %d: it says that it changed: %v", seed, changed)
			}
			s, results := made(rng, n+1)
			talk.addTurn(s, results)
			body := talk.body("")
			if err := sound(body); err != nil {
				t.Fatalf("seed %d, turn %d: %v\n%s", seed, n, err, body)
			}
			if !changed && !bytes.HasPrefix(body, before[:len(before)-len(talk.tail)]) {
				t.Fatalf("seed %d, turn %d: the request does not begin as the one before", seed, n)
			}
			if !bytes.Contains(body,
				[]byte(`{"role":"system","content":"be kind"},{"role":"user","content":"早くして"}`)) ||
				bytes.Contains(body, []byte("timeout")) {
				t.Fatalf("seed %d: %s", seed, body)
			}
			if w := weigh(body); math.Abs(w-talk.weight()) > 0.01 {
				t.Fatalf("seed %d: a weight of %f is taken for %f", seed, w, talk.weight())
			}
		}
		last := talk.body("answer now")
		if !bytes.Contains(last, []byte(`{"role":"user","content":"answer now"}]`)) ||
			!bytes.Contains(last, []byte(`"tool_choice":"none"`)) {
			t.Fatalf("%s", last)
		}
	}
}

// What is told of folded turns names tools and what they were about, and nothing else of them.
func TestFold(t *testing.T) {
	req, err := openai.ParseRequest([]byte(asked))
	ruletest.Must(t, err)
	talk := newConversation(req, nil)
	for i := range 40 {
		s := &modelReply{ids: []string{fmt.Sprint("c", i)}}
		s.Reasoning, s.Content = "a thought", "some text"
		s.Calls = []tools.Call{{Name: "write",
			Arguments: fmt.Appendf(nil, `{"path":"/tmp/%d","content":"private"}`, i)}}
		talk.addTurn(s, []tools.Result{{Text: "result-text", Failed: i == 30, Doubt: i == 31}})
	}
	if !talk.compact(1) || talk.compact(1) {
		t.Fatal("it is folded once")
	}
	fold := string(talk.fold())
	for _, want := range []string{"9 calls before these", `\n- write: /tmp/9\n`, "/tmp/30 (failed)",
		"/tmp/31 (it is not known whether it took effect)", "/tmp/38", "left out to save room.]"} {
		if !strings.Contains(fold, want) {
			t.Errorf("%s does not say %q", fold, want)
		}
	}
	for _, no := range []string{"private", "result-text", "thought", "some text", "/tmp/39", "/tmp/8"} {
		if strings.Contains(fold, no) {
			t.Errorf("%s says %q", fold, no)
		}
	}
}

func runOf(t *testing.T, window int) *Run {
	t.Helper()
	req, err := openai.ParseRequest([]byte(asked))
	ruletest.Must(t, err)
	set := ruletest.Shipped(t, RunsSection())
	r := &Run{Executor: &Executor{}, set: set, rules: ruleset.Of[Runs](set), window: window}
	r.talk, r.history = newConversation(req, nil), &history{}
	return r
}

// The server's count and the estimate together tell how full the context is.
func TestTally(t *testing.T) {
	text := func(s string, n int) float64 { return weigh([]byte(strings.Repeat(s, n))) }
	for s, want := range map[string]float64{"abcdefg": 2, "日本": 2, "дом": 1.5, "🙂": 2} {
		if got := text(s, 100); math.Abs(got-100*want) > 1 {
			t.Errorf("%q a hundred times weighs %f, want %f", s, got, 100*want)
		}
	}
	var c tokenCount
	if c.tokens(500) != 500 {
		t.Errorf("%d before anything was counted", c.tokens(500))
	}
	c.count(usage{prompt: 1500, completion: 100}, 1000, 80)
	if c.tokens(1080) != 1600 || c.tokens(1180) != 1750 || c.tokens(980) != 1450 {
		t.Errorf("%d, %d with more, %d with less", c.tokens(1080), c.tokens(1180), c.tokens(980))
	}
	c.count(usage{prompt: 10, completion: 1}, 100_000, 0) // a picture
	if c.rate != minRate {
		t.Errorf("the rate is %f", c.rate)
	}
	was := c
	c.count(usage{}, 5, 5)
	if c.counted != was.counted || c.tokens(100_000) != 11 {
		t.Errorf("a reply without usage is counted: %+v", c)
	}
}

// Dropped messages show in the count, and nothing else does.
func TestDropped(t *testing.T) {
	for name, c := range map[string]struct {
		before, now int
		want        bool
	}{
		"longer": {4000, 4200, false}, "shorter": {4000, 3500, true}, "cached": {4000, 300, false},
		"nothing told": {4000, 0, false}, "the first": {0, 3000, false},
	} {
		if got := (&tokenCount{prompt: c.before}).dropped(usage{prompt: c.now}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Room is made at the shares of the rules: first results are shortened, then turns are folded.
func TestFit(t *testing.T) {
	r := runOf(t, 20_000) // room: 18,000 tokens
	grow := func(n, prompt int) {
		s := &modelReply{ids: []string{fmt.Sprint("c", n)}, usage: usage{prompt: prompt, completion: 10}}
		s.Calls = []tools.Call{{Name: "read", Arguments: fmt.Appendf(nil, `{"path":"/tmp/%d"}`, n)}}
		r.addTurn(s, []tools.Result{{Text: strings.Repeat("x", 3000)}})
	}
	for n := range 6 {
		grow(n, 5000)
	}
	if used, did := r.fit(); did || used > 0.4 {
		t.Fatalf("%f is used, shortened: %v", used, did)
	}
	grow(6, 12_000)
	used, did := r.fit()
	if !did || used < 0.6 || used >= 0.8 || r.talk.folded != 0 {
		t.Fatalf("%f is used, shortened: %v, %d folded", used, did, r.talk.folded)
	}
	for i, e := range r.talk.turns {
		if text := e.results[0].text; (len(text) <= r.rules.Context.TrimTo) != (i < 5) {
			t.Errorf("result %d has %d characters", i, len(text))
		}
	}
	if r.used() >= used {
		t.Errorf("%f is still used", r.used())
	}
	grow(7, 17_000)
	if used, did := r.fit(); !did || used < 0.8 || r.talk.folded != 6 || r.used() >= used {
		t.Errorf("%f is used, shortened: %v, %d folded, %f then", used, did, r.talk.folded, r.used())
	}
	if !r.squeeze() || r.talk.folded != 7 || r.squeeze() || r.window >= 20_000 {
		t.Errorf("%d folded, a window of %d", r.talk.folded, r.window)
	}
	r.maxReply = 15_000
	if share := r.share(r.window / 2); share != 1 {
		t.Errorf("a large reply leaves half of the window: %f", share)
	}
}

// A run that goes on after a crash comes to the same talk, whatever was left out of it.
func TestRestoreFits(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 2))
		window := 2000 + rng.IntN(20_000)
		r := runOf(t, window)
		past := &Past{}
		for n := 1; n <= 10; n++ {
			r.fit()
			s, results := made(rng, n)
			s.usage.prompt = int(r.talk.weight() * (0.8 + 0.4*rng.Float64()))
			s.squeezed = rng.IntN(8) == 0 && r.squeeze()
			past.Records = append(past.Records, JournalRecord{Turn: turnRecord(n, s)})
			for i := range s.Calls {
				past.Records = append(past.Records,
					JournalRecord{Result: &ResultRecord{ID: s.ids[i], Text: results[i].Text,
						Failed: results[i].Failed}})
			}
			if n < 10 {
				r.addTurn(s, results)
			}
		}
		again := runOf(t, window)
		req, err := openai.ParseRequest([]byte(asked))
		ruletest.Must(t, err)
		again.restore(req, past)
		if a, b := r.talk.body(""), again.talk.body(""); !bytes.Equal(a, b) || r.window != again.window {
			t.Fatalf("seed %d: another talk, %d and %d bytes, %d and %d turns folded", seed, len(a), len(b),
				r.talk.folded, again.talk.folded)
		}
	}
}

// What stands in the log is masked, short, and text.
func TestMasked(t *testing.T) {
	for text, want := range map[string]string{
		"short":                           "short",
		strings.Repeat("a", 499) + "é":    strings.Repeat("a", 499),
		strings.Repeat("a", 498) + "é...": strings.Repeat("a", 498) + "é",
	} {
		if got := logText(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A run that was broken off goes on when the same request comes soon. One that has ended counts for less
// long, and only where it has changed something.
func TestRecalled(t *testing.T) {
	const replay = 2 * time.Minute
	last := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	wrote := []JournalRecord{{Call: &CallRecord{Changes: true}}}
	for _, c := range []struct {
		past  Past
		after time.Duration
		want  bool
	}{
		{Past{}, 0, true},
		{Past{}, recovery, true},
		{Past{Records: wrote}, recovery + 1, false},
		{Past{End: &EndRecord{}}, 0, false},
		{Past{End: &EndRecord{}, Records: wrote}, replay - 1, true},
		{Past{End: &EndRecord{}, Records: wrote}, replay, false},
	} {
		c.past.Last = last
		if got := isRepeated(&c.past, last.Add(c.after), replay); got != c.want {
			t.Errorf("%+v after %s: %v", c.past, c.after, got)
		}
	}
}
