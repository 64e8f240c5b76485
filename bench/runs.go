//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// turnsOfRun is the number of requests to the model in one run. All but the last call a tool.
const turnsOfRun = 5

// runReply makes the model read a file four times, and then answer.
func runReply(delay time.Duration) *reply {
	read := `"tool_calls":[{"index":0,"id":"chatcmpl-tool-4f1d0a","type":"function","function":{"name":"read","arguments":"{\"path\":\"notes.md\",\"offset\":%d}"}}]`
	r := &reply{delay: delay, marks: 1, musts: []string{`"finish_reason":"stop"`}}
	for n := range turnsOfRun - 1 {
		r.turns = append(r.turns, whole(head+`"content":null,`+fmt.Sprintf(read, n+1)+","+tail,
			"tool_calls").body)
	}
	r.turns = append(r.turns, whole(head+`"content":"Both are read @",`+tail, "stop").body)
	return r
}

// numbered is replaced with the number of each run, since equal requests would share an answer.
const numbered = "00000000"

// runs returns the requests of one run. The executor needs one; through a proxy the caller makes all turns
// itself, with texts as long as the executor's.
func (b *bench) runs(p *process) (requests [][]byte) {
	post := func(model, messages string) {
		body := `{"model":"` + model + `","messages":[{"role":"user","content":"Read the notes, ` + numbered +
			`."}` + messages + `]}`
		requests = append(requests,
			fmt.Appendf(nil, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer bench\r\nContent-Length: %d\r\n\r\n%s", p.address, len(body), body))
	}
	if p.executes {
		post("executor", "")
		return requests
	}
	turn := `,{"role":"assistant","content":null,"tool_calls":[{"id":"call0","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call0","content":` + quoted(notes()) + `}`
	for n := range turnsOfRun {
		post("gpt-oss", strings.Repeat(turn, n))
	}
	return requests
}

// notes is the file that runs read.
func notes() string { return filled(1<<10, func(text string) string { return text }) }

// folder creates the workspace of runs, and returns the flags of the executor.
func (b *bench) folder() (flags []string, err error) {
	work := filepath.Join(b.files, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		return nil, err
	}
	err = os.WriteFile(filepath.Join(work, "notes.md"), []byte(notes()), 0o600)
	return []string{"--workspace", work, "--workspace-tools", "--state", filepath.Join(b.files, "state")}, err
}

// hundredRuns measures 100 callers with one run after the other.
func (b *bench) hundredRuns(ctx context.Context, r *reply, p *process) (figures, error) {
	pause(ctx, time.Second)
	requests := b.runs(p)
	l := beginRuns(100, p, requests, func(asking *load, c *caller) {
		for !asking.stopped.Load() {
			asking.run(c, r, requests)
		}
	})
	pause(ctx, b.span/4)
	m, before := startMeter(p.pid), l.answers.Load()
	f := figures{}
	for range 10 {
		pause(ctx, b.span/10)
		f["resident"] = max(f["resident"], resident(p.pid))
	}
	n, took := float64(l.answers.Load()-before), time.Since(m.began)
	cpu, _ := m.stop()
	f["runs/s"], f["cpu"] = n/took.Seconds(), float64(cpu.Microseconds())/max(1, n)
	return f, l.end()
}

// thousandRuns measures what 1,000 open runs add, and what remains of them afterwards.
func (b *bench) thousandRuns(ctx context.Context, r *reply, p *process) (figures, error) {
	pause(ctx, time.Second)
	requests := b.runs(p)
	before, files := resident(p.pid), descriptors(p.pid)
	l := beginRuns(1000, p, requests, func(asking *load, c *caller) { asking.run(c, r, requests) })
	f := figures{}
	for end := time.Now().Add(time.Minute); l.answers.Load() < 1000 && l.wrong.Load() == nil &&
		time.Now().Before(end) && ctx.Err() == nil; {
		pause(ctx, 250*time.Millisecond)
		f["whole"] = max(f["whole"], resident(p.pid))
	}
	f["added"], f["done"] = f["whole"]-before, float64(l.answers.Load())
	err := l.end()
	pause(ctx, time.Second)
	f["left"] = descriptors(p.pid) - files
	return f, err
}

// beginRuns starts n callers.
func beginRuns(n int, p *process, requests [][]byte, work func(*load, *caller)) *load {
	l := &load{}
	for range n {
		l.callers.Go(func() {
			c, err := dial(p.address, false)
			if err != nil {
				l.fail(err)
				return
			}
			defer c.conn.Close()
			work(l, c)
		})
	}
	return l
}

// run sends the requests of one run. The last answer must be the model's final text.
func (l *load) run(c *caller, r *reply, requests [][]byte) {
	number := fmt.Sprintf("%08d", l.asked.Add(1))
	for _, request := range requests {
		c.request = bytes.Replace(request, []byte(numbered), []byte(number), 1)
		if err := c.ask(); err != nil {
			l.fail(err)
			return
		}
	}
	if err := r.check(c.body.Bytes()); err != nil {
		l.fail(err)
		return
	}
	l.answers.Add(1)
}

// turn returns the answer to a request by its number of tool results.
func (r *reply) turn(request []byte) []byte {
	return r.turns[min(bytes.Count(request, []byte(`"role":"tool"`)), len(r.turns)-1)]
}

// descriptors returns the number of open files and connections of a process.
func descriptors(pid int) float64 {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	return float64(len(names))
}
