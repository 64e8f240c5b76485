package decisions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/policy"
)

// decision is one of many that differ.
func decision(i int) Decision {
	d := Decision{
		Tool: "exec", Class: "exec", Model: "gpt-oss", Strategy: "native", Confidence: 1,
		Rules:     "0123456789ab",
		Arguments: json.RawMessage(fmt.Sprintf(`{"command":"rm -rf ./build/%d"}`, i)),
		Effect:    policy.Allow, Enforced: true, Outcome: Passed,
	}
	if i%3 == 0 {
		d.Effect, d.Outcome, d.Rule, d.Place, d.Why = policy.Deny, Refused, "whole-tree", "exec.yaml:9",
			"This deletes the system."
	}
	return d
}

// clock goes only when it is told to.
type clock struct{ hours atomic.Int64 }

func (c *clock) now() time.Time {
	return time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(c.hours.Load()) * time.Hour)
}

func (c *clock) add(hours int64) { c.hours.Add(hours) }

// open is Open, or the end of the test.
func open(t testing.TB, cfg Config) *Log {
	t.Helper()
	l, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// shut is Close, or the end of the test.
func shut(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// filled writes a log of n decisions.
func filled(t testing.TB, cfg Config, n int) (dir string) {
	t.Helper()
	cfg.Dir = filepath.Join(t.TempDir(), "log")
	l := open(t, cfg)
	for i := range n {
		if err := l.Add(decision(i)); err != nil {
			t.Fatal(err)
		}
	}
	shut(t, l)
	return cfg.Dir
}

// verified is what Verify says of a folder.
func verified(t testing.TB, dir string, expect ...Checkpoint) *Report {
	t.Helper()
	r, err := Verify(dir, expect...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustBeGood(t testing.TB, dir string) *Report {
	t.Helper()
	r := verified(t, dir)
	if len(r.Problems) > 0 {
		t.Fatalf("%s: %v", dir, r.Problems)
	}
	return r
}

// modes are all of them.
var modes = []Mode{Written, Synced, Required}

func TestLog(t *testing.T) {
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			dir := filled(t, Config{Mode: mode, HeadRecords: 5}, 12)
			r := mustBeGood(t, dir)
			if r.Records != 13 || r.Last.Seq != 13 || r.Segments != 1 || r.AfterHead != 0 {
				t.Errorf("%+v", r)
			}
			var back []Record
			if err := Read(dir, func(rec *Record,
				_ error) bool {
				back = append(back, *rec)
				return true
			}); err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, rec := range back {
				if rec.Decision == nil {
					continue
				}
				want := decision(n)
				if got := rec.Decision; string(got.Arguments) != string(want.Arguments) ||
					got.Effect != want.Effect || got.Why != want.Why {
					t.Errorf("%d: %+v", n, got)
				}
				n++
			}
			if n != 12 {
				t.Errorf("%d decisions came back", n)
			}
			l := open(t, Config{Dir: dir})
			_ = l.Add(decision(1))
			shut(t, l)
			mustBeGood(t, dir)
		})
	}
}

func TestOneWriter(t *testing.T) {
	dir := t.TempDir()
	l := open(t, Config{Dir: dir})
	defer shut(t, l)
	if _, err := Open(Config{Dir: dir}); err == nil ||
		!strings.Contains(err.Error(), "another process writes this log") {
		t.Errorf("a second writer: %v", err)
	}
}

func TestSecretsAreMasked(t *testing.T) {
	const secret = "hunter2hunter2"
	dir := filepath.Join(t.TempDir(), "log")
	l := open(t, Config{Dir: dir})
	d := Decision{
		Tool: "exec", Arguments: json.RawMessage(`{"command":"psql --password ` + secret + `"}`),
		Effect: policy.Deny,
		Why:    "the call has password=" + secret, Findings: []policy.Finding{{Why: "token: " + secret}},
	}
	_ = l.Add(d)
	d.Arguments = json.RawMessage(`{"command":"psql --password ` + secret) // half of it
	_ = l.Add(d)
	shut(t, l)
	list, err := segments(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(list[0].path)
	if err != nil || bytes.Contains(text, []byte(secret)) || !bytes.Contains(text, []byte(`"masked":1`)) {
		t.Errorf("%v\n%s", err, text)
	}
	mustBeGood(t, dir)
}

func TestAnswers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	l := open(t, Config{Dir: dir})
	if err := l.AddAnswer(Answer{ID: "a1", State: "denied", By: "bob", Note: "token=hunter2"}); err != nil {
		t.Error(err)
	}
	shut(t, l)
	mustBeGood(t, dir)
	var got *Answer
	if err := Read(dir, func(r *Record, _ error) bool { got = r.Answer; return got == nil }); err != nil {
		t.Fatal(err)
	}
	want := &Answer{ID: "a1", State: "denied", By: "bob", Note: "token=«masked:secret:7»"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Connections of running commands are records like others: in the chain, masked, and found
// by the same filters.
func TestConnections(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	l := open(t, Config{Dir: dir, Mode: Required})
	if err := l.AddConnection(Connection{Ticket: "t1", Session: "main", Tool: "exec", Server: "token=hunter2",
		Method: "CONNECT", Effect: policy.Deny, Outcome: Refused, Rule: "url-private",
		Findings: []policy.Finding{{Rule: "dry", Why: "token=hunter2"}}}); err != nil {
		t.Error(err)
	}
	if err := l.AddConnection(Connection{Ticket: "t1", Tool: "exec", Server: "go.dev:443",
		Effect: policy.Allow, Outcome: Connected, Times: 3, Sent: 10, Received: 20}); err != nil {
		t.Error(err)
	}
	shut(t, l)
	mustBeGood(t, dir)
	for _, row := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "token=«masked:secret:7» go.dev:443"}, {Filter{Effect: "deny"}, "token=«masked:secret:7»"}, {Filter{Rule: "dry"}, "token=«masked:secret:7»"},
		{Filter{Rule: "default"}, "go.dev:443"}, {Filter{Session: "main"}, "token=«masked:secret:7»"}, {Filter{Tool: "read"}, ""},
	} {
		var got []string
		err := Read(dir, func(r *Record, _ error) bool {
			if row.filter.Takes(r) {
				got = append(got, r.Connection.Server)
			}
			return true
		})
		if err != nil || strings.Join(got, " ") != row.want {
			t.Errorf("%+v: %v, %v", row.filter, got, err)
		}
	}
	changes, err := Replay(dir, Filter{},
		func(*Record) policy.Decision { t.Error("a connection is no call"); return policy.Decision{} },
		func(*Change) {})
	if err != nil || changes.Records != 0 {
		t.Errorf("%+v, %v", changes, err)
	}
}

func TestRotation(t *testing.T) {
	dir := filled(t, Config{SegmentBytes: 4 << 10, HeadRecords: 10}, 200)
	r := mustBeGood(t, dir)
	if r.Segments < 10 || r.First != 1 {
		t.Errorf("%+v", r)
	}
	dir = filled(t, Config{SegmentBytes: 4 << 10, HeadRecords: 10, KeepSegments: 3}, 200)
	r = mustBeGood(t, dir)
	if r.Segments > 3 || r.First == 1 || r.Removed != r.First-1 {
		t.Errorf("%+v", r)
	}
	if r := verified(t, dir, Checkpoint{r.First - 1, r.Last.Hash},
		Checkpoint{5, r.Last.Hash}); len(r.Problems) != 2 ||
		!strings.Contains(r.Problems[1].Why, "record 5 was removed, so this head cannot be compared") {
		t.Errorf("heads of removed records: %v", r.Problems)
	}
	list, err := segments(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(list[0].path); err != nil {
		t.Fatal(err)
	}
	if r := verified(t, dir); len(r.Problems) == 0 ||
		!strings.Contains(r.Problems[0].Why, "no record says that retention removed") {
		t.Errorf("a cut is taken for retention: %v", r.Problems)
	}
}

func TestAge(t *testing.T) {
	dir, c := t.TempDir(), new(clock)
	cfg := Config{Dir: dir, Now: c.now}
	for range 3 {
		l := open(t, cfg)
		_ = l.Add(decision(1))
		shut(t, l)
		c.add(25)
	}
	if r := mustBeGood(t, dir); r.Segments != 3 {
		t.Errorf("%d segments of three days", r.Segments)
	}
}

// A log of the versions that signed is a chain as before: it is checked as one, and goes on.
func TestSignedLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(os.CopyFS(dir, os.DirFS("testdata/signed")))
	check(os.Chmod(dir, dirMode))
	if r := mustBeGood(t, dir); r.Signatures != 3 || r.Records != 9 || r.AfterHead != 0 {
		t.Errorf("%+v", r)
	}
	l := open(t, Config{Dir: dir})
	check(l.Add(decision(1)))
	shut(t, l)
	if r := mustBeGood(t, dir); r.Signatures != 3 || r.Records != 11 || count(t, dir) != 6 {
		t.Errorf("%+v", r)
	}
	file := segmentPath(dir, 1)
	text, err := os.ReadFile(file)
	check(err)
	at := bytes.Index(text, []byte(`"sig":"`)) + 10
	text[at] ^= 1
	check(os.WriteFile(file, text, fileMode))
	mustName(t, dir, "a letter of a signature", 2)
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, fileMode)
	}
	if err != nil {
		t.Fatal(err)
	}
}
