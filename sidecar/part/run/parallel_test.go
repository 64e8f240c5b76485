package run_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/executor"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// readers are reads of which none ends before all have begun, and that end in the wrong order.
type readers struct {
	provider.Source
	all   int
	mu    sync.Mutex
	here  int
	full  chan struct{} // closed when all have begun
	stays bool          // they end with their context
}

func (r *readers) Run(ctx context.Context, id string, c *guard.AllowedCall) tools.Result {
	r.mu.Lock()
	r.here++
	if r.here == r.all {
		close(r.full)
	}
	r.mu.Unlock()
	<-r.full
	if r.stays {
		<-ctx.Done()
		return tools.Result{Failed: true, Text: "cancelled"}
	}
	path := gjson.GetBytes(c.Arguments, "path").Str
	n := int(path[len(path)-1] - '0')
	time.Sleep(time.Duration(r.all-n) * time.Millisecond) // they end in the wrong order
	if n == 2 {
		return tools.Result{Failed: true, Text: "there is no such file"}
	}
	return tools.Result{Text: "content of " + path}
}

// several is a reply that reads n files.
func several(n int) (out script.Reply) {
	for i := range n {
		out.Calls = append(out.Calls, script.Call{ID: fmt.Sprint("c", i), Name: "read",
			Arguments: fmt.Sprintf(`{"path":"/tmp/%d"}`, i)})
	}
	return out
}

// Calls of one reply that only read run at the same time, where the rules say so. Their results
// come in the order of the calls, also if one fails, and the journal has each of them once.
func TestReadsTogether(t *testing.T) {
	const n = 6
	b := &readers{all: n, full: make(chan struct{})}
	set := *ruletest.Shipped(t, executor.Sections()...)
	ruleset.Of[run.Runs](&set).Parallel = "read"
	j, err := run.OpenJournal(run.JournalConfig{Dir: filepath.Join(t.TempDir(), "runs"), Now: time.Now})
	ruletest.Must(t, err)
	r := executor.Start(t, provider.Setup{Set: &set}, b, j,
		script.New(script.Scenario{Steps: []script.Reply{several(n), script.Text("Read.")}}))
	a := r.Run(true, "")
	if a.Status != 200 || a.Text != "Read." {
		t.Fatal(a.Body)
	}
	asked := r.Model.Requests("")
	messages := asked[len(asked)-1].Messages
	for i := range n { // gpt-oss gets each call in front of its result
		pair := messages[len(messages)-2*(n-i):]
		want := fmt.Sprintf("content of /tmp/%d", i)
		if i == 2 {
			want = "Error: there is no such file"
		}
		if m := pair[1]; m.Text != want || m.CallID != pair[0].Calls[0].ID {
			t.Errorf("result %d is %q, want %q", i, m.Text, want)
		}
	}
	past, err := j.Load(a.Header.Get("X-Run-Id"))
	ruletest.Must(t, err)
	var ids []string
	for _, rec := range past.Records {
		if rec.Result != nil {
			ids = append(ids, rec.Result.ID)
		}
	}
	slices.Sort(ids)
	if len(ids) != n || len(slices.Compact(ids)) != n || past.End == nil ||
		past.End.Status != run.Answered {
		t.Errorf("the journal has results %q and the end %+v", ids, past.End)
	}
}

// A caller who leaves ends all of them; with one call that writes, all run in their order.
func TestReadsTogetherEnd(t *testing.T) {
	const n = 4
	b := &readers{all: n, full: make(chan struct{}), stays: true}
	set := *ruletest.Shipped(t, executor.Sections()...)
	ruleset.Of[run.Runs](&set).Parallel = "read"
	j, err := run.OpenJournal(run.JournalConfig{Dir: filepath.Join(t.TempDir(), "runs"), Now: time.Now})
	ruletest.Must(t, err)
	r := executor.Start(t, provider.Setup{Set: &set}, b, j,
		script.New(script.Scenario{Steps: []script.Reply{several(n), script.Text("Read.")}}))
	ctx, leave := context.WithCancel(t.Context())
	go func() { <-b.full; leave() }()
	if res, err := r.Do(ctx, http.MethodPost, "/v1/chat/completions",
		`{"model":"executor","messages":[{"role":"user","content":"read"}]}`); err == nil {
		ruletest.Must(t, res.Body.Close())
	}
	var left []run.Summary
	ruletest.Soon(t, "the run has departed", func() bool {
		left = nil
		ruletest.Must(t, j.List(func(s run.Summary,
			err error) bool {
			left = append(left, s)
			return err == nil
		}))
		return len(left) == 1 && left[0].Status == run.Departed
	})
	if left[0].Calls != n {
		t.Errorf("%+v", left)
	}
	if asked := r.Model.Requests(""); len(asked) != 1 {
		t.Errorf("the model was asked %d times", len(asked))
	}

	mixed := several(3)
	mixed.Calls[1] = script.Call{ID: "w", Name: "write", Arguments: `{"path":"/tmp/1","content":"x"}`}
	plain := &provider.Source{}
	r = executor.Start(t, provider.Setup{Set: &set}, plain, nil,
		script.New(script.Scenario{Steps: []script.Reply{mixed, script.Text("Done.")}}))
	if a := r.Run(false, ""); a.Text != "Done." ||
		strings.Join(plain.Calls(),
			"; ") != `read {"path":"/tmp/0"}; write {"path":"/tmp/1","content":"x"}; read {"path":"/tmp/2"}` {
		t.Errorf("%s, ran %q", a.Text, plain.Calls())
	}
}
