package approvals

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
)

// why are reasons of a rule and what they cover.
func why(covers ...string) Reason {
	var r Reason
	for _, c := range covers {
		r.All = append(r.All, policy.Reason{Rule: "r", Covers: c})
	}
	return r
}

// A grant lets pass what has no other reason to be asked about, of one agent, while its span lasts.
func TestGrant(t *testing.T) {
	session, agent, place := call(), call(), call()
	session.Session, agent.Agent, place.Cwd = "s2", "other", "/srv/else"
	for name, c := range map[string]struct {
		span    Span
		call    Call
		reasons Reason
		task    string
		after   time.Duration
		want    bool
	}{
		"session":          {Session, does("other"), why("a"), "2", time.Hour, true},
		"fewer reasons":    {Session, does("other"), why("b"), "2", 0, true},
		"a further reason": {Session, does("other"), why("a", "c"), "2", 0, false},
		"without reasons":  {Session, does("other"), why(), "2", 0, false},
		"another session":  {Session, session, why("a"), "2", 0, false},
		"at an end":        {Session, call(), why("a"), "2", 12 * time.Hour, false},
		"an hour":          {Hour, session, why("a"), "", 59 * time.Minute, true},
		"after an hour":    {Hour, call(), why("a"), "", time.Hour, false},
		"another agent":    {Hour, agent, why("a"), "", 0, false},
		"another folder":   {Hour, place, why("a"), "", 0, false},
		"task":             {Task, call(), why("a"), "1", time.Hour, true},
		"no task":          {Task, call(), why("a"), "", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(t *testing.T, s *Store, _ *counts) {
				asked := s.Request(call(), why("a", "b"))
				e, err := s.Grant(asked.ID, "Sam", c.span)
				if err != nil || e.State != Granted || e.For != c.span {
					t.Fatalf("%+v %v", e, err)
				}
				time.Sleep(c.after) // in the bubble
				by, ok := s.Covering(&c.call, c.reasons.All, c.task)
				if ok != c.want || ok && by.ID != asked.ID {
					t.Errorf("%v %+v", ok, by)
				}
				s.Withdraw(asked.ID) // the run that asked is over
				if _, again := s.Covering(&c.call, c.reasons.All, c.task); again != ok {
					t.Errorf("later: %v", again)
				}
			})
		})
	}
}

// Two grants for two reasons are none for a call that has both.
func TestGrantsDoNotAdd(t *testing.T) {
	timed(t, func(t *testing.T, s *Store, _ *counts) {
		for _, covers := range []string{"reads a secret", "sends"} {
			if _, err := s.Grant(s.Request(does(covers), why(covers)).ID, "Sam", Hour); err != nil {
				t.Fatal(err)
			}
		}
		c := call()
		if _, ok := s.Covering(&c, why("reads a secret", "sends").All, ""); ok {
			t.Error("both at once are covered")
		}
	})
}

// A grant for a task is for the first one that uses it, and for no other.
func TestGrantOfATask(t *testing.T) {
	timed(t, func(t *testing.T, s *Store, _ *counts) {
		if _, err := s.Grant(s.Request(call(), why("a")).ID, "Sam", Task); err != nil {
			t.Fatal(err)
		}
		c := call()
		for _, step := range []struct {
			task string
			want bool
		}{{"", false}, {"2", true}, {"2", true}, {"3", false}, {"1", false}, {"2", true}} {
			if _, ok := s.Covering(&c, why("a").All, step.task); ok != step.want {
				t.Errorf("task %q: %v", step.task, ok)
			}
		}
	})
}

// Who has granted something can end it, and it is asked about again.
func TestEnd(t *testing.T) {
	timed(t, func(t *testing.T, s *Store, n *counts) {
		c, id := call(), s.Request(call(), why("a")).ID
		var late *AnsweredError
		if _, err := s.End(id, "Sam"); !errors.As(err, &late) {
			t.Errorf("before it is granted: %v", err)
		}
		if _, err := s.Grant(id, "Sam", Session); err != nil {
			t.Fatal(err)
		}
		for verb, answer := range map[string]func() (Entry, error){
			"deny":  func() (Entry, error) { return s.Deny(id, "Bo", "") },
			"allow": func() (Entry, error) { return s.Allow(id, "Bo") },
			"grant": func() (Entry, error) { return s.Grant(id, "Bo", Hour) },
		} {
			_, err := answer()
			if !errors.As(err, &late) || !strings.Contains(late.Error(), "for this session") {
				t.Errorf("%s: %v", verb, err)
			}
		}
		if _, ok := s.Covering(&c, why("a").All, ""); !ok {
			t.Error("it covers nothing")
		}
		if e, err := s.End(id, "Bo"); err != nil || e.State != Expired || e.Note != "ended by Bo" {
			t.Errorf("%+v %v", e, err)
		}
		if _, ok := s.Covering(&c, why("a").All, ""); ok {
			t.Error("it covers calls when it has ended")
		}
		if e := s.Request(c, why("a")); e.ID == id || e.State != Pending {
			t.Errorf("the same call: %+v", e)
		}
		n.want(t, 1, map[string]int{"asked": 2, "granted": 1, "covered": 1, "expired": 1})
	})
}

// What cannot be said in few words, or belongs to no session, can be allowed only once.
func TestWhatCannotBeGranted(t *testing.T) {
	nameless := call()
	nameless.Session = ""
	for name, c := range map[string]struct {
		call Call
		why  Reason
		span Span
		want string
	}{
		"too many reasons": {call(), why(), Hour, "too many reasons"},
		"no session":       {nameless, why("a"), Session, "names no session"},
		"no session, task": {nameless, why("a"), Task, "names no session"},
		"no span":          {call(), why("a"), "ever", `"ever" is none of`},
	} {
		timed(t, func(t *testing.T, s *Store, _ *counts) {
			id := s.Request(c.call, c.why).ID
			_, err := s.Grant(id, "Sam", c.span)
			if !errors.Is(err, ErrWide) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", name, err)
			}
			state(t, s, id, Pending)
		})
	}
}

// Grants outlive a restart, without what they were asked about, and what was ended stays so. They have a
// bound.
func TestGrantsAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "grants.json")
	open := func() *Store { return New(limits, time.Now, &counts{}, nil, file) }
	s, c := open(), call()
	a, b := s.Request(does("secret a"), why("a")).ID, s.Request(does("secret b"), why("b")).ID
	for _, id := range []string{a, b} {
		if _, err := s.Grant(id, "Sam", Hour); err != nil {
			t.Fatal(err)
		}
	}
	if text, _ := os.ReadFile(file); strings.Contains(string(text), "secret") {
		t.Errorf("the file has the call: %s", text)
	}
	s = open()
	if e, ok := s.Covering(&c, why("a").All, ""); !ok || e.By != "Sam" {
		t.Errorf("after a restart: %v %+v", ok, e)
	}
	if _, err := s.End(a, "Sam"); err != nil {
		t.Fatal(err)
	}
	s = open()
	_, first := s.Covering(&c, why("a").All, "")
	if _, second := s.Covering(&c, why("b").All, ""); first || !second {
		t.Errorf("after it has ended, and a restart: %v, and the other one %v", first, second)
	}
	old := Entry{ID: "x", State: Granted, For: Hour, Call: c, Reason: why("a"), Until: time.Now()}
	once := old
	once.State, once.Until = Allowed, old.Until.Add(time.Hour)
	over, _ := json.Marshal([]Entry{old, once})
	for name, text := range map[string]string{"old and others": string(over), "none": "null",
		"no JSON": "[{", "holes": "[null]"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok := open().Covering(&c, why("a").All, ""); ok {
			t.Errorf("%s: it covers a call", name)
		}
	}
	s = New(limits, time.Now, &counts{}, nil, filepath.Join(t.TempDir(), "missing", "grants.json"))
	if _, err := s.Grant(s.Request(c, why("a")).ID, "Sam", Hour); err == nil {
		t.Error("it is granted, and cannot be kept")
	}
	if _, ok := s.Covering(&c, why("a").All, ""); ok {
		t.Error("it covers a call, and cannot be kept")
	}
}

func TestGrantsAreBounded(t *testing.T) {
	timed(t, func(t *testing.T, s *Store, _ *counts) {
		for i := range 2 * limits.Total {
			id := s.Request(does(strings.Repeat("x", i)), why("a")).ID
			if _, err := s.Grant(id, "Sam", Hour); err != nil {
				t.Fatal(err)
			}
		}
		list, _, _ := s.List()
		n := 0
		for _, e := range list {
			if e.State == Granted {
				n++
			}
		}
		if n > limits.Total {
			t.Errorf("%d grants", n)
		}
	})
}
