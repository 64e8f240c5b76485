package state

import (
	"fmt"
	"regexp"
	"testing"
	"time"
)

var evidence = &Evidence{Asked: list(`denied`), NotRun: list(`not found`), Ran: list(`^\(no output\)`)}

func said(text string) func() string { return func() string { return text } }

func list(expr string) []*regexp.Regexp { return []*regexp.Regexp{regexp.MustCompile(expr)} }

// What was believed for long is found out again, by one call.
func TestAsksHealsWithTime(t *testing.T) {
	a := NewAsks()
	now := noon
	ran := func(text string) bool {
		a.Add("x", "main", now)
		_, proven := a.Result("x", said(text), evidence, now)
		return proven
	}
	if !ran("(no output)") || a.Trusts("main", now.Add(distrustTime-time.Second)) ||
		!a.Trusts("main", now.Add(distrustTime)) {
		t.Error("it is believed for as long as it should")
	}
	now = now.Add(distrustTime)
	if !ran("total 4") || a.Trusts("main", now) {
		t.Error("on probation, one call is enough")
	}
	now = now.Add(distrustTime)
	if ran("Exec denied (gateway id=1, user-denied): ls"); !a.Trusts("main", now) || ran("total 4") {
		t.Error("a gateway that asks is trusted as before")
	}
}

func TestAsksOfUnknownCalls(t *testing.T) {
	a := NewAsks()
	if _, proven := a.Result("x", said("(no output)"), evidence, noon); proven || !a.Trusts("", noon) {
		t.Error("a call that was not to be asked about shows nothing")
	}
}

func TestAsksAreBounded(t *testing.T) {
	a := NewAsks()
	for i := range 3 * maxAsks {
		id := fmt.Sprint(i)
		a.Add(id, id, noon)
		if i%2 == 0 {
			a.Result(id, said("(no output)"), evidence, noon)
		}
	}
	if a.asked.Len() > maxAsks || a.doubts.Len() != maxAskers {
		t.Errorf("%d calls, %d askers", a.asked.Len(), a.doubts.Len())
	}
}
