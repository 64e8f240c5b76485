package decisions

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/policy"
)

// dated writes decisions, an hour apart.
func dated(t *testing.T, list ...Decision) (dir string, began time.Time) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "log")
	c := new(clock)
	began = c.now()
	l := open(t, Config{Dir: dir, Now: c.now, Wait: time.Minute})
	for _, d := range list {
		if err := l.Add(d); err != nil {
			t.Fatal(err)
		}
		c.add(1)
	}
	shut(t, l)
	return dir, began
}

func TestReplay(t *testing.T) {
	call := func(command string, e policy.Effect, rule string) Decision {
		return Decision{Tool: "exec", Arguments: fmt.Appendf(nil, `{"command":%q}`, command), Effect: e,
			Rule: rule, Session: "s"}
	}
	dir, began := dated(t,
		call("ls", policy.Allow, ""),
		call("push", policy.Allow, ""),
		call("push", policy.Deny, "pushing"),
		call("rm", policy.Deny, "removing"),
		call("curl", policy.Audit, ""),
		Decision{Tool: "exec", Arguments: []byte(`not JSON`), Effect: policy.Deny},
		call("x --password hunter2", policy.Allow, ""),
	)
	var asked []string
	decide := func(r *Record) policy.Decision {
		command := string(r.Decision.Arguments)
		asked = append(asked, r.Time.Format("15h ")+command)
		switch {
		case strings.Contains(command, "push"):
			return policy.Decision{Effect: policy.Ask, Rule: "publish"}
		case strings.Contains(command, "password"):
			return policy.Decision{Effect: policy.Deny, Rule: "words"}
		}
		return policy.Decision{Effect: policy.Allow}
	}
	var seen []string
	tell := func(c *Change) {
		seen = append(seen, fmt.Sprintf("%s %s → %s %s", c.Old, c.OldRule, c.New, c.NewRule))
	}
	got, err := Replay(dir, Filter{}, decide, tell)
	want := &Tally{
		Records: 7, Unchanged: 2, Shift: Shift{1, 2, 1}, Skipped: 1, Masked: 1,
		Rules: []RuleSum{{"publish", Shift{0, 2, 0}}, {"removing (no longer)", Shift{0, 0, 1}},
			{"words", Shift{1, 0, 0}}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	wantSeen := []string{"allow default → ask publish", "deny pushing → ask publish",
		"deny removing → allow default", "allow default → deny words"}
	if diff := cmp.Diff(wantSeen, seen); diff != "" {
		t.Error(diff)
	}
	asked = nil
	got, err = Replay(dir, Filter{Since: began.Add(6 * time.Hour)}, decide, tell)
	if err != nil || got.Records != 1 || len(asked) != 6 || asked[0] != `00h {"command":"ls"}` {
		t.Errorf("%v %+v %q", err, got, asked)
	}
}

// A call that a grant let pass is asked about again if it has a reason now that the grant does not cover.
func TestReplayOfGrants(t *testing.T) {
	code := policy.Reason{Rule: "code", Place: "exec.yaml:3", Why: "why", Covers: "python3 with any code"}
	alone := policy.Reason{Rule: "push", Why: "why", Call: "ab12"}
	yes := Answer{ID: "aaaa-aaaa", State: "granted", For: "session", Covers: []policy.Reason{code, alone}}
	passed := Decision{Tool: "exec", Arguments: []byte(`{"command":"x"}`), Effect: policy.Ask, Rule: "code",
		Approval: yes.ID, Grant: "session", Outcome: Passed}
	moved, further, pushed := code, policy.Reason{Rule: "other"}, policy.Reason{Rule: "push", Why: "why"}
	moved.Place = "exec.yaml:9"
	for name, c := range map[string]struct {
		list []any
		now  policy.Decision
		want string // the change; empty: none
	}{
		"as it was":              {[]any{yes, passed}, policy.Decision{Effect: policy.Ask, Reasons: []policy.Reason{moved, pushed}}, ""},
		"allowed":                {[]any{yes, passed}, policy.Decision{Effect: policy.Allow}, ""},
		"a further reason":       {[]any{yes, passed}, policy.Decision{Effect: policy.Ask, Rule: "other", Reasons: []policy.Reason{code, further}}, "allow → ask, session"},
		"too many reasons":       {[]any{yes, passed}, policy.Decision{Effect: policy.Ask}, "allow → ask, session"},
		"denied":                 {[]any{yes, passed}, policy.Decision{Effect: policy.Deny}, "allow → deny, session"},
		"an answer that is gone": {[]any{passed}, policy.Decision{Effect: policy.Ask}, ""},
	} {
		got := ""
		tally, err := Replay(logOf(t, c.list...), Filter{}, func(*Record) policy.Decision { return c.now },
			func(c *Change) { got = fmt.Sprintf("%s → %s, %s", c.Old, c.New, c.Grant) })
		if err != nil || got != c.want || (tally.Changed() == 1) != (c.want != "") {
			t.Errorf("%s: %q %+v %v", name, got, tally, err)
		}
	}
}

func TestFilter(t *testing.T) {
	r := &Record{Time: time.Unix(100, 0), Decision: &Decision{Tool: "exec", Session: "s", Effect: policy.Deny,
		Rule: "r", Findings: []policy.Finding{{Rule: "f"}}}}
	for _, row := range []struct {
		f    Filter
		want bool
	}{
		{Filter{}, true},
		{Filter{Since: time.Unix(100, 0), Effect: "deny", Rule: "r", Tool: "exec", Session: "s"}, true},
		{Filter{Rule: "f"}, true},
		{Filter{Since: time.Unix(101, 0)}, false},
		{Filter{Effect: "allow"}, false},
		{Filter{Rule: "default"}, false},
		{Filter{Tool: "read"}, false},
		{Filter{Session: "t"}, false},
	} {
		if got := row.f.Takes(r); got != row.want {
			t.Errorf("%+v: %v", row.f, got)
		}
	}
	if (&Filter{}).Takes(&Record{Start: &Start{}}) {
		t.Error("the start of a process is a decision")
	}
}
