package state

import (
	"fmt"
	"testing"
	"time"
)

func TestAsksByTheirResults(t *testing.T) {
	for _, c := range []struct {
		text  string
		after time.Duration
		heard bool
	}{
		{"ok\n", 100 * time.Millisecond, false},
		{"(no output)", 999 * time.Millisecond, false},
		{"ok\n", 3 * time.Second, true}, // a person may have said yes
		{`{"status":"error","tool":"exec","error":"exec denied: Headless runs cannot wait for interactive exec approval."}`, 50 * time.Millisecond, true},
		{"Exec denied (gateway id=1, user-denied): ls", 50 * time.Millisecond, true},
		{"Approval required (id 1, full 2).", 50 * time.Millisecond, true},
		{"Exec approval registration failed: x", 50 * time.Millisecond, true},
	} {
		a := NewAsks()
		a.Left("c1", "main", noon)
		agent, ran := a.Result("c1", c.text, noon.Add(c.after))
		if a.Heard("main") != c.heard || ran == c.heard || ran && agent != "main" || !a.Heard("other") {
			t.Errorf("%q after %v: heard %v, %q %v", c.text, c.after, a.Heard("main"), agent, ran)
		}
		a.Left("c2", "main", noon)
		if _, again := a.Result("c2", c.text, noon.Add(c.after)); again {
			t.Errorf("%q after %v is told twice", c.text, c.after)
		}
	}
}

// A result is looked at once, however often the conversation repeats it.
func TestAsksLookOnce(t *testing.T) {
	a := NewAsks()
	a.Left("c1", "main", noon)
	a.Result("c1", "exec denied", noon)
	if _, ran := a.Result("c1", "ok", noon); ran || !a.Heard("main") {
		t.Error("the second look counted")
	}
	if _, ran := a.Result("unknown", "ok", noon); ran {
		t.Error("an unknown call counted")
	}
}

func TestAsksAreBounded(t *testing.T) {
	a := NewAsks()
	for i := range 3 * maxAsks {
		id := fmt.Sprint(i)
		a.Left(id, id, noon)
		if i%2 == 0 {
			a.Result(id, "ok", noon)
		}
	}
	if len(a.left.at) > maxAsks || a.left.oldest.Len() != len(a.left.at) || len(a.deaf) > maxAgents+1 {
		t.Errorf("%d calls, %d agents", len(a.left.at), len(a.deaf))
	}
	if a.Heard("never seen") {
		t.Error("where there are too many, none is trusted")
	}
}
