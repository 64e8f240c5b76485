package experiment

import (
	"fmt"
	"sync"
	"time"
)

// troubles are conditions that fail while they run, by the experiment; "" is capture. Safe for concurrent
// use.
type troubles struct {
	mu sync.Mutex
	of map[string]trouble
}

// trouble is how often one failed.
type trouble struct {
	rules  string // version that it is of
	times  int
	why    string    // the last time
	logged time.Time // when the log last said it
}

// failed counts a failure, and reports whether the log shall say it: once a minute, since a condition that
// fails does so at each request.
func (t *troubles) failed(id, rules string, err error, now time.Time) (tell bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]trouble{}
	}
	f := t.of[id]
	if f.rules != rules {
		f = trouble{rules: rules, logged: f.logged}
	}
	f.times, f.why = f.times+1, err.Error()
	if tell = now.Sub(f.logged) >= time.Minute; tell {
		f.logged = now
	}
	t.of[id] = f
	return tell
}

// say is the trouble of an experiment of these rules; empty: there is none.
func (t *troubles) say(id, rules string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.of[id]
	if f.times == 0 || f.rules != rules {
		return ""
	}
	return fmt.Sprintf("its condition failed at %d requests, which are not in it: %s", f.times, f.why)
}
