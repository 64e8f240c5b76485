package experiment

import (
	"bytes"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Who is in it: whoever the request names, and nobody by a trace alone, which is another one in each turn.
func TestUnits(t *testing.T) {
	for unit, rows := range map[string]map[Asking]bool{
		"session": {{Session: "alice"}: true, {}: false, {User: "alice", Agent: "main"}: false, {Session: "trace:4bf92f3577b34da6a3ce929d0e0e4736"}: false},
		"user": {{User: "alice"}: true, {Session: "alice"}: false,
			{User: "alice", Session: "trace:4bf92f3577b34da6a3ce929d0e0e4736"}: true},
		"agent": {{Agent: "main"}: true, {Session: "alice"}: false},
	} {
		l, set := open(t, "", &clock{time.Now()}), rules(t, "    unit: "+unit+"\n")
		for who, in := range rows {
			if assignment := l.Assign(set, "", who); (assignment != nil) != in {
				t.Errorf("%s: %+v has the assignment %v", unit, who, assignment)
			}
		}
	}
}

// Another text of a prompt that an arm names is another experiment; what has ended stays, and so does what
// an earlier version has counted, which did not know of texts.
func TestTexts(t *testing.T) {
	load := func(status, set, text string) *ruleset.Set {
		files, err := ruletest.Source(t, "").Read()
		ruletest.Must(t, err)
		files["prompts/short.txt"] = text
		files["experiments.yaml"] = "version: 1\nexperiments:\n  - id: one\n    about: x\n    measure: empty\n    status: " + status +
			"\n    arms: {control: {share: 50}, new: {share: 50, set: {" + set + "}}}\n"
		out, problems := ruletest.Shared(ruletest.Loader(Section())).Load(files)
		if out == nil {
			t.Fatal(problems)
		}
		return out
	}
	for _, row := range []struct {
		set, before, status string
		old                 bool
		units               int
	}{
		{"prompt: short", "Be brief.", "running", false, 1},
		{"prompt: short", "Be short.", "running", false, 11},
		{"prompt: short", "Be brief.", "stopped", false, 10},
		{"prompt: short", "Be brief.", "running", true, 11},
		{"limits.retry.times: 1", "Be brief.", "running", false, 11},
	} {
		l, now := open(t, "", &clock{time.Now()}), load(row.status, row.set, "Be short.")
		serve(l, load("running", row.set, row.before), 0, 10, worse)
		if row.old {
			l.trials["one"].Print, _, _ = strings.Cut(l.trials["one"].Print, ".")
		}
		l.Assign(now, "", Asking{Session: "bob"})
		if r := l.Reports(now)[0]; r.Units != row.units {
			t.Errorf("%+v: %d units", row, r.Units)
		}
	}
}

// A condition that fails is told once a minute in the log, and in the report until the rules are others.
func TestConditionFails(t *testing.T) {
	var log, out bytes.Buffer
	c := &clock{time.Now()}
	l := open(t, "", c)
	l.Log = slog.New(slog.NewTextHandler(&log, nil))
	set := rules(t, "    when: 'int(agent) == 1'\n")
	for range 3 {
		for range 10 {
			l.Assign(set, "", Asking{Session: "alice", Agent: "main"})
		}
		c.now = c.now.Add(time.Minute)
	}
	if n := strings.Count(log.String(), "experiment_failed"); n != 3 {
		t.Errorf("the log says it %d times:\n%s", n, log.String())
	}
	ruletest.Must(t, writeReports(&out, l.Reports(set), false, c.now))
	if !strings.Contains(out.String(), "its condition failed at 30 requests, which are not in it: ") ||
		strings.Contains(out.String(), "must name") {
		t.Error(out.String())
	}
	if r := l.Reports(rules(t, ""))[0]; r.Trouble != "" {
		t.Error(r.Trouble)
	}
}

// A session that comes back when its figures have made room is not counted again, also over a restart and at
// another replica, and where nobody can know, the report says it.
func TestComesBack(t *testing.T) {
	if testing.Short() {
		t.Skip("40,000 sessions")
	}
	const n = maxUnits + 100
	set, c, path := rules(t, ""), &clock{time.Now()}, filepath.Join(t.TempDir(), CountsFile)
	l := open(t, path, c)
	late := l.Assign(set, "", Asking{Session: "late"})
	serve(l, set, 0, n, worse)
	late.Ended(served(turn.Account{Turns: 1})) // so long it took
	ruletest.Must(t, l.Save())
	l = open(t, path, c)
	serve(l, set, 0, n, worse)
	events := func(r Report) float64 { return r.Arms[0].Of("empty").N + r.Arms[1].Of("empty").N }
	r := l.Reports(set)[0]
	if r.Units != n+1 || events(r) != n || r.Repeats {
		t.Errorf("%d units with %g answers", r.Units, events(r))
	}
	other := open(t, "", c)
	serve(other, set, 0, 100, worse)
	l.peers = []*File{{Version: 1, Trials: []Saved{other.trials["one"].saved(false)}}}
	if r := l.Reports(set)[0]; r.Units != n+1 {
		t.Errorf("with another replica there are %d units", r.Units)
	}
	for i := uint64(0); len(l.trials["one"].counted) < maxCounted; i++ {
		l.trials["one"].counted[i] = struct{}{}
	}
	serve(l, set, n, n+1, worse)
	var out strings.Builder
	ruletest.Must(t, writeReports(&out, l.Reports(set), false, c.now))
	if !strings.Contains(out.String(), "some of them may be counted twice") {
		t.Error(out.String())
	}
}

// An excuse of ours is no answer. What the model itself did wrong has measures of its own.
func TestExcuses(t *testing.T) {
	for fault, failed := range map[ruleset.Fault]float64{ruleset.Away: 1, ruleset.Overflow: 1,
		ruleset.Empty: 0} {
		l, set := open(t, "", &clock{time.Now()}), rules(t, "")
		s := l.Assign(set, "", Asking{Session: "alice"})
		s.Ended(served(turn.Account{Turns: 1, Notice: "There is no answer.", Empty: fault == ruleset.Empty,
			Faults: []turn.FaultRecord{{Fault: fault}}}))
		for _, arm := range l.Reports(set)[0].Arms {
			if f := arm.Of(Failed); f != nil && (f.Value != failed ||
				(arm.Of(answer) == nil) != (failed == 1) ||
				(arm.Of(Empty) == nil) != (failed == 1)) {
				t.Errorf("%s: %+v", fault, arm.Measures)
			}
		}
	}
}

// What is said again of an answer takes the place of what was said before.
func TestFeedbackAgain(t *testing.T) {
	l, set := open(t, "", &clock{time.Now()}), rules(t, "")
	serve(l, set, 0, 1, worse)
	for _, score := range []float64{1, 1, 0, 1, 0.25} {
		ruletest.Must(t, l.Feedback("req0", score))
	}
	other := open(t, "", &clock{time.Now()})
	for i, score := range []float64{0.7, 0.1, 0, 0} { // 0.7 + 0.1 - 0.7 - 0.1 is less than 0 in a computer
		id := fmt.Sprint("r", i%2)
		if i < 2 {
			other.Assign(set, id, Asking{Session: "alice"})
		}
		ruletest.Must(t, other.Feedback(id, score))
	}
	if s := other.trials["one"].saved(false); !s.sound() {
		t.Errorf("the counts are not sound: %+v", s)
	}
	for _, arm := range l.Reports(set)[0].Arms {
		if m := arm.Of(liked); arm.Units > 0 && (m == nil || m.N != 1 || m.X != 0.25 ||
			m.XX != 0.0625) {
			t.Errorf("%+v", m)
		}
	}
}

// The result of a call counts for the arm that the call left from, also where nobody names a session and
// the server gives all calls the same id.
func TestResultsOfUsers(t *testing.T) {
	l, set := open(t, "", &clock{time.Now()}), rules(t,
		"    unit: user\noutcomes: {failed: [{find: '^Error: '}]}\n")
	assignment := func(user string) *Assignment { return l.Assign(set, "", Asking{User: user}) }
	users := map[string]string{} // by arm
	for i := 0; len(users) < 2; i++ {
		user := fmt.Sprint("alice", i)
		users[assignment(user).Arms()] = user
	}
	for _, user := range users {
		assignment(user).Replied(&turn.Reply{IDs: []string{"call_0"},
			Reading: &parse.Reading{Calls: []tools.Call{{Name: "read", Arguments: []byte("{}")}}}})
	}
	for arm, result := range map[string]string{"one/control": "fine", "one/new": "Error: it failed"} {
		req, err := openai.ParseRequest(fmt.Appendf(nil,
			`{"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"call_0","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_0","content":%q}]}`, result))
		ruletest.Must(t, err)
		assignment(users[arm]).Asked(req, "")
	}
	for i, want := range []float64{1, 0} {
		if m := l.Reports(set)[0].Arms[i].Of(toolOK); m == nil || m.N != 1 || m.Value != want {
			t.Errorf("arm %d: %+v, want %g", i, m, want)
		}
	}
}

// served is what came of a request that was answered within a second.
func served(a turn.Account) *turn.Outcome {
	a.Model = "gpt-oss"
	return &turn.Outcome{Account: a, Took: time.Second, Status: 200}
}
