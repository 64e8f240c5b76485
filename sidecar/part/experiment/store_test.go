package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("CAPTURE_UNTIL_KILLED"); dir != "" {
		untilKilled(dir)
	}
	goleak.VerifyTestMain(m)
}

// captureClock is a time that a test sets.
type captureClock struct{ ns atomic.Int64 }

func newClock() *captureClock {
	c := &captureClock{}
	c.ns.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *captureClock) now() time.Time       { return time.Unix(0, c.ns.Load()).UTC() }
func (c *captureClock) add(by time.Duration) { c.ns.Add(int64(by)) }

func opened(t testing.TB, dir string, now func() time.Time) *captureStore {
	t.Helper()
	s, err := OpenCaptures(dir, slog.New(slog.DiscardHandler), now)
	ruletest.Must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func all(t testing.TB, dir string) (out []*CaptureRecord) {
	t.Helper()
	damaged, err := ReadCaptures(dir, time.Time{}, func(r *CaptureRecord) bool { out = append(out, r); return true })
	ruletest.Must(t, err)
	if damaged > 0 {
		t.Errorf("%d lines are damaged", damaged)
	}
	return out
}

func ids(list []*CaptureRecord) string {
	var out []string
	for _, r := range list {
		out = append(out, r.ID)
	}
	return strings.Join(out, " ")
}

// size is what the segments of a folder have.
func size(t testing.TB, dir string) (n int64, files int) {
	t.Helper()
	list, err := segments(dir)
	ruletest.Must(t, err)
	for _, s := range list {
		n += s.bytes
	}
	return n, len(list)
}

func sample(id string, at time.Time) captureReply {
	return captureReply{
		At: at, ID: id, Model: "gpt-oss-20b", Server: "vllm", Session: "agent:main:1", Rules: "v1",
		Profile: "default",
		Arms:    []string{"short-prompt/b"},
		Tools:   []tools.Tool{{Name: "exec", Parameters: json.RawMessage(`{"type":"object"}`)}},
		Content: "[TOOL:exec|command=ls]", Reasoning: "List it.", Finish: "stop",
		Reading: captureReading{Calls: []Call{{"exec", json.RawMessage(`{"command":"ls"}`), "tool_tag", 0.9,
			[]string{"name.alias"}}}, Reasoning: "List it.", Finish: "tool_calls"},
		Outcome: Came{Turns: 2, Tokens: 12, First: 1.5, All: 20},
	}
}

// What comes is what stands there, for nobody else to read, and also after a restart.
func TestPut(t *testing.T) {
	dir, c := filepath.Join(t.TempDir(), "state", "capture"), newClock()
	s := opened(t, dir, c.now)
	full := sample("r1", c.now())
	full.Messages, full.User, full.Shadow = json.RawMessage(`[{"role":"user","content":"list"}]`), "list",
		&shadowOutcome{"short-prompt/a", captureReading{Content: full.Content, Finish: "stop"}}
	s.Put(captureRule{}, full)
	full.ID = "r2"
	s.Put(captureRule{Messages: true}, full)
	ruletest.Must(t, s.Close())
	ruletest.Must(t, s.Close())
	if got := s.Stats(); got.Written != 2 || got.Dropped+got.Failed != 0 || got.Waiting != 0 ||
		got.Segments != 1 {
		t.Errorf("stats %+v", got)
	}
	s.Put(captureRule{}, full)
	if got := s.Stats(); got.Dropped != 1 {
		t.Errorf("after the end: stats %+v", got)
	}
	again := opened(t, dir, c.now)
	again.Put(captureRule{}, sample("r3", c.now()))
	ruletest.Must(t, again.Close())
	list := all(t, dir)
	if ids(list) != "r1 r2 r3" {
		t.Fatal(ids(list))
	}
	if _, n := size(t, dir); n != 2 {
		t.Errorf("%d segments; a start begins a new one", n)
	}
	r := list[0]
	if r.Request != nil || r.User != "" {
		t.Errorf("messages that nobody asked for: %+v", r)
	}
	if q := list[1].Request; q == nil || string(q.Messages) != `[{"role":"user","content":"list"}]` ||
		list[1].User != "list" {
		t.Errorf("messages: %+v", q)
	}
	if r.Shadow == nil || r.Shadow.Arm != "short-prompt/a" || r.Shadow.Content != nil ||
		len(r.Shadow.Calls) != 0 {
		t.Errorf("shadow %+v", r.Shadow)
	}
	if r.Reading.Content == nil || *r.Reading.Content != "" || r.Reading.Reasoning != nil {
		t.Errorf("only what differs from what the server said is written: %+v", r.Reading)
	}
	if r.Outcome != (Came{Turns: 2, Tokens: 12, First: 1.5, All: 20}) || !r.At.Equal(c.now()) ||
		r.Reading.Calls[0].Repairs[0] != "name.alias" {
		t.Errorf("%+v", r)
	}
	for path, want := range map[string]os.FileMode{dir: dirMode, filepath.Join(dir, lockFile): fileMode} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	segs, err := segments(dir)
	ruletest.Must(t, err)
	if info, err := os.Stat(segs[0].path); err != nil || info.Mode().Perm() != fileMode {
		t.Errorf("%v %v", info, err)
	}
}

func TestNilStore(t *testing.T) {
	var s *captureStore
	s.Put(captureRule{}, captureReply{})
	s.Keep(captureRule{})
	if s.Stats() != (captureStats{}) || s.Close() != nil {
		t.Error("a nil store keeps nothing")
	}
}

// Two processes would count bytes past each other.
func TestHeld(t *testing.T) {
	dir := t.TempDir()
	opened(t, dir, time.Now)
	if _, err := OpenCaptures(dir, slog.New(slog.DiscardHandler), time.Now); !errors.Is(err, errCapturesHeld) {
		t.Error(err)
	}
}

// A process that takes over waits until the one before gives the folder free. What it records meanwhile is
// kept, and no line of the one before is cut.
func TestOpenAfter(t *testing.T) {
	dir, rule := t.TempDir(), captureRule{Bytes: 1 << 20}
	first := opened(t, dir, time.Now)
	first.Put(rule, sample("1", time.Now()))
	second, err := openCapturesAfter(dir, slog.New(slog.DiscardHandler), time.Now)
	ruletest.Must(t, err)
	second.Put(rule, sample("2", time.Now()))
	ruletest.Must(t, first.Close())
	first.Put(rule, sample("3", time.Now())) // it has given way
	ruletest.Must(t, second.Close())
	if got := len(all(t, dir)); got != 2 || second.Stats().Written != 1 || first.Stats().Dropped != 1 {
		t.Errorf("%d records, %+v, %+v", got, first.Stats(), second.Stats())
	}
}

// All segments together never have more bytes than the rule says, also over restarts, and the
// newest records stay.
func TestBytes(t *testing.T) {
	dir, c, n := t.TempDir(), newClock(), 0
	const most = 64 << 10
	for range 4 {
		s := opened(t, dir, c.now)
		for range 200 {
			n++
			c.add(time.Second)
			s.Put(captureRule{Bytes: most}, sample(fmt.Sprint(n), c.now()))
			if n%20 == 0 {
				ruletest.Soon(t, "it is written", func() bool { return s.Stats().Waiting == 0 })
				if got, _ := size(t, dir); got > most || got != s.Stats().Bytes {
					t.Fatalf("%d bytes, %+v", got, s.Stats())
				}
			}
		}
		ruletest.Must(t, s.Close())
	}
	list := all(t, dir)
	if got, files := size(t, dir); got < most*3/4 || files > parts+4 {
		t.Errorf("%d bytes in %d files: too little stays", got, files)
	}
	if list[len(list)-1].ID != fmt.Sprint(n) {
		t.Errorf("the newest is %s, not %d", list[len(list)-1].ID, n)
	}
	s := opened(t, dir, c.now) // a rule that got smaller holds at once
	s.Keep(captureRule{Bytes: most / 4})
	ruletest.Must(t, s.Close())
	if got, _ := size(t, dir); got > most/4 {
		t.Errorf("%d bytes after the rule became smaller", got)
	}
	s = opened(t, dir, c.now)
	s.Put(captureRule{Bytes: 100}, sample("large", c.now()))
	ruletest.Must(t, s.Close())
	if s.Stats().Failed != 1 {
		t.Errorf("a record that is larger than all may be: %+v", s.Stats())
	}
}

// A program that starts again and again leaves no more files than can be looked through.
func TestFiles(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	for i := range maxFiles + 5 {
		ruletest.Must(t, os.WriteFile(segmentPath(dir, uint64(i+1), c.now()), []byte("x\n"), fileMode))
	}
	s := opened(t, dir, c.now)
	s.Put(captureRule{}, sample("last", c.now()))
	s.Put(captureRule{}, sample("last", c.now()))
	ruletest.Must(t, s.Close())
	if n, files := size(t, dir); files != maxFiles || s.Stats().Segments != maxFiles || s.Stats().Bytes != n {
		t.Errorf("%d files, %+v", files, s.Stats())
	}
}

// Nothing is kept longer than the rule says, also while nothing comes.
func TestAge(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	s := opened(t, dir, c.now)
	rule := captureRule{Age: 8 * time.Hour}
	for i := range 48 {
		s.Put(rule, sample(fmt.Sprint(i), c.now()))
		ruletest.Soon(t, "it is written", func() bool { return s.Stats().Waiting == 0 })
		c.add(30 * time.Minute)
	}
	list := all(t, dir)
	if age := c.now().Sub(list[0].At); age > 8*time.Hour+30*time.Minute || len(list) < 13 {
		t.Errorf("%d records, the oldest %v old", len(list), age)
	}
	c.add(24 * time.Hour)
	s.Keep(rule)
	ruletest.Must(t, s.Close())
	if n, files := size(t, dir); files != 0 || s.Stats().Bytes != n {
		t.Errorf("%d files stay", files)
	}
}

// A disk that hangs keeps no caller waiting, and memory is bounded.
func TestQueueIsBounded(t *testing.T) {
	hang, block := make(chan struct{}), atomic.Bool{}
	c := newClock()
	s := opened(t, t.TempDir(), func() time.Time {
		if block.Load() {
			<-hang
		}
		return c.now()
	})
	block.Store(true)
	large := sample("r", c.now())
	large.Content = strings.Repeat("x", 1<<20)
	for range 200 {
		s.Put(captureRule{}, large)
	}
	if w := s.Stats().Waiting; w > maxWaitingWrites || w < maxWaitingWrites/2 {
		t.Errorf("%d bytes wait", w)
	}
	for range 3000 {
		s.Put(captureRule{}, sample("s", c.now()))
	}
	block.Store(false) // if a reply waited for the disk, this would not be reached
	close(hang)
	ruletest.Must(t, s.Close())
	if got := s.Stats(); got.Written+got.Dropped != 3200 || got.Dropped < 1000 || got.Waiting != 0 {
		t.Errorf("%+v", got)
	}
}

func TestManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir, time.Now)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 100 {
				s.Put(captureRule{Mask: true}, sample(fmt.Sprintf("%d.%d", i, j), time.Now()))
				s.Stats()
			}
		})
	}
	wg.Wait()
	ruletest.Must(t, s.Close())
	got := s.Stats()
	if n := len(all(t, dir)); uint64(n) != got.Written || got.Written+got.Dropped != 800 || got.Failed != 0 {
		t.Errorf("%d records, %+v", n, got)
	}
}

// A disk that cannot be written is told once and tried again; then replies are recorded.
func TestTrouble(t *testing.T) {
	base, c := t.TempDir(), newClock()
	stands := filepath.Join(base, "file")
	ruletest.Must(t, os.WriteFile(stands, nil, 0o600))
	var log ruletest.Journal
	s, err := OpenCaptures(filepath.Join(stands, "capture"), slog.New(slog.NewTextHandler(&log, nil)), c.now)
	ruletest.Must(t, err)
	defer s.Close()
	put := func() {
		c.add(2 * pause)
		s.Put(captureRule{}, sample("r", c.now()))
		ruletest.Soon(t, "it was taken", func() bool { return s.Stats().Waiting == 0 })
	}
	for range 3 {
		put()
	}
	if got := s.Stats(); got.Failed != 3 || strings.Count(log.String(), "capture_broken") != 1 {
		t.Errorf("%+v\n%s", got, log.String())
	}
	ruletest.Must(t, os.Remove(stands))
	put()
	if got := s.Stats(); got.Written != 1 || strings.Count(log.String(), "capture_written") != 1 {
		t.Errorf("%+v\n%s", got, log.String())
	}
	ruletest.Must(t, os.RemoveAll(filepath.Join(stands, "capture"))) // an operator tidies up
	c.add(captureRule{}.filled().Age / parts)
	put()
	put()
	if got := s.Stats(); got.Written != 2 || len(all(t, filepath.Join(stands, "capture"))) != 1 {
		t.Errorf("after the folder was removed: %+v\n%s", got, log.String())
	}
}

// A full disk costs the record, and nothing else.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full here")
	}
	dir, c := t.TempDir(), newClock()
	w := &writer{dir: dir, log: slog.New(slog.DiscardHandler), now: c.now, counts: &storeCounts{}, known: newOffered()}
	w.take(new(intake).own(captureRule{}.filled(), sample("r1", c.now())))
	w.file.Close()
	w.file = full
	w.take(new(intake).own(captureRule{}.filled(), sample("r2", c.now())))
	c.add(2 * pause)
	w.take(new(intake).own(captureRule{}.filled(), sample("r3", c.now())))
	ruletest.Must(t, w.end())
	if got := ids(all(t, dir)); got != "r1 r3" || w.counts.failed.Load() != 1 {
		t.Errorf("%s, %d failed", got, w.counts.failed.Load())
	}
}
