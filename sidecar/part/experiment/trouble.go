package experiment

import (
	"fmt"
	"sync"
	"time"
)

// troubles counts failing conditions by experiment; "" is capture. It is safe for concurrent use.
type troubles struct {
	mu sync.Mutex
	of map[string]trouble
}

// trouble counts the failures of one condition.
type trouble struct {
	rules  string // version of the rules
	times  int
	why    string    // the last error
	logged time.Time // when it was last logged
}

// failed counts a failure, and reports whether to log it: once a minute, since it repeats with each
// request.
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

// say describes the failures of an experiment under these rules; empty: none.
func (t *troubles) say(id, rules string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.of[id]
	if f.times == 0 || f.rules != rules {
		return ""
	}
	return fmt.Sprintf("its condition failed at %d requests, which are not in it: %s", f.times, f.why)
}
