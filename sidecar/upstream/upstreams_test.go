package upstream_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

const fromHere, fromThere = "From here.", "From there."

func twoBoxes(t testing.TB) (main, far *provider.ModelServer) {
	return provider.ServeModel(t, script.Text(fromHere)), provider.ServeModel(t, script.Text(fromThere))
}

// state is what /readyz and the metrics say of a server; both must say the same.
func state(r *provider.Server, name string) string {
	r.T.Helper()
	var said, counted []string
	ruletest.Soon(r.T, "both say the same of "+name, func() bool { // it may change between them
		said = regexp.MustCompile(`"name":"` + name +
			`","state":"(\w+)"`).FindStringSubmatch(r.Ask(http.MethodGet, "/readyz", "").Body)
		counted = regexp.MustCompile(`upstream_state\{state="(\w+)",upstream="` + name +
			`"\} 1`).FindStringSubmatch(r.Scrape())
		return said != nil && counted != nil && said[1] == counted[1]
	})
	return said[1]
}

// The first serves as long as it is there, then the next one at once; the first is left alone,
// and is back when one request has found out that it is.
func TestSeveral(t *testing.T) {
	for _, mode := range []string{"stream", "whole"} {
		t.Run(mode, func(t *testing.T) {
			main, far := twoBoxes(t)
			r := provider.StartBoth(t, provider.Setup{Limits: func(l *ruleset.Limits) { l.Circuit.Open = 200 * time.Millisecond }},
				main, far)
			expect := func(text, name string) {
				t.Helper()
				a := r.Answer(mode)
				if a.Status != 200 || a.Text != text || a.Header.Get("X-Upstream") != name ||
					strings.Contains(fmt.Sprint(a.Header, a.Body), far.Address) {
					t.Fatalf("want %s of %s: %d %v %s", text, name, a.Status, a.Header, a.Body)
				}
				if lines := r.Log.Lines("request_served"); !strings.Contains(lines[len(lines)-1],
					"upstream="+name) {
					t.Errorf("%v", lines)
				}
			}
			expect(fromHere, "main")
			main.Off()
			for range 4 {
				expect(fromThere, "far")
			}
			if n := r.Log.Count("circuit_opened"); n < 1 {
				t.Errorf("opened %d times", n)
			}
			main.On()
			ruletest.Soon(t, "the first one is back", func() bool { return r.Answer(mode).Text == fromHere })
			expect(fromHere, "main")
			if r.Log.Count("circuit_closed") != 1 || state(r, "main") != "closed" ||
				state(r, "far") != "closed" {
				t.Errorf("%s", r.Log)
			}
		})
	}
}

// A server that failed too often is not asked, and says so.
func TestLeftAlone(t *testing.T) {
	main, far := provider.ServeModel(t, script.Fail(500, "CUDA error")), provider.ServeModel(t, script.Text(fromThere))
	r := provider.StartBoth(t, provider.Setup{}, main, far)
	for range 5 {
		if a := r.Whole(); a.Text != fromThere {
			t.Fatalf("%s", a.Body)
		}
	}
	if main.Asked() != 2 || far.Asked() != 5 || state(r, "main") != "open" || state(r, "far") != "closed" {
		t.Errorf("asked %d and %d times", main.Asked(), far.Asked())
	}
	if m := r.Scrape(); !strings.Contains(m,
		`upstream_requests_total{outcome="failed",upstream="main"} 2`) ||
		!strings.Contains(m, `upstream_requests_total{outcome="served",upstream="far"} 5`) {
		t.Error(m)
	}
	if a := r.Ask(http.MethodGet, "/readyz", ""); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// What a server says of itself makes the next one answer. What it says of the request, or what
// the model wrote, does not.
func TestWhenTheNextIsAsked(t *testing.T) {
	busy := script.Fail(429, "Too many requests")
	busy.Retry = "30"
	for _, row := range []struct {
		name        string
		reply       script.Reply
		main, far   int // requests
		text, state string
	}{
		{"500", script.Fail(500, "CUDA error"), 1, 1, fromThere, "open"},
		{"503", script.Fail(503, "Loading model"), 1, 1, fromThere, "open"},
		{"401", script.Fail(401, "Unauthorized"), 1, 1, fromThere, "open"},
		{"429", busy, 1, 1, fromThere, "closed"},
		{"no such model", script.Fail(404, "The model does not exist"), 1, 1, fromThere, "closed"},
		{"reset", script.Reply{End: script.Reset}, 2, 1, fromThere, "open"},
		{"silence", script.Reply{End: script.Hang}, 1, 1, fromThere, "open"},
		{"an error in a stream", script.Reply{End: script.Fault, Err: script.Error{Message: "CUDA error"}}, 1, 1, fromThere, "open"},
		{"no model server", script.Reply{Body: "<html>Hello</html>"}, 1, 1, fromThere, "open"},
		{"400", script.Fail(400, "temperature must be a number"), 1, 0, "", "closed"},
		{"too long", script.Fail(400, "This model's maximum context length is 10 tokens. However, you requested 20 tokens."), 1, 0, "", "closed"},
		{"HarmonyError", script.HarmonyError(), 3, 0, "", "closed"},
		{"empty", script.Empty(), 3, 0, "", "closed"},
		{"breaks behind text", script.Text("It is").Ending(script.Short), 1, 0, "It is", "closed"},
	} {
		for _, mode := range []string{"stream", "whole"} {
			t.Run(row.name+", "+mode, func(t *testing.T) {
				if mode == "whole" && row.reply.End != script.Done &&
					row.reply.Content+row.reply.Err.Message != "" {
					t.Skip("a document has no middle")
				}
				t.Parallel() // one waits for the limit
				main, far := provider.ServeModel(t, row.reply), provider.ServeModel(t, script.Text(fromThere))
				r := provider.StartBoth(t, provider.Setup{Server: "vllm",
					Limits: func(l *ruleset.Limits) {
						if l.Circuit.Failures = 1; row.reply.End == script.Hang {
							l.FirstByte = 3 * time.Second // the other server must answer within it, too
						}
					}}, main, far)
				a := r.Plain(mode)
				if a.Text != row.text || main.Asked() != row.main || far.Asked() != row.far {
					t.Errorf("%q, asked %d and %d times: %s\n%s", a.Text, main.Asked(), far.Asked(), a.Body,
						r.Log)
				}
				if got := state(r, "main"); got != row.state {
					t.Errorf("it is %s, want %s", got, row.state)
				}
			})
		}
	}
}

// A session stays where its prompt cache is: with the first while that is well, and with the
// next also when the first is back. Others begin at the first.
func TestSessionStays(t *testing.T) {
	main, far := twoBoxes(t)
	r := provider.StartBoth(t, provider.Setup{Limits: func(l *ruleset.Limits) { l.Circuit.Open = 50 * time.Millisecond }}, main,
		far)
	of := func(session string) string {
		return r.Chat(provider.Body(provider.BothTools), "session_id", session).Text
	}
	if got := of("a"); got != fromHere {
		t.Fatal(got)
	}
	main.Off()
	if got := of("a"); got != fromThere {
		t.Fatal(got)
	}
	main.On()
	ruletest.Soon(t, "the first is back", func() bool { return r.Whole().Text == fromHere })
	if a, b := of("a"), of("b"); a != fromThere || b != fromHere {
		t.Errorf("%q %q", a, b)
	}
	far.Off()
	if a := of("a"); a != fromHere {
		t.Errorf("%q", a)
	}
}

// Where none is there, callers learn when to come again, and no address.
func TestAllOpen(t *testing.T) {
	main, far := twoBoxes(t)
	r := provider.StartBoth(t, provider.Setup{Key: provider.UpstreamKey}, main, far)
	r.Whole()
	main.Off()
	far.Off()
	for range 2 {
		r.Plain("whole")
	}
	for i, mode := range []string{"stream", "whole"} {
		a := r.Answer(mode)
		if a.Status != 503 || a.Fault.Code != "upstream_unreachable" ||
			a.Header.Get("Retry-After") != "3600" ||
			!strings.Contains(a.Fault.Message,
				fmt.Sprintf("main failed %[1]d times in a row, far failed %[1]d times in a row", 3+i)) {
			t.Errorf("%s: %d %v %s", mode, a.Status, a.Header, a.Body)
		}
		r.NoSecret(a)
	}
	if a := r.Ask(http.MethodGet, "/readyz", ""); a.Status != 503 || state(r, "main") != "open" ||
		state(r, "far") != "open" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// Servers that failed some requests, and are there, are asked, whatever their circuits say: main and then
// far.
func TestAllOpenAndWell(t *testing.T) {
	sick := script.Fail(500, "CUDA error")
	main, far := provider.ServeModel(t, sick), provider.ServeModel(t, sick, sick, script.Text(fromThere))
	r := provider.StartBoth(t, provider.Setup{}, main, far)
	for _, mode := range []string{"stream", "whole"} {
		if a := r.Plain(mode); a.Status != 502 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	if state(r, "main") != "open" || state(r, "far") != "open" {
		t.Fatal("their circuits are not open")
	}
	if a := r.Whole(); a.Text != fromThere || state(r, "main") != "open" || state(r, "far") != "closed" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// Of two errors a caller gets the one at which waiting helps, and the shorter wait, whichever server said it.
func TestBetterError(t *testing.T) {
	busy := func(after string) script.Reply {
		r := script.Fail(429, "Too many requests")
		r.Retry = after
		return r
	}
	key, none, sick := script.Fail(401, "Unauthorized"), script.Fail(404,
		"The model does not exist"), script.Fail(500, "CUDA error")
	for _, row := range []struct {
		one, two script.Reply
		status   int
		after    string
	}{
		{busy("3600"), busy("7"), 429, "7"},
		{key, busy("7"), 429, "7"},
		{none, busy("7"), 429, "7"},
		{busy("3600"), sick, 502, ""},
	} {
		for _, pair := range [][2]script.Reply{{row.one, row.two}, {row.two, row.one}} {
			r := provider.StartBoth(t, provider.Setup{Limits: func(l *ruleset.Limits) { l.Retries = 0 }}, provider.ServeModel(t, pair[0]),
				provider.ServeModel(t, pair[1]))
			a := r.Plain("whole")
			if a.Status != row.status || a.Header.Get("Retry-After") != row.after {
				t.Errorf("%s and %s: %d %s %s", pair[0].Err.Message, pair[1].Err.Message, a.Status,
					a.Header.Get("Retry-After"), a.Body)
			}
		}
	}
}

// Servers that are off are said to be, as one server is: nobody is asked to come again for nothing.
func TestAllAway(t *testing.T) {
	main, far := twoBoxes(t)
	r := provider.StartBoth(t, provider.Setup{Limits: func(l *ruleset.Limits) {
		l.Away, l.Circuit.Open = 50*time.Millisecond, 20*time.Millisecond
	}}, main, far)
	r.Whole()
	main.Off()
	far.Off()
	ruletest.Soon(t, "they are away", func() bool { return r.Plain("whole").Fault.Code == "upstream_away" })
	for range 5 { // whether they are tried or left alone
		for _, mode := range []string{"stream", "whole"} {
			if a := r.Answer(mode); a.Status != 200 || !strings.Contains(a.Text, "cannot be reached") {
				t.Errorf("%s: %d %s", mode, a.Status, a.Body)
			}
		}
		time.Sleep(7 * time.Millisecond) // a circuit is open for ten
	}
	far.On()
	ruletest.Soon(t, "one is back", func() bool { return r.Whole().Text == fromThere })
}

// The retries of one request are for all of its servers together.
func TestRetriesOfSeveral(t *testing.T) {
	main, far := provider.ServeModel(t, script.Fail(503, "Loading model")), provider.ServeModel(t, script.Fail(503, "Loading model"))
	r := provider.StartBoth(t, provider.Setup{}, main, far)
	if a := r.Whole(); a.Status != 502 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if n := main.Asked() + far.Asked(); main.Asked() != 1 || n != 1+r.Rules.Set().Limits.Retries {
		t.Errorf("asked %d and %d times", main.Asked(), far.Asked())
	}
}

// Each server is spoken to in its own dialect, gets its own name of the model, and its own key.
func TestSeveralDialects(t *testing.T) {
	main, far := provider.ServeModel(t, script.Fail(500, "CUDA error")), provider.ServeModel(t, script.Text(fromThere))
	far.Model.Dialect = servers.OldVLLM()
	far.Model.Dialect.Pages["/v1/models"] = `{"object":"list","data":[{"id":"my/gpt-oss-20b-mxfp4","owned_by":"vllm","max_model_len":4096}]}`
	r := provider.StartBoth(t, provider.Setup{Key: provider.UpstreamKey}, main, far)
	body := `{"model":"gpt-oss-20b","messages":[{"role":"user","content":"go"},{"role":"assistant","content":"","reasoning":"Hm.","tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},{"role":"tool","tool_call_id":"c","content":"x"}],` + provider.BothTools + `}`
	if a := r.Chat(body); a.Text != fromThere {
		t.Fatalf("%s", a.Body)
	}
	here, there := main.Model.Requests("")[0], far.Model.Requests("")[0]
	if here.Model != "openai/gpt-oss-20b" || there.Model != "my/gpt-oss-20b-mxfp4" {
		t.Errorf("%s, %s", here.Model, there.Model)
	}
	if here.Header.Get("Authorization") != "Bearer "+provider.UpstreamKey || there.Header.Get("Authorization") != "" {
		t.Errorf("%q, %q", here.Header.Get("Authorization"), there.Header.Get("Authorization"))
	}
	if log := r.Log.String(); !strings.Contains(log, "event=upstream_changed") ||
		!strings.Contains(log, "from=main to=far") {
		t.Error(log)
	}
}

// A server that lacks the model is passed by.
func TestModelElsewhere(t *testing.T) {
	main, far := twoBoxes(t)
	main.Model.Dialect.Pages["/v1/models"] = `{"object":"list","data":[{"id":"llama-3-8b"},{"id":"qwen"}]}`
	r := provider.StartBoth(t, provider.Setup{}, main, far)
	if a := r.Whole(); a.Text != fromThere || main.Asked() != 0 {
		t.Errorf("%s", a.Body)
	}
	if a := r.Ask(http.MethodGet, "/readyz", ""); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// A correction goes on where the first reply came from, or with the next one.
func TestCorrectionMoves(t *testing.T) {
	main, far := provider.ServeModel(t, servers.OnlyThought("Hm."), script.Fail(500, "CUDA error")), provider.ServeModel(t,
		script.Text(fromThere))
	r := provider.StartBoth(t, provider.Setup{}, main, far)
	if a := r.Stream(); a.Text != fromThere {
		t.Fatalf("%s", a.Body)
	}
	last := far.Model.Requests("")[0].Messages
	if !strings.Contains(last[len(last)-1].Text, "neither answered nor called a tool") {
		t.Errorf("%+v", last)
	}
}

// A caller who leaves while one finds out whether a server is back says nothing of it: the next
// one tries again.
func TestTrialIsGivenBack(t *testing.T) {
	slow, ended := script.Text(fromHere), make(chan struct{})
	defer close(ended)
	slow.Until = ended
	main, far := provider.ServeModel(t, script.Fail(500, "x"), script.Fail(500, "x"), slow), provider.ServeModel(t,
		script.Text(fromThere))
	r := provider.StartBoth(t, provider.Setup{Limits: func(l *ruleset.Limits) { l.Circuit.Open = 10 * time.Millisecond }}, main,
		far)
	r.Whole()
	r.Whole()
	time.Sleep(20 * time.Millisecond) // the circuit has been open for its time
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked, failed := main.Asked(), make(chan error, 1)
	go func() {
		res, err := r.Do(ctx, http.MethodPost, "/v1/chat/completions", provider.Body(provider.BothTools))
		if err == nil {
			res.Body.Close()
		}
		failed <- err
	}()
	ruletest.Soon(t, "the trial has begun", func() bool { return main.Asked() > asked })
	cancel()
	if err := <-failed; err == nil {
		t.Fatal("it answered")
	}
	ruletest.Soon(t, "the trial is given back",
		func() bool { return strings.Contains(r.Scrape(), `{outcome="left",upstream="main"} 1`) })
	if got := state(r, "main"); got != "half_open" {
		t.Error(got)
	}
	main.Model = script.New(script.Scenario{Steps: []script.Reply{script.Text(fromHere)}, Loop: true})
	main.Off()
	main.On()
	if a := r.Whole(); a.Text != fromHere || state(r, "main") != "closed" {
		t.Errorf("%s", a.Body)
	}
}

// One of two is switched off and on, again and again, under load. No request fails of which
// nothing had come.
func TestKilledUnderLoad(t *testing.T) {
	slow := func(text string) script.Reply { r := script.Text(text); r.Pause = time.Millisecond; return r }
	main, far := provider.ServeModel(t, slow(fromHere)), provider.ServeModel(t, slow(fromThere))
	r := provider.StartBoth(t, provider.Setup{Limits: func(l *ruleset.Limits) { l.Circuit.Open = 20 * time.Millisecond }}, main,
		far)
	ctx, stop := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	var mu sync.Mutex
	served, broken := map[string]int{}, 0
	for i := range 6 {
		callers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				body, header := provider.Body(provider.BothTools), []string{}
				if i%2 == 0 {
					body = provider.Body(provider.Streaming + "," + provider.BothTools)
				}
				if i%3 == 0 {
					header = []string{"session_id", fmt.Sprint("s", i, n/5)}
				}
				a := r.Chat(body, header...)
				mu.Lock()
				switch {
				case a.Text == fromHere || a.Text == fromThere:
					served[a.Text]++
				case a.Roles > 0 && a.Fault.Code == "stream_error": // it broke behind its first words, shown or held
					broken++
				default:
					t.Errorf("caller %d, request %d: %d %q %s", i, n, a.Status, a.Text, a.Body)
				}
				mu.Unlock()
			}
		})
	}
	more := func() { // answers: the load goes on
		t.Helper()
		count := func() int {
			mu.Lock()
			defer mu.Unlock()
			return served[fromHere] + served[fromThere] + broken
		}
		before := count()
		ruletest.Soon(t, "more are answered", func() bool { return count() > before+12 })
	}
	for _, b := range []*provider.ModelServer{main, main, far, main, far} {
		more()
		b.Off()
		more()
		b.On()
		ruletest.Soon(t, "all are well", func() bool {
			r.Whole()
			return state(r, "main") == "closed" && state(r, "far") != "open"
		})
	}
	stop()
	callers.Wait()
	t.Logf("served %v; %d broke behind their first words", served, broken)
	if served[fromHere] == 0 || served[fromThere] == 0 {
		t.Errorf("%v", served)
	}
}

// The key of a server goes to that server, however the rules spell its address.
func TestKeysOfSeveral(t *testing.T) {
	main, far := provider.ServeModel(t, script.Fail(500, "x")), provider.ServeModel(t, script.Text(fromThere))
	r := provider.StartBoth(t, provider.Setup{Key: provider.UpstreamKey, Keys: upstream.FleetKeys{"http://" + far.Address + "/v1": "key-of-far"}},
		main, far)
	if a := r.Whole(); a.Text != fromThere {
		t.Fatalf("%s", a.Body)
	}
	if got := far.Model.Requests("")[0].Header.Get("Authorization"); got != "Bearer key-of-far" {
		t.Error(got)
	}
	if got := main.Model.Requests("")[0].Header.Get("Authorization"); got != "Bearer "+provider.UpstreamKey {
		t.Error(got)
	}
}
