package run_test

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/executor"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// A thousand runs are open at the same time: each gets its own answer, each of its calls runs
// once, and when they are done as much is open as after the thousand before.
func TestManyRuns(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 100
	}
	var open sync.WaitGroup // runs that have not come to their call
	b := &provider.Source{Result: func(string, int) tools.Result {
		open.Done()
		open.Wait()
		return tools.Result{Text: "text"}
	}}
	r := executor.Serve(t, b, nil, script.New(script.Scenario{Choose: func(q script.Request) *script.Reply {
		reply := script.Native("read", `{"path":"/tmp/a"}`)
		if len(q.Messages) > 1 {
			reply = script.Text("Done with " + q.Messages[0].Text + ".")
		}
		return &reply
	}}))
	wave := func(name string) (goroutines, files int) {
		open.Add(n)
		var runs sync.WaitGroup
		for i := range n {
			runs.Go(func() {
				asks := fmt.Sprintf("%s %d", name, i)
				a := r.Chat(`{"model":"executor","messages":[{"role":"user","content":"` + asks + `"}]}`)
				if a.Status != 200 || a.Text != "Done with "+asks+"." {
					t.Errorf("%s: %d %s", asks, a.Status, a.Body)
				}
			})
		}
		runs.Wait()
		r.HTTP.CloseIdleConnections()
		return settled()
	}
	goroutines, files := wave("first")
	again, filesAgain := wave("second")
	// A run that leaves one thing open leaves n; how many connections stay idle differs by less.
	if slack := n / 2; again > goroutines+slack || filesAgain > files+slack {
		t.Errorf("open after the runs: %d goroutines and %d files, after as many more %d and %d", goroutines,
			files, again, filesAgain)
	}
	if ran := len(b.Calls()); ran != 2*n {
		t.Errorf("%d calls ran", ran)
	}
}

// settled is how many goroutines and files are open once no more of them end: a connection ends
// a while after its request, later on a busy machine.
func settled() (goroutines, files int) {
	const quiet, most = 25, 500 // looks of 20 ms
	goroutines, files = runtime.NumGoroutine(), openFiles()
	for look, since := 0, 0; look < most && since < quiet; look, since = look+1, since+1 {
		time.Sleep(20 * time.Millisecond) // an end has no event here
		if g, f := runtime.NumGoroutine(), openFiles(); g < goroutines || f < files {
			goroutines, files, since = g, f, 0
		}
	}
	return goroutines, files
}

// openFiles is how many files and connections this process has open; 0 where nobody can say.
func openFiles() int {
	entries, _ := os.ReadDir("/proc/self/fd")
	return len(entries)
}
