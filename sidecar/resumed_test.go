package sidecar

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/executor"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/journal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// on starts a sidecar on the journal of a folder, as another process would.
func on(t *testing.T, dir string, b executor.Source, edit func(*ruleset.Runs), replies ...script.Reply) *rig {
	t.Helper()
	j, err := journal.Open(journal.Config{Dir: dir, Now: time.Now})
	ruletest.Must(t, err)
	set := *ruletest.Shipped(t)
	if edit != nil {
		edit(&set.Runs)
	}
	return start(t, setup{set: &set, sources: []executor.Source{b}, journal: j}, script.New(script.Scenario{Steps: replies}))
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
	*bench
	leave func()
}

func (l leaver) Run(ctx context.Context, id string, c *guard.Passed) tools.Result {
	res := l.bench.Run(ctx, id, c)
	if len(l.calls()) == 1 {
		l.leave()
		<-ctx.Done()
	}
	return res
}

func leaves() (leaver, context.Context) {
	ctx, leave := context.WithCancel(context.Background())
	return leaver{&bench{}, leave}, ctx
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
func (r *rig) left(ctx context.Context) {
	r.t.Helper()
	if res, err := r.do(ctx, "POST", "/v1/chat/completions", twoFiles); err == nil {
		res.Body.Close()
		r.t.Fatal("the caller has not left")
	}
	for range 6000 { // until the server has noticed
		if strings.Contains(r.log.String(), "executor_run_end") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.t.Fatal("the run goes on")
}

// A run that its caller left in the middle of a reply, that went on, and was killed then, goes
// on again: what it did is not done twice.
func TestLeftThenKilled(t *testing.T) {
	b, ctx := leaves()
	dir := t.TempDir()
	r := on(t, dir, b, nil, writes("/tmp/a", "/tmp/b"), writes("/tmp/b"), script.Text("first end"))
	r.left(ctx)
	var killed string
	b.result = func(string, int) tools.Result {
		killed = as(t, dir)
		return tools.Result{Text: "written"}
	}
	if a := r.chat(twoFiles); a.text != "first end" {
		t.Fatalf("%q", a.text)
	}
	after := &bench{}
	r = on(t, killed, after, nil, script.Text("second end"))
	if a := r.chat(twoFiles); a.text != "second end" || len(after.calls()) != 0 || !strings.Contains(r.log.String(), "run_resumed") {
		t.Errorf("%q after %q: %s", a.text, after.calls(), r.log.String())
	}
}

// A run that its caller left goes on in the next process, too.
func TestLeftThenRestarted(t *testing.T) {
	b, ctx := leaves()
	dir := t.TempDir()
	on(t, dir, b, nil, writes("/tmp/a", "/tmp/b")).left(ctx)
	after := &bench{}
	r := on(t, as(t, dir), after, nil, script.Text("ok"))
	if a := r.chat(twoFiles); a.text != "ok" || fmt.Sprint(after.calls()) != `[write {"path":"/tmp/b","content":"x"}]` {
		t.Errorf("%q after %q", a.text, after.calls())
	}
}

// However often, and however many at once, the same request comes after a restart: nothing is
// done again, and all get the same answer.
func TestRepeatedAfterRestart(t *testing.T) {
	for _, ended := range []bool{true, false} {
		b, dir, killed := &bench{}, t.TempDir(), ""
		r := on(t, dir, b, nil, writes("/tmp/a"), script.Text("ok"))
		b.result = func(string, int) tools.Result { killed = as(t, dir); return tools.Result{Text: "written"} }
		r.chat(twoFiles)
		if ended {
			killed = as(t, dir)
		}
		after := &bench{}
		r = on(t, killed, after, nil, script.Text("ok"), writes("/tmp/a"), script.Text("again"))
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				if a := r.chat(twoFiles); a.text != "ok" {
					t.Errorf("ended %v: %q", ended, a.text)
				}
			})
		}
		group.Wait()
		if a := r.chat(twoFiles); a.text != "ok" || len(after.calls()) != 0 {
			t.Errorf("ended %v: %q after %q", ended, a.text, after.calls())
		}
	}
}

// A run that another process goes on with is not begun anew: its caller gets no error that
// makes it ask again, and reads what was done.
func TestHeldByAnother(t *testing.T) {
	b, dir := &bench{}, t.TempDir()
	after := &bench{}
	b.result = func(string, int) tools.Result {
		r := on(t, dir, after, nil, writes("/tmp/a"), script.Text("again"))
		for range 2 {
			if a := r.chat(twoFiles); a.status != 200 || !strings.Contains(a.text, "cannot go on") || !strings.Contains(a.text, "- write: /tmp/a") || len(after.calls()) != 0 {
				t.Errorf("%d %q after %q", a.status, a.text, after.calls())
			}
		}
		return tools.Result{Text: "written"}
	}
	if a := on(t, dir, b, nil, writes("/tmp/a"), script.Text("ok")).chat(twoFiles); a.text != "ok" {
		t.Errorf("%q", a.text)
	}
}

// A run of the process before that finds no room yet goes on when there is some.
func TestNoRoomAfterRestart(t *testing.T) {
	b, dir, killed := &bench{}, t.TempDir(), ""
	b.result = func(string, int) tools.Result { killed = as(t, dir); return tools.Result{Text: "written"} }
	on(t, dir, b, nil, writes("/tmp/a"), script.Text("ok")).chat(twoFiles)
	gate, reached := make(chan struct{}), make(chan struct{})
	after := &bench{result: func(string, int) tools.Result { close(reached); <-gate; return tools.Result{Text: "it is there"} }}
	r := on(t, killed, after, func(runs *ruleset.Runs) { runs.AtOnce = 1 }, script.Native("read", `{"path":"/tmp/c"}`), script.Text("ok"), script.Text("ok"))
	var group sync.WaitGroup
	group.Go(func() { r.run(false, "") })
	<-reached
	if a := r.chat(twoFiles); a.status != 429 {
		t.Errorf("%d %q", a.status, a.text)
	}
	close(gate)
	group.Wait()
	if a := r.chat(twoFiles); a.text != "ok" || len(after.calls()) != 1 {
		t.Errorf("%d %q after %q", a.status, a.text, after.calls())
	}
}

// The journal keeps no secrets. A call that waited with one in it is not run without it: a file
// would hold the mask.
func TestSecretAfterRestart(t *testing.T) {
	b, dir, killed := &bench{}, t.TempDir(), ""
	b.result = func(_ string, times int) tools.Result {
		if times == 1 {
			killed = as(t, dir)
		}
		return tools.Result{Text: "written"}
	}
	reply := writes("/tmp/a", "/tmp/c")
	reply.Calls = append(reply.Calls, script.Native("write", `{"path":"/tmp/b","content":"token ghp_0123456789abcdefghijABCDEFGHIJ012345"}`).Calls...)
	on(t, dir, b, nil, reply, script.Text("ok")).chat(twoFiles)
	after := &bench{}
	r := on(t, killed, after, nil, script.Text("ok"))
	if a := r.chat(twoFiles); a.text != "ok" || len(b.calls()) != 3 || fmt.Sprint(after.calls()) != `[write {"path":"/tmp/c","content":"x"}]` {
		t.Errorf("%q after %q", a.text, after.calls())
	}
	if sent := r.model.Requests(""); !strings.Contains(fmt.Sprint(sent), "a secret in its arguments was not kept") {
		t.Errorf("the model is not told: %v", sent)
	}
}
