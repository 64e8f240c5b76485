package sidecar

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/fleet"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// box is a machine with a model server. It can be switched off and on.
type box struct {
	t       testing.TB
	model   *script.Server
	address string
	srv     *httptest.Server
}

// boxed is a box whose model says the same for ever.
func boxed(t testing.TB, replies ...script.Reply) *box {
	t.Helper()
	b := &box{t: t, model: script.New(script.Scenario{Steps: replies, Loop: true}), address: "127.0.0.1:0"}
	b.on()
	b.address = b.srv.Listener.Addr().String()
	t.Cleanup(b.off)
	return b
}

func (b *box) on() {
	b.t.Helper()
	l, err := net.Listen("tcp", b.address)
	if err != nil {
		b.t.Fatal(err)
	}
	b.srv = &httptest.Server{Listener: l, Config: &http.Server{Handler: b.model}}
	b.srv.Start()
}

// off drops all connections, as a machine does that loses its power.
func (b *box) off() {
	b.srv.CloseClientConnections()
	b.srv.Close()
}

func (b *box) asked() int { return len(b.model.Requests("")) }

// beside starts a sidecar whose models are served by both: main first, then far.
func beside(t testing.TB, cfg setup, main, far *box) *rig {
	t.Helper()
	set := *ruletest.Shipped(t, sections()...)
	set.Upstreams = []ruleset.Upstream{{Name: ruleset.Main}, {Name: "far", URL: "http://" + far.address}}
	set.Models = append([]ruleset.Model(nil), set.Models...)
	for i := range set.Models {
		set.Models[i].Upstreams = []rulefile.Text{{Value: ruleset.Main}, {Value: "far"}}
	}
	more := cfg.limits
	cfg.set, cfg.url, cfg.limits = &set, "http://"+main.address, func(l *ruleset.Limits) {
		l.Circuit.Failures, l.Circuit.Open = 2, time.Hour
		if more != nil {
			more(l)
		}
	}
	return start(t, cfg, nil)
}

const fromHere, fromThere = "From here.", "From there."

func twoBoxes(t testing.TB) (main, far *box) {
	return boxed(t, script.Text(fromHere)), boxed(t, script.Text(fromThere))
}

// state is what /readyz and the metrics say of a server; both must say the same.
func (r *rig) state(name string) string {
	r.t.Helper()
	var said, counted []string
	ruletest.Soon(r.t, "both say the same of "+name, func() bool { // it may change between them
		said = regexp.MustCompile(`"name":"` + name +
			`","state":"(\w+)"`).FindStringSubmatch(r.ask(http.MethodGet, "/readyz", "").body)
		counted = regexp.MustCompile(`upstream_state\{state="(\w+)",upstream="` + name +
			`"\} 1`).FindStringSubmatch(r.metrics())
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
			r := beside(t, setup{limits: func(l *ruleset.Limits) { l.Circuit.Open = 200 * time.Millisecond }},
				main, far)
			expect := func(text, name string) {
				t.Helper()
				a := r.answer(mode)
				if a.status != 200 || a.text != text || a.header.Get("X-Upstream") != name ||
					strings.Contains(fmt.Sprint(a.header, a.body), far.address) {
					t.Fatalf("want %s of %s: %d %v %s", text, name, a.status, a.header, a.body)
				}
				if lines := r.log.Lines("request_served"); !strings.Contains(lines[len(lines)-1],
					"upstream="+name) {
					t.Errorf("%v", lines)
				}
			}
			expect(fromHere, "main")
			main.off()
			for range 4 {
				expect(fromThere, "far")
			}
			if n := r.log.Count("circuit_opened"); n < 1 {
				t.Errorf("opened %d times", n)
			}
			main.on()
			ruletest.Soon(t, "the first one is back", func() bool { return r.answer(mode).text == fromHere })
			expect(fromHere, "main")
			if r.log.Count("circuit_closed") != 1 || r.state("main") != "closed" ||
				r.state("far") != "closed" {
				t.Errorf("%s", r.log)
			}
		})
	}
}

// A server that failed too often is not asked, and says so.
func TestLeftAlone(t *testing.T) {
	main, far := boxed(t, script.Fail(500, "CUDA error")), boxed(t, script.Text(fromThere))
	r := beside(t, setup{}, main, far)
	for range 5 {
		if a := r.whole(); a.text != fromThere {
			t.Fatalf("%s", a.body)
		}
	}
	if main.asked() != 2 || far.asked() != 5 || r.state("main") != "open" || r.state("far") != "closed" {
		t.Errorf("asked %d and %d times", main.asked(), far.asked())
	}
	if m := r.metrics(); !strings.Contains(m,
		`upstream_requests_total{outcome="failed",upstream="main"} 2`) ||
		!strings.Contains(m, `upstream_requests_total{outcome="served",upstream="far"} 5`) {
		t.Error(m)
	}
	if a := r.ask(http.MethodGet, "/readyz", ""); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
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
				main, far := boxed(t, row.reply), boxed(t, script.Text(fromThere))
				r := beside(t, setup{server: "vllm",
					limits: func(l *ruleset.Limits) {
						l.Circuit.Failures, l.FirstByte = 1, 300*time.Millisecond
					}}, main, far)
				a := r.plain(mode)
				if a.text != row.text || main.asked() != row.main || far.asked() != row.far {
					t.Errorf("%q, asked %d and %d times: %s\n%s", a.text, main.asked(), far.asked(), a.body,
						r.log)
				}
				if got := r.state("main"); got != row.state {
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
	r := beside(t, setup{limits: func(l *ruleset.Limits) { l.Circuit.Open = 50 * time.Millisecond }}, main,
		far)
	of := func(session string) string {
		return r.chat(asking(bothTool), "session_id", session).text
	}
	if got := of("a"); got != fromHere {
		t.Fatal(got)
	}
	main.off()
	if got := of("a"); got != fromThere {
		t.Fatal(got)
	}
	main.on()
	ruletest.Soon(t, "the first is back", func() bool { return r.whole().text == fromHere })
	if a, b := of("a"), of("b"); a != fromThere || b != fromHere {
		t.Errorf("%q %q", a, b)
	}
	far.off()
	if a := of("a"); a != fromHere {
		t.Errorf("%q", a)
	}
}

// Where none is there, callers learn when to come again, and no address.
func TestAllOpen(t *testing.T) {
	main, far := twoBoxes(t)
	r := beside(t, setup{key: upstreamKey}, main, far)
	r.whole()
	main.off()
	far.off()
	for range 2 {
		r.plain("whole")
	}
	for i, mode := range []string{"stream", "whole"} {
		a := r.answer(mode)
		if a.status != 503 || a.fault.Code != "upstream_unreachable" ||
			a.header.Get("Retry-After") != "3600" ||
			!strings.Contains(a.fault.Message,
				fmt.Sprintf("main failed %[1]d times in a row, far failed %[1]d times in a row", 3+i)) {
			t.Errorf("%s: %d %v %s", mode, a.status, a.header, a.body)
		}
		r.noSecret(a)
	}
	if a := r.ask(http.MethodGet, "/readyz", ""); a.status != 503 || r.state("main") != "open" ||
		r.state("far") != "open" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// Servers that failed some requests, and are there, are asked, whatever their circuits say: main and then
// far.
func TestAllOpenAndWell(t *testing.T) {
	sick := script.Fail(500, "CUDA error")
	main, far := boxed(t, sick), boxed(t, sick, sick, script.Text(fromThere))
	r := beside(t, setup{}, main, far)
	for _, mode := range []string{"stream", "whole"} {
		if a := r.plain(mode); a.status != 502 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if r.state("main") != "open" || r.state("far") != "open" {
		t.Fatal("their circuits are not open")
	}
	if a := r.whole(); a.text != fromThere || r.state("main") != "open" || r.state("far") != "closed" {
		t.Errorf("%d %s", a.status, a.body)
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
			r := beside(t, setup{limits: func(l *ruleset.Limits) { l.Retries = 0 }}, boxed(t, pair[0]),
				boxed(t, pair[1]))
			a := r.plain("whole")
			if a.status != row.status || a.header.Get("Retry-After") != row.after {
				t.Errorf("%s and %s: %d %s %s", pair[0].Err.Message, pair[1].Err.Message, a.status,
					a.header.Get("Retry-After"), a.body)
			}
		}
	}
}

// Servers that are off are said to be, as one server is: nobody is asked to come again for nothing.
func TestAllAway(t *testing.T) {
	main, far := twoBoxes(t)
	r := beside(t, setup{limits: func(l *ruleset.Limits) {
		l.Away, l.Circuit.Open = 50*time.Millisecond, 20*time.Millisecond
	}}, main, far)
	r.whole()
	main.off()
	far.off()
	ruletest.Soon(t, "they are away", func() bool { return r.plain("whole").fault.Code == "upstream_away" })
	for range 5 { // whether they are tried or left alone
		for _, mode := range []string{"stream", "whole"} {
			if a := r.answer(mode); a.status != 200 || !strings.Contains(a.text, "cannot be reached") {
				t.Errorf("%s: %d %s", mode, a.status, a.body)
			}
		}
		time.Sleep(7 * time.Millisecond)
	}
	far.on()
	ruletest.Soon(t, "one is back", func() bool { return r.whole().text == fromThere })
}

// The retries of one request are for all of its servers together.
func TestRetriesOfSeveral(t *testing.T) {
	main, far := boxed(t, script.Fail(503, "Loading model")), boxed(t, script.Fail(503, "Loading model"))
	r := beside(t, setup{}, main, far)
	if a := r.whole(); a.status != 502 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if n := main.asked() + far.asked(); main.asked() != 1 || n != 1+r.s.rules.Set().Limits.Retries {
		t.Errorf("asked %d and %d times", main.asked(), far.asked())
	}
}

// Each server is spoken to in its own dialect, gets its own name of the model, and its own key.
func TestSeveralDialects(t *testing.T) {
	main, far := boxed(t, script.Fail(500, "CUDA error")), boxed(t, script.Text(fromThere))
	far.model.Dialect = script.OldVLLM()
	far.model.Dialect.Pages["/v1/models"] = `{"object":"list","data":[{"id":"my/gpt-oss-20b-mxfp4","owned_by":"vllm","max_model_len":4096}]}`
	r := beside(t, setup{key: upstreamKey}, main, far)
	body := `{"model":"gpt-oss-20b","messages":[{"role":"user","content":"go"},{"role":"assistant","content":"","reasoning":"Hm.","tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},{"role":"tool","tool_call_id":"c","content":"x"}],` + bothTool + `}`
	if a := r.chat(body); a.text != fromThere {
		t.Fatalf("%s", a.body)
	}
	here, there := main.model.Requests("")[0], far.model.Requests("")[0]
	if here.Model != "openai/gpt-oss-20b" || there.Model != "my/gpt-oss-20b-mxfp4" {
		t.Errorf("%s, %s", here.Model, there.Model)
	}
	if here.Header.Get("Authorization") != "Bearer "+upstreamKey || there.Header.Get("Authorization") != "" {
		t.Errorf("%q, %q", here.Header.Get("Authorization"), there.Header.Get("Authorization"))
	}
	if log := r.log.String(); !strings.Contains(log, "event=upstream_changed") ||
		!strings.Contains(log, "from=main to=far") {
		t.Error(log)
	}
}

// A server that lacks the model is passed by.
func TestModelElsewhere(t *testing.T) {
	main, far := twoBoxes(t)
	main.model.Dialect.Pages["/v1/models"] = `{"object":"list","data":[{"id":"llama-3-8b"},{"id":"qwen"}]}`
	r := beside(t, setup{}, main, far)
	if a := r.whole(); a.text != fromThere || main.asked() != 0 {
		t.Errorf("%s", a.body)
	}
	if a := r.ask(http.MethodGet, "/readyz", ""); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// A correction goes on where the first reply came from, or with the next one.
func TestCorrectionMoves(t *testing.T) {
	main, far := boxed(t, script.OnlyThought("Hm."), script.Fail(500, "CUDA error")), boxed(t,
		script.Text(fromThere))
	r := beside(t, setup{}, main, far)
	if a := r.stream(); a.text != fromThere {
		t.Fatalf("%s", a.body)
	}
	last := far.model.Requests("")[0].Messages
	if len(last) < 2 || !strings.Contains(last[len(last)-1].Text, "neither answered nor called a tool") {
		t.Errorf("%+v", last)
	}
}

// A caller who leaves while one finds out whether a server is back says nothing of it: the next
// one tries again.
func TestTrialIsGivenBack(t *testing.T) {
	slow := script.Text(fromHere)
	slow.Delay = 300 * time.Millisecond
	main, far := boxed(t, script.Fail(500, "x"), script.Fail(500, "x"), slow), boxed(t,
		script.Text(fromThere))
	r := beside(t, setup{limits: func(l *ruleset.Limits) { l.Circuit.Open = 10 * time.Millisecond }}, main,
		far)
	r.whole()
	r.whole()
	time.Sleep(20 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if res, err := r.do(ctx, http.MethodPost, "/v1/chat/completions", asking(bothTool)); err == nil {
		res.Body.Close()
		t.Fatal("it answered")
	}
	ruletest.Soon(t, "the trial is given back",
		func() bool { return strings.Contains(r.metrics(), `{outcome="left",upstream="main"} 1`) })
	if got := r.state("main"); got != "half_open" {
		t.Error(got)
	}
	main.model = script.New(script.Scenario{Steps: []script.Reply{script.Text(fromHere)}, Loop: true})
	main.off()
	main.on()
	if a := r.whole(); a.text != fromHere || r.state("main") != "closed" {
		t.Errorf("%s", a.body)
	}
}

// One of two is switched off and on, again and again, under load. No request fails of which
// nothing had come.
func TestKilledUnderLoad(t *testing.T) {
	slow := func(text string) script.Reply { r := script.Text(text); r.Pause = time.Millisecond; return r }
	main, far := boxed(t, slow(fromHere)), boxed(t, slow(fromThere))
	r := beside(t, setup{limits: func(l *ruleset.Limits) { l.Circuit.Open = 20 * time.Millisecond }}, main,
		far)
	ctx, stop := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	var mu sync.Mutex
	served, broken := map[string]int{}, 0
	for i := range 6 {
		callers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				body, header := asking(bothTool), []string{}
				if i%2 == 0 {
					body = asking(streaming + "," + bothTool)
				}
				if i%3 == 0 {
					header = []string{"session_id", fmt.Sprint("s", i, n/5)}
				}
				a := r.chat(body, header...)
				mu.Lock()
				switch {
				case a.text == fromHere || a.text == fromThere:
					served[a.text]++
				case a.text != "" && a.fault.Code == "stream_error": // it broke behind its first words
					broken++
				default:
					t.Errorf("caller %d, request %d: %d %q %s", i, n, a.status, a.text, a.body)
				}
				mu.Unlock()
			}
		})
	}
	for _, b := range []*box{main, main, far, main, far} {
		time.Sleep(150 * time.Millisecond)
		b.off()
		time.Sleep(150 * time.Millisecond)
		b.on()
		ruletest.Soon(t, "all are well", func() bool {
			r.whole()
			return r.state("main") == "closed" && r.state("far") != "open"
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
	main, far := boxed(t, script.Fail(500, "x")), boxed(t, script.Text(fromThere))
	r := beside(t, setup{key: upstreamKey, keys: fleet.Keys{"http://" + far.address + "/v1": "key-of-far"}},
		main, far)
	if a := r.whole(); a.text != fromThere {
		t.Fatalf("%s", a.body)
	}
	if got := far.model.Requests("")[0].Header.Get("Authorization"); got != "Bearer key-of-far" {
		t.Error(got)
	}
	if got := main.model.Requests("")[0].Header.Get("Authorization"); got != "Bearer "+upstreamKey {
		t.Error(got)
	}
}
