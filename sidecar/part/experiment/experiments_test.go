package experiment_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/executor"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

// trying is the shipped set with experiments.
func trying(t testing.TB, experiments string) *ruleset.Set {
	t.Helper()
	files, err := ruletest.Source(t, "").Read()
	ruletest.Must(t, err)
	files["experiments.yaml"] = "version: 1\noutcomes: {failed: [{find: '^Error: '}], corrected: [{find: '^No, '}]}\n" + experiments
	files["prompts/short.txt"] = "Be short."
	// some arms break them
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasPrefix(name, "tests/") })
	set, problems := ruletest.Loader(append(executor.Sections(), experiment.Section())...).Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	return set
}

// tracked adds a tracker to a sidecar.
func tracked(l *experiment.Tracker) func(*provider.Server, *sidecar.Config) {
	return func(_ *provider.Server, c *sidecar.Config) {
		c.Watch = []turn.Watch{l.Watch}
		c.Routes = []sidecar.Route{{Pattern: "POST /feedback", Serve: l.ServeFeedback}}
	}
}

const promptOrNot = `experiments:
  - id: prompt
    about: x
    status: running
    arms: {control: {share: 50}, short: {share: 50, set: {prompt: short}}}
    measure: tool_ok
`

// moody is a model that calls read. With the prompt it always asks for a file that is there,
// without it for four in five sessions.
func moody(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		_, _ = io.WriteString(w, `{"data":[{"id":"gpt-oss"}]}`)
		return
	}
	doc, _ := io.ReadAll(r.Body)
	var req struct {
		Messages []struct{ Role, Content string }
		User     string
	}
	_ = json.Unmarshal(doc, &req)
	first, last := req.Messages[0], req.Messages[len(req.Messages)-1]
	reply := `{"role":"assistant","content":"Done."}`
	if last.Role == "user" {
		path := "there.md"
		if first.Role != "system" && strings.HasSuffix(req.User, "0") {
			path = "gone.md"
		}
		reply = fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"id":"c%s","type":"function","function":{"name":"read","arguments":"{\"path\":\"%s\"}"}}]}`, req.User, path)
	}
	_, _ = fmt.Fprintf(w, `{"id":"x","object":"chat.completion","model":"gpt-oss","choices":[{"index":0,"message":%s,"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":20}}`, reply)
}

// session is a caller who asks, runs the call and asks again.
func session(r *provider.Server, n int) (arm string) {
	id := fmt.Sprintf("agent:main:%d", n)
	user := `{"role":"user","content":"Read it."}`
	more := fmt.Sprintf(`"user":"%d",`, n%50)
	a := r.Chat(`{`+more+provider.BothTools+`,"model":"gpt-oss","messages":[`+user+`]}`, "session_id", id)
	if len(a.Calls) != 1 {
		r.T.Errorf("%d %s", a.Status, a.Body)
		return ""
	}
	result := "The text."
	if strings.Contains(a.Calls[0].Args, "gone") {
		result = "Error: no such file"
	}
	call := fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":%q,"type":"function","function":{"name":"read","arguments":%q}}]}`, a.Calls[0].ID, a.Calls[0].Args)
	b := r.Chat(`{`+more+provider.BothTools+`,"model":"gpt-oss","messages":[`+user+
		`,`+call+fmt.Sprintf(`,{"role":"tool","tool_call_id":%q,"content":%q}`, a.Calls[0].ID, result)+`]}`,
		"session_id", id)
	if b.Text != "Done." || b.Header.Get("X-Experiment") != a.Header.Get("X-Experiment") {
		r.T.Errorf("%s %s: %s", a.Header, b.Header, b.Body)
	}
	return a.Header.Get("X-Experiment")
}

func openTracker(t testing.TB, path string, log io.Writer) *experiment.Tracker {
	t.Helper()
	l, err := experiment.OpenTracker(experiment.TrackerConfig{Path: path, Now: time.Now, Metrics: telemetry.New(),
		Log: slog.New(slog.NewTextHandler(log, nil))})
	ruletest.Must(t, err)
	return l
}

// Two prompts, 2,000 sessions, and a model that does better with one of them: the verdict is
// right, counts survive a restart, and sessions keep their arms.
func TestExperiment(t *testing.T) {
	set := trying(t, promptOrNot)
	path := filepath.Join(t.TempDir(), experiment.CountsFile)
	first := openTracker(t, path, io.Discard)
	r := provider.Start(t, provider.Setup{Set: set, Extend: tracked(first)}, http.HandlerFunc(moody))
	n := 2000
	if testing.Short() {
		n = 400
	}
	arms := make([]string, n)
	run := func(from, to int) {
		var wait sync.WaitGroup
		for w := range 8 {
			wait.Go(func() {
				for i := from + w; i < to; i += 8 {
					arms[i] = session(r, i)
				}
			})
		}
		wait.Wait()
	}
	run(0, n/2)
	ruletest.Must(t, first.Save())
	second := openTracker(t, path, io.Discard)
	r = provider.Start(t, provider.Setup{Set: set, Extend: tracked(second)}, http.HandlerFunc(moody))
	if again := session(r, 0); again != arms[0] {
		t.Errorf("a session in %s is in %s after a restart", arms[0], again)
	}
	run(n/2, n)
	report := second.Reports(set)[0]
	if report.Units != n || report.Split < 0.001 || report.Status != "running" {
		t.Errorf("%+v", report)
	}
	words := map[string]string{}
	for _, m := range report.Arms[1].Measures {
		words[m.ID] = m.Words
		if m.ID == "tool_ok" && (m.Value != 1 || int(m.N) < n/3) || m.ID == "tokens" && m.Value != 20 ||
			m.ID == "call_found" && m.Value != 0.5 {
			t.Errorf("%s: %+v", m.ID, m)
		}
	}
	if !testing.Short() && !strings.HasPrefix(words["tool_ok"], "better by ") {
		t.Errorf("tool_ok: %s", words["tool_ok"])
	}
	if words["denied"] != "undecided" || words["failed"] != "undecided" {
		t.Errorf("%v", words)
	}
	if second.Stop(set, "prompt", "enough", "") != nil || session(r, 1) != "" ||
		second.Reports(set)[0].Why != "enough" {
		t.Error("somebody is in it after it was stopped")
	}
	if second.Stop(set, "nope", "x", "") == nil {
		t.Error("what does not exist was stopped")
	}
}

// The guide's experiment with the model server is one that runs: its arm makes tools strict, the other does
// not.
func TestStrictArm(t *testing.T) {
	page, err := os.ReadFile("../../../docs/experiments.md")
	ruletest.Must(t, err)
	_, guide, _ := strings.Cut(string(page), "<!-- strict -->\n\n")
	guide, _, found := strings.Cut(strings.ReplaceAll("\n"+guide, "\n    ", "\n"), "\n<!-- end -->")
	if !found {
		t.Fatal("the page has no part strict")
	}
	var strict atomic.Bool
	r := provider.Start(t, provider.Setup{Server: "vllm", Extend: tracked(openTracker(t, "", io.Discard)),
		Set: trying(t, strings.TrimPrefix(guide, "\nversion: 1\n"))},
		http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			body, _ := io.ReadAll(q.Body)
			strict.Store(strings.Contains(string(body), `"strict":true`))
			q.Body = io.NopCloser(bytes.NewReader(body))
			moody(w, q)
		}))
	seen := map[string]int{}
	for i := range 20 {
		a := r.Chat(provider.Body(provider.BothTools), "session_id", fmt.Sprint("s", i))
		arm := a.Header.Get("X-Experiment")
		if seen[arm]++; strict.Load() != (arm == "strict/strict") {
			t.Errorf("strict is %v in %q", strict.Load(), arm)
		}
	}
	if len(seen) != 2 {
		t.Errorf("%v", seen)
	}
}

// Feedback counts for the arm of the request, and what cannot be read says what to send.
func TestFeedback(t *testing.T) {
	set := trying(t, promptOrNot)
	l := openTracker(t, "", io.Discard)
	r := provider.Start(t, provider.Setup{Set: set, Extend: tracked(l)}, http.HandlerFunc(moody))
	a := r.Chat(provider.Body(provider.BothTools), "session_id", "s", "X-Request-Id", "req-1")
	if a.Header.Get("X-Experiment") == "" {
		t.Fatal(a.Header)
	}
	for body, status := range map[string]int{
		`{"request":"req-1","score":1}`: 200, `{"request":"req-2","score":1}`: 404,
		`{"request":"req-1","score":7}`: 400, `{"request":"req-1"}`: 400, `{`: 400, ``: 400,
	} {
		if got := r.Ask(http.MethodPost, "/feedback", body); got.Status != status {
			t.Errorf("%s: %d %s", body, got.Status, got.Body)
		}
	}
	liked := 0.0
	for _, arm := range l.Reports(set)[0].Arms {
		for _, m := range arm.Measures {
			if m.ID == "liked" {
				liked += m.N
			}
		}
	}
	if liked != 1 {
		t.Errorf("%v liked it", liked)
	}
}

// A shadow reads what was served, and changes nothing; however slow it is, nobody waits.
func TestShadow(t *testing.T) {
	set := trying(t, `experiments:
  - id: blind
    about: x
    status: running
    shadow: true
    arms: {control: {share: 50}, blind: {share: 50, set: {strategies.native.enabled: false}}}
    measure: call_found
`)
	l := openTracker(t, "", io.Discard)
	r := provider.Start(t, provider.Setup{Set: set, Extend: tracked(l)}, http.HandlerFunc(moody))
	for i := range 100 { // nobody reads yet: most are skipped, and all are served
		if arm := session(r, i); arm != "" {
			t.Fatalf("a shadow is an arm: %s", arm)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { l.Shadows(ctx); close(ended) }()
	for n := range 64 { // it rests nine times as long as it reads, which a busy machine draws out
		ruletest.Soon(t, "the shadow has read one more",
			func() bool { s := l.Reports(set)[0].Shadow; return s != nil && s.Read > n })
	}
	stop()
	<-ended
	report := l.Reports(set)[0]
	if s := report.Shadow; s.Differs < 25 || s.Differs > 39 {
		t.Errorf("%+v of 64 differ; every other reply has a call", s)
	}
	if report.Arms[0].Units != 100 || report.Arms[1].Units != 0 {
		t.Errorf("all are served by the first arm: %+v", report.Arms)
	}
}

// Choices of odd numbers, and pieces of calls, are counted as they are read.
func TestOddChoicesAreHeard(t *testing.T) {
	dir := t.TempDir()
	store, err := experiment.OpenCaptures(dir, slog.New(slog.DiscardHandler), time.Now)
	ruletest.Must(t, err)
	l, err := experiment.OpenTracker(experiment.TrackerConfig{Store: store, Now: time.Now, Metrics: telemetry.New(),
		Log: slog.New(slog.DiscardHandler)})
	ruletest.Must(t, err)
	r := provider.Start(t, provider.Setup{Set: trying(t, "capture: {share: 100}\nexperiments: []\n"), Extend: tracked(l)},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				moody(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			for _, choice := range []string{
				`{"index":-1,"delta":{"content":"odd"}}`, `{"index":1000000,"delta":{"content":"odd"}}`,
				`{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"read","arguments":"{\"pa"}}]}}`,
				`{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"th\":\"a\"}"}}]}}`,
				`{"index":0,"delta":{},"finish_reason":"tool_calls"}`,
				`{"index":-1,"delta":{},"finish_reason":"stop"}`,
				`{"index":1000000,"delta":{},"finish_reason":"stop"}`,
			} {
				_, _ = fmt.Fprintf(w, "data: {\"id\":\"x\",\"choices\":[%s]}\n\n", choice)
			}
			_, _ = io.WriteString(w, "data: [DONE]\n\n")
		}))
	if a := r.Stream(); len(a.Calls) != 1 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	ruletest.Must(t, l.Close())
	whole := 0
	_, err = experiment.ReadCaptures(dir, time.Time{}, func(rec *experiment.CaptureRecord) bool {
		doc, _ := json.Marshal(rec)
		if strings.Contains(string(doc), `"arguments":"{\"path\":\"a\"}"`) {
			whole++
		}
		return true
	})
	if err != nil || whole != 1 {
		t.Errorf("%d records with the call as it was said, %v", whole, err)
	}
}

// Replies are recorded by the rule: those for which it holds, with messages only where it asks
// for them, and what a shadow reads otherwise.
func TestCapture(t *testing.T) {
	experiments := `capture: {share: 100, when: calls > 0}
experiments:
  - id: blind
    about: x
    status: running
    shadow: true
    arms: {control: {share: 50}, blind: {share: 50, set: {strategies.native.enabled: false}}}
    measure: call_found
`
	for _, messages := range []bool{false, true} {
		dir := t.TempDir()
		text := experiments
		if messages {
			text = strings.Replace(text, "when: calls > 0", "messages: true, when: differs", 1)
		}
		set := trying(t, text)
		store, err := experiment.OpenCaptures(dir, slog.New(slog.DiscardHandler), time.Now)
		ruletest.Must(t, err)
		l, err := experiment.OpenTracker(experiment.TrackerConfig{Store: store, Now: time.Now, Metrics: telemetry.New(),
			Log: slog.New(slog.DiscardHandler)})
		ruletest.Must(t, err)
		r := provider.Start(t, provider.Setup{Set: set, Extend: tracked(l)}, http.HandlerFunc(moody))
		for i := range 5 {
			session(r, i)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { l.Shadows(ctx); close(ended) }()
		ruletest.Soon(t, "the shadow has read", func() bool { return l.Reports(set)[0].Shadow.Read == 10 })
		stop()
		<-ended
		ruletest.Must(t, l.Close())
		n := 0
		_, err = experiment.ReadCaptures(dir, time.Time{}, func(rec *experiment.CaptureRecord) bool {
			n++
			doc, err := json.Marshal(rec)
			ruletest.Must(t, err)
			if strings.Contains(string(doc), "Read it.") != messages ||
				!strings.Contains(string(doc), "there.md") && !strings.Contains(string(doc), "gone.md") ||
				strings.Contains(string(doc), `"shadow"`) != messages {
				t.Errorf("%s", doc)
			}
			return true
		})
		if err != nil || n != 5 {
			t.Errorf("%d records of 5 calls, %v", n, err)
		}
	}
}
