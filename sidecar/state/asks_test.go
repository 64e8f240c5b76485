package state

import (
	"fmt"
	"testing"
	"time"
)

// A step is the result of a call that was to be asked about, so long after it left.
type step struct {
	text  string
	after time.Duration
}

const (
	atOnce   = 100 * time.Millisecond
	headless = `{"status":"error","tool":"exec","error":"exec denied: Headless runs cannot wait for interactive exec approval."}`
	noBind   = "Exec denied (SYSTEM_RUN_DENIED: approval cannot safely bind this command): ls > x"
)

func TestAsksByTheirResults(t *testing.T) {
	for name, c := range map[string]struct {
		steps  []step
		proven int // how often the proof was complete
		hears  bool
	}{
		"nothing was written":                   {[]step{{"(no output)", atOnce}}, 1, false},
		"it has failed, and speaks of approval": {[]step{{"deploy: approval required, it was not executed\n\n(Command exited with code 1)", 0}}, 1, false},
		"it has failed":                         {[]step{{"ls: no such file\n\n(Command exited with code 2)", 999 * time.Millisecond}}, 1, false},
		"it goes on":                            {[]step{{"Command still running (session amber-a, pid 12). Use process", atOnce}}, 1, false},
		"a person has said yes":                 {[]step{{"(no output)", 3 * time.Second}, {"total 4", 3 * time.Second}}, 0, true},
		"some text, once":                       {[]step{{"total 4\n", atOnce}}, 0, true},
		"some text, twice":                      {[]step{{"total 4\n", atOnce}, {"total 4", atOnce}}, 1, false},
		"some text, late between":               {[]step{{"total 4\n", atOnce}, {"total 4", time.Minute}, {"total 4\n", atOnce}}, 1, false},
		"proven once, then again":               {[]step{{"(no output)", atOnce}, {"(no output)", atOnce}}, 1, false},
		"asked in between":                      {[]step{{"total 4", atOnce}, {"Exec denied (gateway id=1, user-denied): ls", time.Minute}, {"total 4", atOnce}}, 0, true},
		"asked after the proof":                 {[]step{{"(no output)", atOnce}, {"Approval required (id 1, full 2).", atOnce}}, 1, true},
		"nobody is there":                       {[]step{{headless, atOnce}, {headless, atOnce}}, 0, true},
		"OpenClaw cannot bind it":               {[]step{{noBind, atOnce}, {noBind, atOnce}}, 0, true},
		"the platform has no way":               {[]step{{"Exec approval is required, but Matrix does not support chat exec approvals.", atOnce}}, 0, true},
		"the arguments were wrong":              {[]step{{`Validation failed for tool "exec": command`, atOnce}, {`Validation failed for tool "exec": command`, atOnce}}, 0, true},
		"there is no such tool":                 {[]step{{"Tool exec not found", atOnce}, {"Tool exec not found", atOnce}}, 0, true},
		"the folder is missing":                 {[]step{{`workdir "x" is unavailable or not a directory: command was not executed. workdir is`, atOnce}, {`workdir "y" is unavailable or not a directory: command was not executed.`, atOnce}}, 0, true},
		"the tool itself is broken":             {[]step{{`{"status":"error","tool":"exec","error":"spawn E2BIG"}`, atOnce}, {`{"status": "error"}`, atOnce}}, 0, true},
	} {
		a, proven := NewAsks(), 0
		for i, s := range c.steps {
			id := fmt.Sprint(i)
			a.Left(id, "main", noon)
			if by, yes := a.Result(id, s.text, noon.Add(s.after)); yes {
				proven++
				if by != "main" {
					t.Errorf("%s: it is about %q", name, by)
				}
			}
			if _, again := a.Result(id, "(no output)", noon); again {
				t.Errorf("%s: a result counts twice", name)
			}
		}
		if hears := a.Hears("main", noon.Add(time.Minute)); proven != c.proven || hears != c.hears {
			t.Errorf("%s: %d proofs, hears: %v", name, proven, hears)
		}
		if !a.Hears("other", noon) {
			t.Errorf("%s: others are not heard", name)
		}
	}
}

// What was believed for long is found out again, by one call.
func TestAsksHealsWithTime(t *testing.T) {
	a := NewAsks()
	now := noon
	ran := func(text string) bool {
		a.Left("x", "main", now)
		_, proven := a.Result("x", text, now)
		return proven
	}
	if !ran("(no output)") || a.Hears("main", now.Add(distrust-time.Second)) || !a.Hears("main", now.Add(distrust)) {
		t.Error("it is believed for as long as it should")
	}
	now = now.Add(distrust)
	if !ran("total 4") || a.Hears("main", now) {
		t.Error("on probation, one call is enough")
	}
	now = now.Add(distrust)
	if ran("Exec denied (gateway id=1, user-denied): ls"); !a.Hears("main", now) || ran("total 4") {
		t.Error("a gateway that asks is trusted as before")
	}
}

func TestAsksOfUnknownCalls(t *testing.T) {
	a := NewAsks()
	if _, proven := a.Result("x", "(no output)", noon); proven || !a.Hears("", noon) {
		t.Error("a call that was not to be asked about shows nothing")
	}
}

func TestAsksAreBounded(t *testing.T) {
	a := NewAsks()
	for i := range 3 * maxAsks {
		id := fmt.Sprint(i)
		a.Left(id, id, noon)
		if i%2 == 0 {
			a.Result(id, "(no output)", noon)
		}
	}
	if a.left.Len() > maxAsks || a.deaf.Len() != maxAskers {
		t.Errorf("%d calls, %d askers", a.left.Len(), a.deaf.Len())
	}
}
