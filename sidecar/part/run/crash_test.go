package run_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/executor"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// effects are how many things the run of the crash test does.
const effects = 6

// ledger is a tool that does something that can be counted: a line more in a file. Another one
// looks whether a line is there.
type ledger struct{ file string }

func (l ledger) Tools(context.Context, *ruleset.Set, policy.Subject) []tools.Tool {
	schema := []byte(`{"type":"object","properties":{"line":{"type":"string"}},"required":["line"]}`)
	return []tools.Tool{{Name: "append_line", Parameters: schema}, {Name: "find_line", Parameters: schema}}
}

func (l ledger) Run(_ context.Context, _ string, c *guard.AllowedCall) tools.Result {
	line := c.Facts.Call.Args["line"].(string)
	if c.Name == "find_line" {
		doc, _ := os.ReadFile(l.file)
		return tools.Result{Text: fmt.Sprintf("%s is there: %v", line, strings.Contains(string(doc),
			line+"\n"))}
	}
	f, err := os.OpenFile(l.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond) // the crash comes at any moment
		_, err = f.WriteString(line + "\n")
		time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond) // the crash comes at any moment
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return tools.Result{Failed: true, Text: err.Error()}
	}
	return tools.Result{Text: "wrote " + line}
}

// worker is a model that writes one line after the other. Where it is told that nobody knows
// whether a line was written, it looks. What it says depends on the request alone, so that it
// goes on after a crash.
func worker(q script.Request) *script.Reply {
	last := q.Messages[len(q.Messages)-1]
	next := 1
	for _, m := range q.Messages {
		var n int
		if _, err := fmt.Sscanf(m.Text, "wrote line%d", &n); err == nil {
			next = n + 1
		} else if _, err := fmt.Sscanf(m.Text, "line%d is there: true", &n); err == nil {
			next = n + 1
		}
	}
	reply := script.Native("append_line", fmt.Sprintf(`{"line":"line%d"}`, next))
	switch {
	case strings.Contains(last.Text, "not known whether"):
		reply = script.Native("find_line", fmt.Sprintf(`{"line":"line%d"}`, next))
	case next > effects:
		reply = script.Text("All is written.")
	}
	reply.Calls = append([]script.Call(nil), reply.Calls...)
	return &reply
}

const crashFolders = "GPTOSS_TEST_CRASH"

// TestCrashing is the process that TestCrash kills. It does a run in each folder.
func TestCrashing(t *testing.T) {
	dirs := filepath.SplitList(os.Getenv(crashFolders))
	if len(dirs) == 0 {
		t.Skip("it is for TestCrash")
	}
	set := *ruletest.Shipped(t, executor.Sections()...)
	runs := ruleset.Of[run.Runs](&set)
	runs.Turns, runs.Same = 100, 100 // looking for the same line again is no loop here
	rigs := make([]*executor.Server, len(dirs))
	for i, dir := range dirs {
		j, err := run.OpenJournal(run.JournalConfig{Dir: filepath.Join(dir, "runs"), Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		rigs[i] = executor.Start(t, provider.Setup{Set: &set}, ledger{filepath.Join(dir, "ledger")}, j,
			script.New(script.Scenario{Choose: worker}))
	}
	fmt.Println("begins")
	var all sync.WaitGroup
	for i, r := range rigs {
		all.Go(func() { fmt.Printf("answer %s: %s\n", dirs[i], r.Run(false, "").Text) })
	}
	all.Wait()
}

// Whenever the process is killed, the same request goes on with its run: nothing is done
// twice, and nothing is lost.
func TestCrash(t *testing.T) {
	kills, atOnce := 200, 8 // to begin costs more than all of the runs
	if testing.Short() {
		kills, atOnce = 10, 2
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	killed, doubts, runs := 0, 0, 0
	for killed < kills {
		dirs := make([]string, atOnce)
		for i := range dirs {
			dirs[i] = t.TempDir()
		}
		runs += len(dirs)
		long := 0
		for left := dirs; len(left) > 0; {
			long += 60 // a life that is too short for a step would come again and again
			answers := life(t, program, left, time.Duration(rand.IntN(long))*time.Millisecond)
			left = slices.DeleteFunc(slices.Clone(left), func(dir string) bool {
				answer, answered := answers[dir]
				if !answered {
					killed++
				} else if answer != "All is written." {
					t.Fatalf("after %d crashes: %q", killed, answer)
				}
				return answered
			})
		}
		for _, dir := range dirs {
			doubts += written(t, dir, killed)
		}
	}
	t.Logf("%d runs, killed %d times, %d calls in doubt", runs, killed, doubts)
}

// written checks what a run that has ended has left, and says how many of its calls were in doubt.
func written(t *testing.T, dir string, killed int) (doubts int) {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(dir, "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for i := range effects {
		want += fmt.Sprintf("line%d\n", i+1)
	}
	if string(doc) != want {
		t.Errorf("after %d crashes the ledger holds %q", killed, doc)
	}
	j, err := run.OpenJournal(run.JournalConfig{Dir: filepath.Join(dir, "runs"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := j.List(func(s run.Summary,
		err error) bool {
		n++
		doubts += s.Doubt
		return err == nil
	}); err != nil || n == 0 {
		t.Errorf("%d runs, %v", n, err)
	}
	return doubts
}

// life lets a process work in these folders, and kills it after a while from its beginning. It gives
// the answers of the runs that have ended.
func life(t *testing.T, program string, dirs []string, after time.Duration) (answers map[string]string) {
	t.Helper()
	c := exec.Command(program, "-test.run=^TestCrashing$", "-test.v")
	c.Env = append(os.Environ(), crashFolders+"="+strings.Join(dirs, string(filepath.ListSeparator)))
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	var all strings.Builder
	answers = map[string]string{}
	for in.Scan() {
		all.WriteString(in.Text() + "\n")
		if in.Text() == "begins" {
			kill := time.AfterFunc(after, func() { _ = c.Process.Kill() })
			defer kill.Stop()
		}
		if said, ok := strings.CutPrefix(in.Text(), "answer "); ok {
			dir, text, _ := strings.Cut(said, ": ")
			answers[dir] = text
		}
	}
	err = c.Wait()
	if len(answers) < len(dirs) && c.ProcessState.ExitCode() != -1 {
		t.Fatalf("the process ended by itself: %v\n%s", err, all.String())
	}
	return answers
}
