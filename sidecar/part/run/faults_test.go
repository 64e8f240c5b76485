package run_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/executor"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

var update = flag.Bool("update", false, "write the tables of docs/faults.md anew")

// modelFault is what is wrong with the model server from some turn on.
type modelFault struct {
	name  string
	reply script.Reply
}

var modelFaults = []modelFault{
	{name: "well"},
	{"down", script.Reply{End: script.Reset}},
	{"slow", script.Reply{End: script.Hang}},
	{"HTTP 500", script.Fail(500, "CUDA error")},
	{"garbage", script.Reply{Body: "<html>Bad gateway</html>"}},
	{"empty", script.Empty()},
	{"loops", script.Native("read", `{"path":"/tmp/x"}`)},
	{"overflow", servers.OverflowVLLM(3000, 9000)},
	{"wrong names", script.Native("launch_missile", `{}`)},
	{"prose", script.Text("I would now call write with the path /tmp/c and run `rm -rf /`.")},
}

// toolFault is what becomes of the second effect.
type toolFault struct {
	name   string
	takes  bool // the call takes effect
	hangs  bool // and never answers
	result tools.Result
}

var toolFaults = []toolFault{
	{name: "well", takes: true, result: tools.Result{Text: "written"}},
	{name: "404", result: tools.Result{Failed: true, Text: "there is no such tool"}},
	{name: "500", takes: true, result: tools.Result{Failed: true, Doubt: true, Text: "HTTP 500"}},
	{name: "hangs", takes: true, hangs: true, result: tools.Result{Failed: true, Doubt: true, Text: "no answer"}},
	{name: "429", result: tools.Result{Failed: true, Transient: true, After: 1, Text: "too many requests"}},
	{name: "huge", takes: true, result: tools.Result{Text: strings.Repeat("many words ", 10_000)}},
	{name: "binary", takes: true, result: tools.Result{Text: "\x00\xff\xfe\x1b[31m\x80"}},
	{name: "soft failure", result: tools.Result{Failed: true, Text: `{"status":"error"}`}},
}

// mishap is what befalls the caller or the process while the second effect goes on.
type mishap struct {
	name, about string
	during      func(*trial) reaction
}

var mishaps = []mishap{
	{"nothing", "Nothing else happens.", func(c *trial) reaction { return c.ask() }},
	{"the caller asks twice", "The caller lost the answer, and sends the same request again.", func(c *trial) reaction { c.ask(); return c.ask() }},
	{"the caller leaves", "The caller leaves while the second effect goes on, and sends the same request again.", (*trial).left},
	{"SIGTERM", "The program is told to stop while the second effect goes on, with time to finish.", func(c *trial) reaction { return c.stopped(time.Minute) }},
	{"SIGTERM, no time", "The program is told to stop while the second effect goes on, and must stop at once.", func(c *trial) reaction { return c.stopped(time.Millisecond) }},
	{"kill -9", "The program is killed while the second effect goes on, and the caller sends the same request to the next one.", (*trial).killed},
}

// trial is one run with its faults. As a source it has the tools read and write.
type trial struct {
	t       *testing.T
	set     *ruleset.Set
	model   modelFault
	late    bool // the model fails after the effects, not before
	tool    toolFault
	dir     string
	rig     *executor.Server
	waits   chan struct{} // the second effect waits for this, or for its context
	reached chan struct{} // closed when it goes on

	mu      sync.Mutex
	effects [2]int
	begun   bool
}

func (c *trial) Tools(context.Context, *ruleset.Set, policy.Subject) []tools.Tool {
	return []tools.Tool{{Name: "read", Parameters: fmt.Appendf(nil, provider.SchemaOf, "path", "path")},
		{Name: "write", Parameters: fmt.Appendf(nil, provider.SchemaOf, "path", "path")}}
}

func (c *trial) Run(ctx context.Context, _ string, call *guard.AllowedCall) tools.Result {
	switch {
	case call.Name == "read":
		return tools.Result{Text: "it is there"}
	case call.Facts.Call.Args["path"] == "/tmp/a":
		c.effect(0)
		return tools.Result{Text: "written"}
	}
	if c.tool.takes {
		c.effect(1)
	}
	c.mu.Lock()
	first := !c.begun
	c.begun = true
	c.mu.Unlock()
	if first {
		close(c.reached)
	}
	if c.tool.hangs {
		<-ctx.Done()
	} else if c.waits != nil {
		select {
		case <-c.waits:
		case <-ctx.Done():
		}
	}
	return c.tool.result
}

func (c *trial) effect(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.effects[n]++
}

// says is the model: it writes two files, looks where it is told to, and is done. What it has
// done it reads in the request alone.
func (c *trial) says(q script.Request) *script.Reply {
	done, last := 0, q.Messages[len(q.Messages)-1].Text
	for _, m := range q.Messages {
		done += strings.Count(m.Text, "- write: ")
		if m.Role == "tool" {
			done++
		}
	}
	reply := script.Text("Done.")
	switch {
	case c.model.name != "well" && (done >= 2 || !c.late):
		reply = c.model.reply
	case done < 2:
		reply = script.Native("write", `{"path":"/tmp/`+string(rune('a'+done))+`"}`)
	case strings.Contains(last, "not known whether"):
		reply = script.Native("read", `{"path":"/tmp/b"}`)
	}
	return &reply
}

// process starts a sidecar on the journal of a folder.
func (c *trial) process(dir string) {
	j, err := run.OpenJournal(run.JournalConfig{Dir: dir, Now: time.Now})
	ruletest.Must(c.t, err)
	c.dir = dir
	c.rig = executor.Start(c.t, provider.Setup{Set: c.set}, c, j,
		script.New(script.Scenario{Choose: c.says}))
}

// reaction is what a caller gets: status and finish_reason, or the code of an error.
type reaction struct{ status, how string }

func (c *trial) ask() reaction { return c.within(c.t.Context()) }

func (c *trial) within(ctx context.Context) reaction {
	res, err := c.rig.Do(ctx, http.MethodPost, "/v1/chat/completions",
		`{"model":"executor","messages":[{"role":"user","content":"write two files"}]}`)
	if err != nil {
		return reaction{"none", err.Error()}
	}
	doc, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return reaction{"none", err.Error()}
	}
	how := gjson.GetBytes(doc, "choices.0.finish_reason").Str + gjson.GetBytes(doc, "error.code").Str
	return reaction{fmt.Sprint(res.StatusCode), how}
}

// background asks, and gives the answer later.
func (c *trial) background(ctx context.Context) <-chan reaction {
	got := make(chan reaction, 1)
	go func() { got <- c.within(ctx) }()
	<-c.reached
	return got
}

func (c *trial) left() reaction {
	c.waits = make(chan struct{}) // it stays open: the caller is gone before the effect ends
	ctx, leave := context.WithCancel(c.t.Context())
	got := c.background(ctx)
	leave()
	<-got
	return c.ask()
}

func (c *trial) stopped(grace time.Duration) reaction {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return reaction{"none", err.Error()}
	}
	c.waits = make(chan struct{})
	ctx, stop := context.WithCancel(c.t.Context())
	ran := make(chan error, 1)
	go func() { ran <- sidecar.Run(ctx, l, c.rig.Sidecar.Handler(), provider.Within(grace), c.rig.Logger) }()
	c.rig.URL = "http://" + l.Addr().String()
	got := c.background(c.t.Context())
	stop()
	if grace > time.Second {
		close(c.waits)
	}
	r := <-got
	c.rig.HTTP.CloseIdleConnections()
	if err := <-ran; err != nil {
		return reaction{"none", err.Error()}
	}
	return r
}

// killed leaves the journal as it is while the effect goes on: that is what a killed process
// leaves. TestCrash kills real ones.
func (c *trial) killed() reaction {
	c.waits = make(chan struct{})
	ctx, kill := context.WithCancel(c.t.Context())
	got := c.background(ctx)
	dir := filepath.Join(c.t.TempDir(), "runs")
	if err := os.CopyFS(dir, os.DirFS(c.dir)); err != nil {
		c.t.Error(err)
	}
	kill()
	<-got
	c.process(dir)
	return c.ask()
}

// try runs one case. Its cell is what the caller gets, and how often each effect was made.
func (c *trial) try(m mishap) string {
	r := m.during(c)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, n := range c.effects {
		if n > 1 {
			c.t.Errorf("effect %d was made %d times", i+1, n)
		}
	}
	if r.status != "200" && c.effects != [2]int{} {
		c.t.Errorf("the caller gets %s %s after effects, and will ask again", r.status, r.how)
	}
	how := r.how
	if r.status != "200" {
		how = r.status + " " + how
	}
	return fmt.Sprintf("%s %d·%d", how, c.effects[0], c.effects[1])
}

// newTrial is a run with these faults. A slow server uses up the time of the run.
func newTrial(t *testing.T, model modelFault, tool toolFault, late bool) *trial {
	set := *ruletest.Shipped(t, executor.Sections()...)
	if model.name == "slow" {
		ruleset.Of[run.Runs](&set).Time = 3 * time.Second
	}
	ruleset.Of[run.Runs](&set).Tools = append([]run.RunTool(nil), ruleset.Of[run.Runs](&set).Tools...)
	for i := range ruleset.Of[run.Runs](&set).Tools {
		if tool.hangs && ruleset.Of[run.Runs](&set).Tools[i].Tool.Value == "write" {
			ruleset.Of[run.Runs](&set).Tools[i].Timeout = 200 * time.Millisecond
		}
	}
	c := &trial{t: t, set: &set, model: model, tool: tool, late: late, reached: make(chan struct{})}
	c.process(filepath.Join(t.TempDir(), "runs"))
	return c
}

// faultsFile holds what TestFaults finds, behind this line.
const (
	faultsFile = "../../../docs/faults.md"
	faultsLine = "<!-- make faults writes what follows -->\n"
)

// The caller, the model, the tool and the process fail in all combinations: no effect is ever
// made twice, and after one no caller gets a status on which it asks again.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("20 seconds under the race detector")
	}
	cells := func(name string, m mishap, models []modelFault, tools []toolFault, late bool) (rows string) {
		t.Run(name, func(t *testing.T) {
			got := make([]string, len(models)*len(tools))
			together(len(got), func(i int) func() {
				c := newTrial(t, models[i/len(tools)], tools[i%len(tools)], late)
				return func() { got[i] = c.try(m) }
			})
			for i, f := range models {
				rows += "| " + f.name + " | " + strings.Join(got[i*len(tools):][:len(tools)], " | ") + " |\n"
			}
		})
		return rows
	}
	var doc strings.Builder
	doc.WriteString("\n## The model fails before anything was done\n\n| model | the caller gets |\n|---|---|\n")
	doc.WriteString(cells("early", mishaps[0], modelFaults[1:], toolFaults[:1], false))
	doc.WriteString("\n## The model fails after both calls, or not, and the second call goes wrong, or not\n")
	var names, tables []string
	abouts := map[string][]string{} // of the mishaps with the same table
	for _, f := range toolFaults {
		names = append(names, f.name)
	}
	for _, m := range mishaps {
		table := cells(m.name, m, modelFaults, toolFaults, true)
		if abouts[table] == nil {
			tables = append(tables, table)
		}
		abouts[table] = append(abouts[table], m.about)
	}
	for _, table := range tables {
		doc.WriteString("\n- " + strings.Join(abouts[table], "\n- ") +
			"\n\n| model, then tool: | " + strings.Join(names, " | ") + " |\n|" + strings.Repeat("---|",
			len(names)+1) + "\n" + table)
	}
	was, err := os.ReadFile(faultsFile)
	ruletest.Must(t, err)
	text, rest, _ := strings.Cut(string(was), faultsLine)
	if *update {
		ruletest.Must(t, os.WriteFile(faultsFile, []byte(text+faultsLine+doc.String()), 0o644))
	} else if rest != doc.String() {
		t.Errorf("%s says something else; look at this, and run make faults:\n%s", faultsFile, doc.String())
	}
}

// together makes cases one after the other, and runs some of them at the same time: most only
// wait.
func together(n int, begin func(int) func()) {
	var group sync.WaitGroup
	free := make(chan struct{}, 16)
	for i := range n {
		run := begin(i)
		free <- struct{}{}
		group.Go(func() { defer func() { <-free }(); run() })
	}
	group.Wait()
}
