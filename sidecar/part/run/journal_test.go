package run

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// open is a journal in a folder of its own.
func open(t *testing.T) *Journal {
	t.Helper()
	j, err := OpenJournal(JournalConfig{Dir: filepath.Join(t.TempDir(), "runs"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// begin begins a run, and writes these records.
func begin(t *testing.T, j *Journal, id string, records ...JournalRecord) *runJournal {
	t.Helper()
	r, err := j.Begin(BeginRecord{ID: id, Model: "executor", Sum: "k", Request: []byte(`{"messages":[]}`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range records {
		if err := r.Add(rec); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

var (
	turned = JournalRecord{Turn: &TurnRecord{N: 1, Content: "hm", Calls: []RequestedCall{{"a", "write", `{"path":"x"}`},
		{"b", "read", `{}`}, {"c", "write", `{}`}}}}
	callA = JournalRecord{Call: &CallRecord{ID: "a", Tool: "write", Does: "write: x", Changes: true}}
	callB = JournalRecord{Call: &CallRecord{ID: "b", Tool: "read", Does: "read"}}
	doneA = JournalRecord{Result: &ResultRecord{ID: "a", Text: "ok"}}
	ended = JournalRecord{End: &EndRecord{Status: Answered, Finish: "stop", Text: "done"}}
)

func TestRead(t *testing.T) {
	j := open(t)
	if err := begin(t, j, "one", turned, callA, doneA, callB).Close(); err != nil {
		t.Fatal(err)
	}
	p, err := j.Load("one")
	if err != nil || len(p.Records) != 4 || p.Torn != 0 || p.End != nil || len(p.Doubt()) != 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	if s := p.Summary(); s.Status != running || s.Turns != 1 || s.Calls != 2 || s.Doubt != 0 ||
		s.Model != "executor" {
		t.Errorf("%+v", s)
	}
	if err := begin(t, j, "two", turned, callA).Close(); err != nil {
		t.Fatal(err)
	}
	if p, err := j.Load("two"); err != nil || !slices.Equal(p.Doubt(), []string{"a"}) {
		t.Errorf("%v, %v", p.Doubt(), err)
	}
	var listed []string
	if err := j.List(func(s Summary,
		err error) bool {
		listed = append(listed, s.ID)
		return err == nil
	}); err != nil || len(listed) != 2 {
		t.Errorf("%q, %v", listed, err)
	}
	for _, id := range []string{"none", "", "../one", ".one"} {
		if _, err := j.Load(id); !errors.Is(err, ErrUnknownRun) {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, mode := range []struct {
		path string
		want os.FileMode
	}{{j.cfg.Dir, 0o700}, {j.path("one"), 0o600}} {
		if info, err := os.Stat(mode.path); err != nil || info.Mode().Perm() != mode.want {
			t.Errorf("%s: %v, %v", mode.path, info.Mode(), err)
		}
	}
}

// Wherever a crash cuts the file, it is read up to the last whole record, and goes on there.
func TestTorn(t *testing.T) {
	j := open(t)
	if err := begin(t, j, "whole", turned, callA, doneA).Close(); err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(j.path("whole"))
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(doc, '\n') + 1
	for cut := range doc {
		if err := os.WriteFile(j.path("cut"), doc[:cut], fileMode); err != nil {
			t.Fatal(err)
		}
		r, p, err := j.Continue("cut", "v2", "Sam")
		if cut < first {
			if err == nil {
				t.Fatalf("cut at %d: a run without its beginning goes on", cut)
			}
			continue
		}
		if err != nil || len(p.Records) != bytes.Count(doc[first:cut], []byte("\n")) {
			t.Fatalf("cut at %d: %d records, %v", cut, len(p.Records), err)
		}
		if err := errors.Join(r.Add(ended), r.Close()); err != nil {
			t.Fatal(err)
		}
		if p, err := j.Load("cut"); err != nil || p.Torn != 0 || p.End == nil ||
			p.Records[len(p.Records)-2].Resume == nil {
			t.Fatalf("cut at %d: %+v, %v", cut, p, err)
		}
		if _, _, err := j.Continue("cut", "v2", ""); !errors.Is(err, errEnded) {
			t.Fatalf("cut at %d: a run that has ended goes on: %v", cut, err)
		}
	}
	broken := bytes.Replace(doc, []byte(`"call"`), []byte(`"call`), 1)
	if err := os.WriteFile(j.path("broken"), broken, fileMode); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Load("broken"); err == nil || !strings.Contains(err.Error(), "broken.jsonl:3: ") {
		t.Errorf("damage in the middle: %v", err)
	}
}

// Only one process goes on with a run.
func TestHeld(t *testing.T) {
	j := open(t)
	r := begin(t, j, "one", turned)
	if _, _, err := j.Continue("one", "v", ""); err == nil {
		t.Error("a run that goes on is continued by another")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r, _, err := j.Continue("one", "v", "")
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if err := r.Add(ended); err == nil || r.Add(turned) != err && r.Add(turned) == nil {
		t.Errorf("a closed file takes records: %v", err)
	}
}

func TestJournalIsMasked(t *testing.T) {
	j := open(t)
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	if err := begin(t, j, "one",
		JournalRecord{Turn: &TurnRecord{N: 1, Content: "key " + secret,
			Calls: []RequestedCall{{"a", "write", `{"content":"` + secret + `"}`}}}}).Close(); err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(j.path("one"))
	if err != nil || bytes.Contains(doc, []byte(secret)) || !bytes.Contains(doc, []byte("«")) {
		t.Errorf("%s, %v", doc, err)
	}
}

// Old runs go, those that are open stay.
func TestSweep(t *testing.T) {
	now := time.Now()
	var mu sync.Mutex
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	j, err := OpenJournal(JournalConfig{Dir: t.TempDir(), Now: clock, Runs: 2, Age: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	held := begin(t, j, "held", turned)
	defer held.Close()
	for _, id := range []string{"a", "b", "c"} {
		begin(t, j, id, ended).Close()
	}
	mu.Lock()
	now = now.Add(2 * time.Hour)
	mu.Unlock()
	begin(t, j, "new", ended).Close()
	var left []string
	if err := j.List(func(s Summary, _ error) bool { left = append(left, s.ID); return true }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(left)
	if !slices.Equal(left, []string{"held", "new"}) {
		t.Errorf("%q", left)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"time":"2026-11-22T00:00:00Z","begin":{"id":"a"}}` + "\n" +
		`{"time":"2026-11-22T00:00:00Z","end":{"status":"left"}}` + "\n"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		p, err := parsePast(doc)
		if err != nil {
			return
		}
		if p.size+int64(p.Torn) != int64(len(doc)) {
			t.Fatalf("%d good bytes and %d torn ones of %d", p.size, p.Torn, len(doc))
		}
		p.Summary()
		again, err := parsePast(doc[:p.size])
		if err != nil || again.Torn != 0 || len(again.Records) != len(p.Records) {
			t.Fatalf("what is good reads differently: %v", err)
		}
	})
}

// Whoever looks at a journal sees which runs go on, and that one has changed.
func TestNews(t *testing.T) {
	j := open(t)
	before := j.Rev("")
	if j.GoesOn("one") || j.Rev("one") != 0 {
		t.Error("a run that is not there goes on")
	}
	r := begin(t, j, "one", turned, callA)
	other := begin(t, j, "two")
	was := j.Rev("one")
	if !j.GoesOn("one") || was == 0 || j.Rev("") == before {
		t.Error("it does not go on")
	}
	if err := other.Add(turned); err != nil || j.Rev("one") != was {
		t.Errorf("another run changes it: %v", err)
	}
	if _, _, err := j.Continue("one", "v", "Sam"); err == nil || !j.GoesOn("one") {
		t.Errorf("a second one goes on with it: %v", err)
	}
	if err := r.Add(doneA); err != nil || j.Rev("one") == was {
		t.Errorf("nobody hears of a result: %v", err)
	}
	was = j.Rev("one")
	if err := r.Close(); err != nil || j.GoesOn("one") || j.Rev("one") == was {
		t.Errorf("it goes on: %v", err)
	}
	r, p, err := j.Continue("one", "v", "Sam")
	if err != nil || !j.GoesOn("one") || p.Finished() {
		t.Fatalf("%v", err)
	}
	if err := errors.Join(r.Add(ended), r.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
	if p, err := j.Load("one"); err != nil || !p.Finished() || p.Records[3].Resume.By != "Sam" {
		t.Errorf("%+v %v", p, err)
	}
	if _, _, err := j.Continue("one", "v", "Sam"); !errors.Is(err, errEnded) || j.GoesOn("one") {
		t.Errorf("%v", err)
	}
}

// The task is what the user said last, in any form that a request may have.
func TestTask(t *testing.T) {
	for request, want := range map[string]string{
		`{"messages":[{"role":"user","content":"first"},{"role":"assistant","content":"no"},{"role":"user","content":"last"}]}`: "last",
		`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"},{"type":"text","text":"b"}]}]}`: "a\nb",
		`{"messages":[{"role":"user","content":null}]}`: "", `{"messages":[]}`: "", `{"messages":7}`: "",
		`[`: "", "": "", `{"messages":[{"role":"user","content":7}]}`: "",
	} {
		if got := (&BeginRecord{Request: []byte(request)}).Task(); got != want {
			t.Errorf("%s: %q", request, got)
		}
	}
}

// Walk leaves out as many as it is told, and List is what it always was.
func TestWalk(t *testing.T) {
	j := open(t)
	for _, id := range []string{"a", "b", "c"} {
		if err := begin(t, j, id, turned).Close(); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(id[0]) * time.Second)
		if err := os.Chtimes(j.path(id), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for skip, want := range []string{"c b a", "b a", "a", "", ""} {
		var got []string
		if err := j.Walk(skip, func(id string, p *Past,
			err error) bool {
			got = append(got, id)
			return err == nil && p != nil
		}); err != nil || strings.Join(got, " ") != want {
			t.Errorf("without %d: %q %v", skip, got, err)
		}
	}
}
