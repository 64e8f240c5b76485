package sidecar

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

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
	b := &bench{result: func(string, int) tools.Result {
		open.Done()
		open.Wait()
		return tools.Result{Text: "text"}
	}}
	r := loopOn(t, b, nil, script.New(script.Scenario{Choose: func(q script.Request) *script.Reply {
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
				a := r.chat(`{"model":"executor","messages":[{"role":"user","content":"` + asks + `"}]}`)
				if a.status != 200 || a.text != "Done with "+asks+"." {
					t.Errorf("%s: %d %s", asks, a.status, a.body)
				}
			})
		}
		runs.Wait()
		r.http.CloseIdleConnections()
		for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > 200+n/2 && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond) // connections end after their requests
		}
		return runtime.NumGoroutine(), openFiles()
	}
	goroutines, files := wave("first")
	again, filesAgain := wave("second")
	if slack := n / 5; again > goroutines+slack || filesAgain > files+slack {
		t.Errorf("open after the runs: %d goroutines and %d files, after as many more %d and %d", goroutines, files, again, filesAgain)
	}
	if ran := len(b.calls()); ran != 2*n {
		t.Errorf("%d calls ran", ran)
	}
}

// openFiles is how many files and connections this process has open; 0 where nobody can say.
func openFiles() int {
	entries, _ := os.ReadDir("/proc/self/fd")
	return len(entries)
}
