package run_test

import (
	"context"
	"fmt"
	"net/http/httptest"
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
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// on starts a sidecar on the journal of a folder, as another process would.
func on(t *testing.T, dir string, b run.Source, edit func(*run.Runs), replies ...script.Reply) *executor.Server {
	t.Helper()
	j, err := run.OpenJournal(run.JournalConfig{Dir: dir, Now: time.Now})
	ruletest.Must(t, err)
	set := *ruletest.Shipped(t, executor.Sections()...)
	if edit != nil {
		edit(ruleset.Of[run.Runs](&set))
	}
	return executor.Start(t, provider.Setup{Set: &set}, b, j,
		script.New(script.Scenario{Steps: replies}))
}

// as copies a journal as a killed process leaves it.
func as(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "runs")
	ruletest.Must(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}

// leaver is a bench during whose first call the caller leaves.
type leaver struct {
	*provider.Source
	leave func()
}

func (l leaver) Run(ctx context.Context, id string, c *guard.AllowedCall) tools.Result {
	res := l.Source.Run(ctx, id, c)
	if len(l.Calls()) == 1 {
		l.leave()
		<-ctx.Done()
	}
	return res
}

func leaves() (leaver, context.Context) {
	ctx, leave := context.WithCancel(context.Background())
	return leaver{&provider.Source{}, leave}, ctx
}

const twoFiles = `{"model":"executor","messages":[{"role":"user","content":"write two files"}]}`

func writes(paths ...string) script.Reply {
	reply := script.Native("write", `{"path":"`+paths[0]+`","content":"x"}`)
	for _, p := range paths[1:] {
		reply.Calls = append(reply.Calls, script.Native("write", `{"path":"`+p+`","content":"x"}`).Calls...)
	}
	return reply
}

// left lets a caller leave while the first of two calls runs.
func left(r *executor.Server, ctx context.Context) {
	r.T.Helper()
	if res, err := r.Do(ctx, "POST", "/v1/chat/completions", twoFiles); err == nil {
		res.Body.Close()
		r.T.Fatal("the caller has not left")
	}
	ruletest.Soon(r.T, "the server has noticed",
		func() bool { return strings.Contains(r.Log.String(), "executor_run_end") })
}

// A run that its caller left in the middle of a reply, that went on, and was killed then, goes
// on again: what it did is not done twice.
func TestLeftThenKilled(t *testing.T) {
	b, ctx := leaves()
	dir := t.TempDir()
	r := on(t, dir, b, nil, writes("/tmp/a", "/tmp/b"), writes("/tmp/b"), script.Text("first end"))
	left(r, ctx)
	var killed string
	b.Result = func(string, int) tools.Result {
		killed = as(t, dir)
		return tools.Result{Text: "written"}
	}
	if a := r.Chat(twoFiles); a.Text != "first end" {
		t.Fatalf("%q", a.Text)
	}
	after := &provider.Source{}
	r = on(t, killed, after, nil, script.Text("second end"))
	if a := r.Chat(twoFiles); a.Text != "second end" || len(after.Calls()) != 0 ||
		!strings.Contains(r.Log.String(), "run_resumed") {
		t.Errorf("%q after %q: %s", a.Text, after.Calls(), r.Log.String())
	}
}

// A run that its caller left goes on in the next process, too.
func TestLeftThenRestarted(t *testing.T) {
	b, ctx := leaves()
	dir := t.TempDir()
	left(on(t, dir, b, nil, writes("/tmp/a", "/tmp/b")), ctx)
	after := &provider.Source{}
	r := on(t, as(t, dir), after, nil, script.Text("ok"))
	if a := r.Chat(twoFiles); a.Text != "ok" ||
		fmt.Sprint(after.Calls()) != `[write {"path":"/tmp/b","content":"x"}]` {
		t.Errorf("%q after %q", a.Text, after.Calls())
	}
}

// However often, and however many at once, the same request comes after a restart: nothing is
// done again, and all get the same answer.
func TestRepeatedAfterRestart(t *testing.T) {
	for _, ended := range []bool{true, false} {
		b, dir, killed := &provider.Source{}, t.TempDir(), ""
		r := on(t, dir, b, nil, writes("/tmp/a"), script.Text("ok"))
		b.Result = func(string, int) tools.Result {
			killed = as(t, dir)
			return tools.Result{Text: "written"}
		}
		r.Chat(twoFiles)
		if ended {
			killed = as(t, dir)
		}
		after := &provider.Source{}
		r = on(t, killed, after, nil, script.Text("ok"), writes("/tmp/a"), script.Text("again"))
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				if a := r.Chat(twoFiles); a.Text != "ok" {
					t.Errorf("ended %v: %q", ended, a.Text)
				}
			})
		}
		group.Wait()
		if a := r.Chat(twoFiles); a.Text != "ok" || len(after.Calls()) != 0 {
			t.Errorf("ended %v: %q after %q", ended, a.Text, after.Calls())
		}
	}
}

// A run that another process goes on with is not begun anew: its caller gets no error that
// makes it ask again, and reads what was done.
func TestHeldByAnother(t *testing.T) {
	b, dir := &provider.Source{}, t.TempDir()
	after := &provider.Source{}
	b.Result = func(string, int) tools.Result {
		r := on(t, dir, after, nil, writes("/tmp/a"), script.Text("again"))
		for range 2 {
			if a := r.Chat(twoFiles); a.Status != 200 ||
				!strings.Contains(a.Text, "Another process of this program goes on with it.") ||
				!strings.Contains(a.Text, "- write: /tmp/a") || len(after.Calls()) != 0 {
				t.Errorf("%d %q after %q", a.Status, a.Text, after.Calls())
			}
		}
		return tools.Result{Text: "written"}
	}
	if a := on(t, dir, b, nil, writes("/tmp/a"), script.Text("ok")).Chat(twoFiles); a.Text != "ok" {
		t.Errorf("%q", a.Text)
	}
}

// A process takes over while a run of the one before only reads. The run writes then: the same request
// does not write again, and gets the answer of that run once there is one.
func TestTakenOver(t *testing.T) {
	b, after, dir := &provider.Source{}, &provider.Source{}, t.TempDir()
	var next *executor.Server
	b.Result = func(_ string, n int) tools.Result {
		if n == 1 {
			next = on(t, dir, after, nil, writes("/tmp/a"), script.Text("again"))
		}
		for _, want := range [][]string{1: {"Another process of this server goes on"}, 2: nil,
			3: {"goes on with it", "- write: /tmp/a"}}[n] {
			if a := next.Chat(twoFiles); !strings.Contains(a.Text+a.Fault.Message, want) ||
				a.Status == 200 != (n == 3) {
				t.Errorf("at call %d: %d %q %q", n, a.Status, a.Text, a.Fault.Message)
			}
		}
		return tools.Result{Text: "ok"}
	}
	on(t, dir, b, nil, script.Native("read", `{"path":"/tmp/q"}`), writes("/tmp/a"),
		script.Native("read", `{"path":"/tmp/r"}`), script.Text("the answer")).Chat(twoFiles)
	for range 2 {
		if a := next.Chat(twoFiles); a.Text != "the answer" || len(after.Calls()) != 0 {
			t.Errorf("%d %q after %q", a.Status, a.Text, after.Calls())
		}
	}
}

// The disk is full when what a call came to is to be kept, and the caller leaves. The same request goes on
// with what was not done.
func TestDiskFull(t *testing.T) {
	b, ctx := leaves()
	var full atomic.Bool
	b.Result = func(_ string, times int) tools.Result {
		full.Store(times == 1)
		return tools.Result{Text: "written"}
	}
	j, err := run.OpenJournal(run.JournalConfig{Dir: t.TempDir(), Now: func() time.Time {
		if full.Load() {
			return time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) // no record can have it
		}
		return time.Now()
	}})
	ruletest.Must(t, err)
	r := executor.Start(t, provider.Setup{}, b, j,
		script.New(script.Scenario{Steps: []script.Reply{writes("/tmp/a", "/tmp/b", "/tmp/a"),
			script.Text("ok")}}))
	left(r, ctx)
	full.Store(false)
	if a := r.Chat(twoFiles); a.Text != "ok" ||
		fmt.Sprint(b.Calls()) != `[write {"path":"/tmp/a","content":"x"} write {"path":"/tmp/b","content":"x"}]` {
		t.Errorf("%d %q after %q", a.Status, a.Text, b.Calls())
	}
	if sent := fmt.Sprint(r.Model.Requests("")); strings.Contains(sent, "You have sent this call") {
		t.Errorf("a call that ran once is counted twice: %s", sent)
	}
}

// The warning that a call comes again and again stands in the talk of a run that goes on after a crash, too.
func TestWarnedAfterRestart(t *testing.T) {
	b, dir, killed := &provider.Source{}, t.TempDir(), ""
	b.Result = func(_ string, times int) tools.Result {
		if times == 3 {
			killed = as(t, dir)
		}
		return tools.Result{Text: "written"}
	}
	r := on(t, dir, b, nil, writes("/tmp/a"), writes("/tmp/a"), writes("/tmp/b"), script.Text("ok"))
	r.Chat(twoFiles)
	next := on(t, killed, &provider.Source{}, nil, script.Text("ok"))
	next.Chat(twoFiles)
	for _, r := range []*executor.Server{r, next} {
		asked := r.Model.Requests("")
		if last := fmt.Sprint(asked[len(asked)-1].Messages); strings.Count(last,
			"You have sent this call 2 times") != 1 {
			t.Errorf("%s", last)
		}
	}
}

// A process is killed when the model has answered, before the end of the run is kept. The next one comes to
// the same end, and asks nobody.
func TestKilledAtItsEnd(t *testing.T) {
	few := func(r *run.Runs) { r.Turns = 1 }
	for name, c := range map[string]struct {
		edit func(*run.Runs)
		last []script.Reply
	}{
		"an answer":                            {last: []script.Reply{script.Text("done")}},
		"all turns":                            {few, []script.Reply{script.Text("so far so good")}},
		"all turns, and it calls all the same": {few, []script.Reply{writes("/tmp/b"), writes("/tmp/b"), writes("/tmp/b")}},
		"wrong names": {last: []script.Reply{script.Native("launch", `{}`),
			script.Native("launch", `{}`)}},
		"empty": {last: []script.Reply{script.Empty(), script.Empty(),
			script.Empty()}},
	} {
		dir := t.TempDir()
		want := on(t, dir, &provider.Source{}, c.edit, append([]script.Reply{writes("/tmp/a")},
			c.last...)...).Chat(twoFiles)
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		ruletest.Must(t, err)
		doc, err := os.ReadFile(files[0])
		ruletest.Must(t, err)
		end := strings.LastIndex(strings.TrimSuffix(string(doc), "\n"), "\n") + 1
		if !strings.Contains(string(doc[end:]), `"end":`) {
			t.Fatalf("%s: the last record is %s", name, doc[end:])
		}
		ruletest.Must(t, os.WriteFile(files[0], doc[:end], 0o600))
		after := &provider.Source{}
		r := on(t, as(t, dir), after, c.edit, script.Text("asked once more"))
		if a := r.Chat(twoFiles); a.Text != want.Text || a.Last != want.Last || a.Last == "" ||
			len(after.Calls()) != 0 || len(r.Model.Requests("")) != 0 {
			t.Errorf("%s: %q %q after %q, want %q %q", name, a.Text, a.Last, after.Calls(), want.Text,
				want.Last)
		}
	}
}

// watcher counts the requests to the model that it is told of.
type watcher struct{ asked int }

func (w *watcher) Asked(*openai.Request, string) { w.asked++ }

func (w *watcher) Listens() bool { return true }

func (w *watcher) Replied(*turn.Reply) {}

func (w *watcher) Ended(*turn.Outcome) {}

// counter is a bench that counts how often it is asked for its tools.
type counter struct {
	*provider.Source
	asked int
}

func (c *counter) Tools(ctx context.Context, set *ruleset.Set, who policy.Subject) []tools.Tool {
	c.asked++
	return c.Source.Tools(ctx, set, who)
}

// A run that goes on after a crash is planned once, as any other, and watched by who watches its request.
func TestWatchedAfterRestart(t *testing.T) {
	for _, dir := range []string{brokenOff(t), t.TempDir()} {
		source, w := &counter{Source: &provider.Source{}}, &watcher{}
		r := on(t, dir, source, nil, script.Text("ok"))
		req, err := openai.ParseRequest([]byte(twoFiles))
		ruletest.Must(t, err)
		run, err := r.Executor.Begin(t.Context(), r.Rules.Set(), req, turn.Caller{Watch: w})
		ruletest.Must(t, err)
		ruletest.Must(t, run.Run(t.Context(), sidecar.NewWhole(httptest.NewRecorder(), "executor", time.Minute,
			r.Metrics)))
		if w.asked != 1 || source.asked != 1 {
			t.Errorf("%d requests were watched, and the tools were asked for %d times", w.asked, source.asked)
		}
	}
}

// A run of the process before that finds no room yet goes on when there is some.
func TestNoRoomAfterRestart(t *testing.T) {
	b, dir, killed := &provider.Source{}, t.TempDir(), ""
	b.Result = func(string, int) tools.Result { killed = as(t, dir); return tools.Result{Text: "written"} }
	on(t, dir, b, nil, writes("/tmp/a"), script.Text("ok")).Chat(twoFiles)
	gate, reached := make(chan struct{}), make(chan struct{})
	after := &provider.Source{Result: func(string,
		int) tools.Result {
		close(reached)
		<-gate
		return tools.Result{Text: "it is there"}
	}}
	r := on(t, killed, after, func(runs *run.Runs) { runs.AtOnce = 1 },
		script.Native("read", `{"path":"/tmp/c"}`), script.Text("ok"), script.Text("ok"))
	var group sync.WaitGroup
	group.Go(func() { r.Run(false, "") })
	<-reached
	if a := r.Chat(twoFiles); a.Status != 429 {
		t.Errorf("%d %q", a.Status, a.Text)
	}
	close(gate)
	group.Wait()
	if a := r.Chat(twoFiles); a.Text != "ok" || len(after.Calls()) != 1 {
		t.Errorf("%d %q after %q", a.Status, a.Text, after.Calls())
	}
}

// The journal keeps no secrets. A call that waited with one in it is not run without it: a file
// would hold the mask.
func TestSecretAfterRestart(t *testing.T) {
	b, dir, killed := &provider.Source{}, t.TempDir(), ""
	b.Result = func(_ string, times int) tools.Result {
		if times == 1 {
			killed = as(t, dir)
		}
		return tools.Result{Text: "written"}
	}
	reply := writes("/tmp/a", "/tmp/c")
	reply.Calls = append(reply.Calls,
		script.Native("write", `{"path":"/tmp/b","content":"token ghp_0123456789abcdefghijABCDEFGHIJ012345"}`).Calls...)
	on(t, dir, b, nil, reply, script.Text("ok")).Chat(twoFiles)
	after := &provider.Source{}
	r := on(t, killed, after, nil, script.Text("ok"))
	if a := r.Chat(twoFiles); a.Text != "ok" || len(b.Calls()) != 3 ||
		fmt.Sprint(after.Calls()) != `[write {"path":"/tmp/c","content":"x"}]` {
		t.Errorf("%q after %q", a.Text, after.Calls())
	}
	if sent := r.Model.Requests(""); !strings.Contains(fmt.Sprint(sent),
		"a secret in its arguments was not kept") {
		t.Errorf("the model is not told: %v", sent)
	}
}
