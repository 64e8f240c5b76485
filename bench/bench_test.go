//go:build linux

package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

func TestMedian(t *testing.T) {
	for _, row := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 100}, 3}} {
		if got := median(row.values); got != row.want {
			t.Errorf("%v: %v, want %v", row.values, got, row.want)
		}
	}
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("of nothing: %v", got)
	}
}

func TestProc(t *testing.T) {
	const stat = "4711 (a (bad) name) S 1 4711 4711 0 -1 4194560 1000 0 0 0 250 75 9 9 20 0 8 0 100 1 2"
	if got := used(stat); got != 3250*time.Millisecond {
		t.Errorf("used %s", got)
	}
	if got := used(""); got != 0 {
		t.Errorf("a process that has ended used %s", got)
	}
	if got := busy("cpu  100 20 3 5000 6 7 8 9 0 0\ncpu0 1 2 3\n"); got != 1230*time.Millisecond {
		t.Errorf("busy %s", got)
	}
	if got := field("model\t\t: 85\nmodel name\t: Some: CPU\n", "model name"); got != "Some: CPU" {
		t.Errorf("field %q", got)
	}
	if got := resident(os.Getpid()); got < 1 {
		t.Errorf("this test uses %v MB", got)
	}
}

// Every reply arrives whole from the model server, and one that lacks something is noticed.
func TestReplies(t *testing.T) {
	m, err := startModel()
	if err != nil {
		t.Fatal(err)
	}
	defer m.listener.Close()
	for _, c := range (&bench{}).cells() {
		if c.reply.gap > 0 || c.runs {
			continue // callers leave it, or ask more than once
		}
		m.reply.Store(c.reply)
		asking, err := dial(m.listener.Addr().String(), c.reply.events != nil)
		if err != nil {
			t.Fatal(err)
		}
		defer asking.conn.Close()
		began := time.Now()
		if err := asking.ask(); err != nil {
			t.Fatal(c.name, err)
		}
		body := asking.body.Bytes()
		if err := c.reply.check(body); err != nil || time.Since(began) < c.reply.delay {
			t.Errorf("%s after %s: %v", c.name, time.Since(began), err)
		}
		if c.reply.check(bytes.Replace(body, []byte(mark), nil, 1)) == nil ||
			c.reply.check(bytes.ReplaceAll(body, []byte("finish_reason"), nil)) == nil {
			t.Errorf("%s: what is missing is not noticed", c.name)
		}
	}
	for _, size := range []int{1 << 10, 8 << 10, 64 << 10} {
		if text, args := len(textReply(size, 0).body), len(arguments(size)); text > size ||
			text < size-len(sentence)*2 || args > size || args < size-len(sentence)*2 {
			t.Errorf("%d bytes: a text of %d, arguments of %d", size, text, args)
		}
	}
}

// A run is five requests, each of which gets the model's next words. One that ends too early is
// noticed.
func TestRuns(t *testing.T) {
	m, err := startModel()
	if err != nil {
		t.Fatal(err)
	}
	defer m.listener.Close()
	r := runReply(0)
	m.reply.Store(r)
	p := &process{address: m.listener.Addr().String()}
	requests := (&bench{}).runs(p)
	c, err := dial(p.address, false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.conn.Close()
	l := &load{}
	if l.run(c, r, requests); l.answers.Load() != 1 || l.end() != nil || len(requests) != turnsOfRun {
		t.Errorf("%d requests, %d answers, %v", len(requests), l.answers.Load(), l.end())
	}
	if l.run(c, r, requests[:2]); l.answers.Load() != 1 || l.end() == nil {
		t.Error("a run that ends with a call is taken for a whole one")
	}
	if flags, err := (&bench{files: t.TempDir()}).folder(); err != nil || len(flags) == 0 {
		t.Errorf("%q, %v", flags, err)
	}
}

// A caller that leaves a slow stream is noticed between two events.
func TestLeaving(t *testing.T) {
	m, err := startModel()
	if err != nil {
		t.Fatal(err)
	}
	defer m.listener.Close()
	m.reply.Store(textStream(2, time.Minute))
	c, err := dial(m.listener.Addr().String(), true)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, func() { c.conn.Close() })
	if c.ask() == nil {
		t.Fatal("the answer is whole")
	}
	ruletest.Soon(t, "the model server notices", func() bool { return m.ended.Load() > 0 })
}

func TestAlarm(t *testing.T) {
	a, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer a.file.Close()
	for _, wait := range []time.Duration{-time.Second, 0, 3 * time.Millisecond} {
		due := time.Now().Add(wait)
		if a.until(due); time.Now().Before(due) {
			t.Errorf("woken %s early", time.Until(due))
		}
	}
}

func TestTable(t *testing.T) {
	r := results{}
	for _, run := range []struct {
		cell, target string
		f            figures
	}{
		{"text 1 KB", revproxy, figures{"requests/s": 20000}},
		{"text 1 KB", sidecar, figures{"requests/s": 10000}},
		{"text 8 KB", revproxy, figures{"requests/s": 8000, "cpu": 100}},
		{"text 8 KB", sidecar, figures{"requests/s": 7000, "cpu": 130, others: 0.1}},
		{"text 8 KB", sidecar, figures{"requests/s": 100, "cpu": 900, others: 1}}, // noisy: left out
		{"open loop", direct, figures{"p50": 20100}},
		{"open loop", revproxy, figures{"p50": 20300}},
		{"open loop", sidecar, figures{"p50": 20401.5}},
		{"100 connections", revproxy, figures{"resident": 18.25, "before": 8, "start": 6, others: 2}},
		{"100 connections", sidecar, figures{"resident": 31, "before": 20, "start": 34}},
		{"events", revproxy, figures{"cpu an event": 2}}, // the sidecar was not measured
	} {
		r.add(run.cell, run.target, run.f)
	}
	const want = `| | revproxy | gpt-oss-executor | ratio | goal |
|---|---:|---:|---:|---:|
| requests/s, 1 KB reply, 16 connections | 20,000 | 10,000 | **0.50** | ≥ 0.75 |
| requests/s, 8 KB | 8,000 | 7,000 | 0.88 | ≥ 0.75 |
| CPU a request, 8 KB | 100 µs | 130 µs | 1.30 | ≤ 1.35 |
| added latency (p50) at 1,000 requests/s | 200 µs | 302 µs | **1.51** | ≤ 1.5 |
| resident memory at 100 connections \* | 18.2 MB | **31 MB** | 1.70 | ≤ 30 MB |
| resident memory before the first request \* | 8.0 MB | 20 MB | 2.50 |  |
| start until the first answer \* | 6 ms | 34 ms | 5.67 | ≤ 35 ms |

\* Other processes used the machine in every run: this says little.
`
	var got strings.Builder
	if r.print(&got); got.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
	}
}

// A machine with too few descriptors opens as many streams as it can.
func TestFitting(t *testing.T) {
	for limit, want := range map[uint64]int{1 << 20: 10000, 20100: 10000, 20000: 9950, 1024: 462, 50: 0} {
		if got := fits(10000, limit); got != want {
			t.Errorf("%d descriptors: %d streams, not %d", limit, got, want)
		}
	}
}

// What rises from the first half to the second is named, and what only rises at the beginning is not.
func TestGrown(t *testing.T) {
	look := func(rss, files float64) soaked {
		return soaked{rss: rss, live: 10, goroutines: 9, openFiles: files}
	}
	steady := []soaked{look(20, 5), look(40, 50)}
	for range 8 {
		steady = append(steady, look(50, 50))
	}
	var b bytes.Buffer
	if err := grown(&b, steady); err != nil ||
		!strings.Contains(b.String(), "RSS: 50.0 in the first half, 50.0 in the second, +0.0 %") {
		t.Errorf("%v\n%s", err, &b)
	}
	for i := range steady {
		steady[i].openFiles += 10 * float64(i)
	}
	if err := grown(&b, steady); err == nil || !strings.Contains(err.Error(), "files has grown") ||
		strings.Contains(err.Error(), "RSS") {
		t.Error(err)
	}
	if err := grown(&b, steady[:2]); err == nil {
		t.Error("two looks say nothing")
	}
}

// Each turn of a soak asks for a reply that there is, and all of a hundred have one.
func TestSoakKinds(t *testing.T) {
	kinds, sum := map[string]*reply{}, 0
	for _, k := range soakKinds {
		kinds[k.name] = k.reply
		sum += k.of
	}
	if sum != 100 {
		t.Errorf("%d of a hundred", sum)
	}
	for _, k := range soakKinds {
		request := soakRequest("127.0.0.1:1", "s", k.name, k.stream, rand.New(rand.NewPCG(1, 2)))
		if (&reply{kinds: kinds}).kind(request) != k.reply || k.stream != (k.reply.events != nil) {
			t.Errorf("%s: another reply", k.name)
		}
	}
}
