package experiment

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// rules are the shipped ones with an experiment of two prompts, and more said of it.
func rules(t testing.TB, more string) *ruleset.Set {
	t.Helper()
	return rulesOf(t, Running, more)
}

func rulesOf(t testing.TB, status, more string) *ruleset.Set {
	t.Helper()
	files, err := ruletest.Source(t, "").Read()
	ruletest.Must(t, err)
	files["experiments.yaml"] = "version: 1\nexperiments:\n  - id: one\n    about: x\n    status: " + status +
		"\n    measure: empty\n" +
		"    arms: {control: {share: 50}, new: {share: 50, set: {limits.retry.times: 1}}}\n" + more
	set, problems := ruletest.Loader(Section()).Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	return set
}

type clock struct{ now time.Time }

func open(t testing.TB, path string, c *clock) *Tracker {
	t.Helper()
	l, err := OpenTracker(TrackerConfig{Path: path, Now: func() time.Time { return c.now }, Metrics: telemetry.New(),
		Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	ruletest.Must(t, err)
	return l
}

// serve serves one request of each session, whose answer is empty with the chance of its arm.
func serve(l *Tracker, set *ruleset.Set, from, to int, chance map[string]float64) {
	r := rand.New(rand.NewPCG(uint64(from), 3))
	for i := from; i < to; i++ {
		s := l.Assign(set, fmt.Sprint("req", i), Asking{Session: fmt.Sprint("alice", i)})
		if s == nil {
			continue
		}
		s.Ended(served(turn.Account{Turns: 1, Completion: 10, Empty: r.Float64() < chance[s.Arms()]}))
	}
}

var worse = map[string]float64{"one/control": 0.05, "one/new": 0.3}

// An experiment ends by itself: when enough units were in it, when it is old, when it is
// decided, and when something gets worse that must not. Then nobody is in it.
func TestStops(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	for more, why := range map[string]string{
		"    stop: {sessions: 300}\n":              "units were in it",
		"    stop: {days: 3}\n":                    "it is 3 days old",
		"    stop: {decided: true}\n":              "new: empty is worse by",
		"    guards: [{measure: empty, by: 5}]\n":  "new: empty is worse by",
		"    guards: [{measure: empty, by: 90}]\n": "",
		"    guards: [{measure: denied}]\n":        "",
		// Worse is worse, whatever the margin.
		"    margin: 60\n    stop: {decided: true}\n": "new: empty is worse by",
		"": "",
	} {
		set, c := rules(t, more), &clock{time.Now()}
		l := open(t, "", c)
		for from := 0; from < 2000; from += 100 {
			serve(l, set, from, from+100, worse)
			l.Review(set)
		}
		c.now = c.now.Add(73 * time.Hour)
		l.Review(set)
		r := l.Reports(set)[0]
		if (why == "") != (r.Why == "") || !strings.Contains(r.Why, why) {
			t.Errorf("%s: %q, not %q", more, r.Why, why)
		}
		if assignment := l.Assign(set, "x",
			Asking{Session: "bob"}); (assignment == nil) != (r.Why != "") {
			t.Errorf("%s: %v", more, assignment)
		}
	}
}

// A split that was off once decides nothing any more, and a guard still stops.
func TestGuardsAndSplit(t *testing.T) {
	for more, want := range map[string]string{
		"    stop: {decided: true}\n":             "",
		"    guards: [{measure: empty, by: 5}]\n": "new: empty is worse by",
	} {
		set, c := rules(t, more), &clock{time.Now()}
		l := open(t, "", c)
		serve(l, set, 0, 10, worse)
		l.trials["one"].Off = 1e-5
		serve(l, set, 10, 1000, worse)
		l.Review(set)
		if r := l.Reports(set)[0]; (want == "") != (r.Why == "") || !strings.HasPrefix(r.Why, want) ||
			r.Arms[1].Of("empty").Against.Kind != Broken {
			t.Errorf("%s: %q, not %q", more, r.Why, want)
		}
	}
}

// Arms that do the same are told apart from arms of which nothing is known yet where a margin
// says what does not matter, and an experiment can end with that.
func TestMargin(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	alike := map[string]float64{"one/control": 0.05, "one/new": 0.05}
	for more, want := range map[string]string{
		"":                  "undecided",
		"    margin: 0.1\n": "undecided",
		"    margin: 5\n":   "no difference of ",
		"    margin: 5\n    stop: {decided: true}\n": "no difference of ",
	} {
		set, c := rules(t, more), &clock{time.Now()}
		l := open(t, "", c)
		for from := 0; from < 4000; from += 100 {
			serve(l, set, from, from+100, alike)
			l.Review(set)
		}
		r := l.Reports(set)[0]
		m := r.Arms[1].Of("empty")
		if !strings.HasPrefix(m.Words, want) || (r.Why != "") != strings.Contains(more, "decided") {
			t.Errorf("%q: %s, stopped because %q", more, m.Words, r.Why)
		}
		if r.Why != "" && (!strings.HasPrefix(r.Why, "new: empty has no difference of ") || r.Units >= 4000) {
			t.Errorf("%q: stopped with %d because %q", more, r.Units, r.Why)
		}
		if tokens := r.Arms[1].Of("tokens"); tokens.Words == m.Words && m.Words != "undecided" {
			t.Errorf("%q: the margin is one of empty, and tokens are %s", more, tokens.Words)
		}
	}
}

// Shares that adapt go to the arm that does better, and those who were in an arm stay there.
func TestAdapts(t *testing.T) {
	set, c := rules(t, "    adaptive: {floor: 10}\n"), &clock{time.Now()}
	l := open(t, "", c)
	arms := map[int]string{}
	for from := 0; from < 3000; from += 50 {
		serve(l, set, from, from+50, worse)
		l.Review(set)
		for i := range 50 {
			if from == 0 {
				arms[i] = l.Assign(set, "", Asking{Session: fmt.Sprint("alice", i)}).Arms()
			} else if is := l.Assign(set, "",
				Asking{Session: fmt.Sprint("alice", i)}).Arms(); is != arms[i] {
				t.Fatalf("alice%d was in %s and is in %s", i, arms[i], is)
			}
		}
	}
	r := l.Reports(set)[0]
	if r.Arms[0].Share < 0.85 || r.Arms[1].Share < 0.1-1e-9 || r.Arms[1].Units < 300 || r.Split < 0.001 {
		t.Errorf("%+v", r)
	}
}

// Replicas agree on arms and their counts add up; a file does not say who was in it; another
// phase counts anew, and what was counted before is kept.
func TestReplicasAndFiles(t *testing.T) {
	set, c, dir := rules(t, ""), &clock{time.Now()}, t.TempDir()
	var files []*File
	for i := range 2 {
		l := open(t, filepath.Join(dir, fmt.Sprint(i)), c)
		serve(l, set, i*500, i*500+500, worse)
		if a, b := l.Assign(set, "", Asking{Session: "carol"}), open(t, "", c).Assign(set, "",
			Asking{Session: "carol"}); a.Arms() != b.Arms() {
			t.Error("replicas do not agree")
		}
		ruletest.Must(t, l.Save())
		doc, err := os.ReadFile(l.Path)
		ruletest.Must(t, err)
		if bytes.Contains(doc, []byte("alice")) || bytes.Contains(doc, []byte("carol")) {
			t.Error("the file says who was in it")
		}
		f, err := ReadCounts(l.Path)
		ruletest.Must(t, err)
		files = append(files, f)
	}
	list, err := readReports(set, io.Discard, files...)
	ruletest.Must(t, err)
	r := list[0]
	if r.Units != 1001 || r.Arms[0].Of("empty").N+r.Arms[1].Of("empty").N != 1000 ||
		r.Arms[1].Of("empty").Words[:5] != "worse" {
		t.Errorf("%+v", r)
	}
	again := open(t, filepath.Join(dir, "0"), c)
	serve(again, set, 0, 500, worse) // the same sessions: more events, no new units
	if r := again.Reports(set)[0]; r.Units != 501 || r.Arms[0].Of("empty").N+r.Arms[1].Of("empty").N != 1000 {
		t.Errorf("%+v", r)
	}
	next := rules(t, "    phase: 2\n")
	serve(again, next, 0, 10, worse)
	ruletest.Must(t, again.Save())
	if f, err := ReadCounts(again.Path); err != nil || f.Trials[0].Phase != 2 || len(f.Past) != 1 ||
		f.Past[0].Arms[0].Units < 200 {
		t.Errorf("%+v %v", f, err)
	}
}

// A session whose requests go to several replicas is one, as if all had come to the same.
func TestMovingSessions(t *testing.T) {
	set, c := rules(t, ""), &clock{time.Unix(1e9, 0).UTC()}
	whole, dirs := open(t, "", c), []string{t.TempDir(), t.TempDir(), t.TempDir()}
	serve(whole, set, 0, 200, worse)
	for i, dir := range dirs {
		l := open(t, filepath.Join(dir, CountsFile), c)
		serve(l, set, 0, 200-50*i, worse)
		ruletest.Must(t, l.Save())
		if i > 0 {
			serve(whole, set, 0, 200-50*i, worse)
		}
	}
	files, err := readFolders(dirs)
	ruletest.Must(t, err)
	for range 2 { // what was read stays as it is
		got, err := readReports(set, io.Discard, files...)
		ruletest.Must(t, err)
		want := whole.Reports(set)
		if want[0].Series = nil; !reflect.DeepEqual(got, want) {
			t.Errorf("%+v\nand at one replica\n%+v", got, want)
		}
	}
	if _, err := readFolders([]string{dirs[0], dirs[1], dirs[0] + "/."}); err == nil ||
		!strings.Contains(err.Error(), "named twice") {
		t.Errorf("a folder named twice: %v", err)
	}
}

// A file that was not counted is not believed. A server sets it aside, and begins anew.
func TestBrokenFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), CountsFile)
	for text, want := range map[string]string{
		"{": "unexpected end", `{"version":2}`: "version 2 is not known",
		`{"version":1,"trials":[{"id":"a","arms":[{},{}],"units":[{"arm":7}]}]}`:                    "not sound",
		`{"version":1,"trials":[{"id":"a","arms":[{"measures":{"empty":{"units":5,"n":-1}}},{}]}]}`: "not sound",
	} {
		ruletest.Must(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := ReadCounts(path); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasSuffix(err.Error(), "move it away to begin anew") {
			t.Errorf("%s: %v", text, err)
		}
		var log bytes.Buffer
		l, err := OpenTracker(TrackerConfig{Path: path, Now: time.Now, Metrics: telemetry.New(),
			Log: slog.New(slog.NewTextHandler(&log, nil))})
		ruletest.Must(t, err)
		ruletest.Must(t, l.Close())
		aside, err := filepath.Glob(path + ".damaged-*")
		if err != nil || len(aside) != 1 || !strings.Contains(log.String(), "level=ERROR") ||
			!strings.Contains(log.String(), want) || !strings.Contains(log.String(), aside[0]) {
			t.Errorf("%s: %v is set aside, %v: %s", text, aside, err, log.String())
			continue
		}
		if kept, err := os.ReadFile(aside[0]); err != nil || string(kept) != text {
			t.Errorf("%s: %s is kept, %v", text, kept, err)
		}
		ruletest.Must(t, os.Remove(aside[0]))
	}
}

// What people read of it.
func TestWrite(t *testing.T) {
	set, c := rules(t, ""), &clock{time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}
	l := open(t, "", c)
	serve(l, set, 0, 2000, worse)
	var out strings.Builder
	ruletest.Must(t, writeReports(&out, l.Reports(set), true, c.now.Add(50*time.Hour)))
	for _, want := range []string{"one  running, phase 1, day 3, 2000 sessions, split ", " ok\n",
		"against control", "worse by 2", "requests  of ", "10.0 tokens"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, out.String())
		}
	}
	out.Reset()
	ruletest.Must(t, writeReports(&out, nil, false, c.now))
	if !strings.HasPrefix(out.String(), "There is no experiment") {
		t.Error(out.String())
	}
}

// Who is pinned to an arm gets it, and is not counted.
func TestPinned(t *testing.T) {
	set, c := rules(t, "    sample: [{session: alice, arm: new}, {session: bob, arm: control}]\n"),
		&clock{time.Now()}
	l := open(t, "", c)
	for unit, arm := range map[string]string{"alice": "one/new", "bob": "one/control"} {
		s := l.Assign(set, "r", Asking{Session: unit})
		if s.Arms() != arm {
			t.Errorf("%s is in %s", unit, s.Arms())
		}
		s.Ended(served(turn.Account{Turns: 1}))
	}
	if r := l.Reports(set)[0]; r.Units != 0 || len(r.Arms[0].Measures)+len(r.Arms[1].Measures) != 0 {
		t.Errorf("%+v", r)
	}
}

// What is recorded, and what a shadow reads, is not what another turn puts into the buffer.
func TestHeardIsOwned(t *testing.T) {
	dir, set := t.TempDir(), rules(t, "capture: {share: 100}\n")
	store, err := OpenCaptures(dir, slog.New(slog.DiscardHandler), time.Now)
	ruletest.Must(t, err)
	l := open(t, "", &clock{time.Now()})
	l.Store = store
	s := l.Assign(set, "r", Asking{Session: "s"})
	buffer := []byte(`{"path":"mine"}`)
	s.Replied(&turn.Reply{Set: set,
		Reading: &parse.Reading{Calls: []tools.Call{{Name: "read", Arguments: buffer}}}})
	copy(buffer, `{"path":"your"}`)
	s.Ended(served(turn.Account{}))
	ruletest.Must(t, l.Close())
	n := 0
	_, err = ReadCaptures(dir, time.Time{}, func(r *CaptureRecord) bool {
		n++
		if got := string(r.Reading.Calls[0].Arguments); got != `{"path":"mine"}` {
			t.Errorf("it recorded %s", got)
		}
		return true
	})
	if err != nil || n != 1 {
		t.Errorf("%d records, %v", n, err)
	}
}
