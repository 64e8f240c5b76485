package run_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/executor"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// person is somebody who resumes runs of a rig while it serves.
type person struct {
	*executor.Server
	*run.Resumer
	goes sync.WaitGroup
	stop context.CancelFunc
}

func newPerson(r *executor.Server) *person {
	p := &person{Server: r}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.Resumer = &run.Resumer{Executor: r.Executor, Rules: r.Rules.Set,
		Background: func(run func(context.Context)) { p.goes.Go(func() { run(ctx) }) }}
	r.T.Cleanup(func() { stop(); p.goes.Wait() })
	return p
}

// newest is the newest run of the journal.
func (p *person) newest() *run.Past {
	p.T.Helper()
	var found *run.Past
	ruletest.Must(p.T, p.Server.Executor.Journal.Walk(0, func(_ string, past *run.Past, err error) bool {
		ruletest.Must(p.T, err)
		found = past
		return false
	}))
	return found
}

// brokenOff is a journal in which a killed process has left a run: one of two files was written.
func brokenOff(t *testing.T) (dir string) {
	t.Helper()
	from := t.TempDir()
	b := &provider.Source{Result: func(_ string, times int) tools.Result {
		if times == 2 {
			dir = as(t, from)
		}
		return tools.Result{Text: "written"}
	}}
	if a := on(t, from, b, nil, writes("/tmp/a"), writes("/tmp/b"),
		script.Text("ok")).Chat(twoFiles); a.Text != "ok" {
		t.Fatalf("%q", a.Text)
	}
	return dir
}

// A person resumes a run while the server serves: what had finished is not done again, what was in
// doubt is not run, and the journal and the log say who wanted it. Then it cannot be resumed again.
func TestResumedWhileServing(t *testing.T) {
	after := &provider.Source{}
	r := on(t, brokenOff(t), after, nil, writes("/tmp/c"), script.Text("all is done"))
	p := newPerson(r)
	id := p.newest().ID
	ruletest.Must(t, p.Resume(context.Background(), id, "Sam"))
	p.goes.Wait()
	past := p.newest()
	if past.End == nil || past.End.Status != run.Answered || past.End.Text != "all is done" ||
		fmt.Sprint(after.Calls()) != `[write {"path":"/tmp/c","content":"x"}]` {
		t.Errorf("%+v after %q", past.End, after.Calls())
	}
	named := 0
	for _, rec := range past.Records {
		if rec.Resume != nil && rec.Resume.By == "Sam" && len(rec.Resume.Doubt) == 1 {
			named++
		}
	}
	if lines := r.Log.Lines("run_resumed"); named != 1 || len(lines) != 1 ||
		!strings.Contains(lines[0], "by=Sam") {
		t.Errorf("%d records name who wanted it; the log says %q", named, lines)
	}
	var elsewhere *run.GoesOnError
	if err := p.Resume(context.Background(), id, "Sam"); !errors.As(err, &elsewhere) || !elsewhere.Ended {
		t.Errorf("it is resumed again: %v", err)
	}
	if err := p.Resume(context.Background(), "runNone", "Sam"); !errors.Is(err, run.ErrUnknownRun) {
		t.Errorf("a run that is not there: %v", err)
	}
	if err := p.Resume(context.Background(), "../"+filepath.Base(id), "Sam"); !errors.Is(err,
		run.ErrUnknownRun) {
		t.Errorf("a path: %v", err)
	}
}

// While a person resumes a run, the same request waits for it and gets its answer; another run must
// wait, and so must a second person. Nothing is done twice.
func TestResumedBesideItsRequest(t *testing.T) {
	dir := brokenOff(t)
	begun, goOn := make(chan struct{}), make(chan struct{})
	after := &provider.Source{Result: func(string, int) tools.Result {
		close(begun)
		<-goOn
		return tools.Result{Text: "written"}
	}}
	r := on(t, dir, after, nil, writes("/tmp/c"), script.Text("one answer"))
	p := newPerson(r)
	id := p.newest().ID
	ruletest.Must(t, p.Resume(context.Background(), id, "Sam"))
	<-begun
	if !r.Executor.Journal.GoesOn(id) {
		t.Error("nobody goes on with it")
	}
	var busy *run.BusyError
	if err := p.Resume(context.Background(), id, "Ann"); !errors.As(err, &busy) || busy.Run != id {
		t.Errorf("a second person: %v", err)
	}
	var elsewhere *run.GoesOnError
	if _, err := r.Executor.Resume(context.Background(), r.Rules.Set(), id, "Ann"); !errors.As(err,
		&elsewhere) || elsewhere.Ended || elsewhere.Again {
		t.Errorf("a second person at another door: %v", err)
	}
	var all sync.WaitGroup
	answers := make([]string, 4)
	for i := range answers {
		all.Go(func() { answers[i] = r.Chat(twoFiles).Text })
	}
	time.Sleep(20 * time.Millisecond) // they wait; if they did not, they would have their calls
	close(goOn)
	all.Wait()
	p.goes.Wait()
	for _, a := range answers {
		if a != "one answer" {
			t.Errorf("the same request gets %q", a)
		}
	}
	if len(after.Calls()) != 1 {
		t.Errorf("done: %q", after.Calls())
	}
	if r.Executor.Journal.GoesOn(id) {
		t.Error("it still goes on")
	}
}

// A run that its caller left in this process goes on with what it holds in memory. The same request then
// gets its answer.
func TestResumedAfterItsCallerLeft(t *testing.T) {
	b, ctx := leaves()
	r := on(t, t.TempDir(), b, nil, writes("/tmp/a", "/tmp/b"), writes("/tmp/b"), script.Text("ok"))
	left(r, ctx)
	p := newPerson(r)
	ruletest.Must(t, p.Resume(context.Background(), p.newest().ID, "Sam"))
	p.goes.Wait()
	past := p.newest()
	if got := b.Calls(); fmt.Sprint(got) != `[write {"path":"/tmp/a","content":"x"} write {"path":"/tmp/b","content":"x"}]` || past.End == nil || past.End.Text != "ok" {
		t.Errorf("%+v after %q: %s", past.End, got, r.Log)
	}
	if a := r.Chat(twoFiles); a.Text != "ok" || len(b.Calls()) != 2 {
		t.Errorf("the same request gets %q, and %q was done", a.Text, b.Calls())
	}
}

// When the server stops, a run that a person resumed is left, and can be resumed again.
func TestResumedAndStopped(t *testing.T) {
	dir := brokenOff(t)
	begun := make(chan struct{})
	b := &stopper{Source: &provider.Source{}, begun: begun}
	p := newPerson(on(t, dir, b, nil, writes("/tmp/c")))
	id := p.newest().ID
	ruletest.Must(t, p.Resume(context.Background(), id, "Sam"))
	<-begun
	p.stop()
	p.goes.Wait()
	if past := p.newest(); past.End == nil || past.End.Status != run.Departed || past.Finished() {
		t.Fatalf("%+v", past.End)
	}
	after := &provider.Source{}
	again := newPerson(on(t, as(t, dir), after, nil, script.Text("at last")))
	ruletest.Must(t, again.Resume(context.Background(), id, "Sam"))
	again.goes.Wait()
	if past := again.newest(); past.End == nil || past.End.Text != "at last" {
		t.Errorf("%+v", past.End)
	}
}

// stopper is a bench whose call ends with the server.
type stopper struct {
	*provider.Source
	begun chan struct{}
}

func (s *stopper) Run(ctx context.Context, id string, c *guard.AllowedCall) tools.Result {
	res := s.Source.Run(ctx, id, c)
	close(s.begun)
	<-ctx.Done()
	return res
}
