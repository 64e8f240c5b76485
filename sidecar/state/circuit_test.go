package state

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var bounds = CircuitBounds{Failures: 3, Open: 10 * time.Second}

// A step is a letter: e enters, E must be refused, f, s and l end the oldest pass, + is six
// seconds.
func TestCircuit(t *testing.T) {
	for _, row := range []struct {
		steps string
		want  CircuitState
		fails int
	}{
		{"", CircuitClosed, 0},
		{"efef", CircuitClosed, 2},
		{"efefes", CircuitClosed, 0},
		{"efefesefef", CircuitClosed, 2},
		{"efefef", CircuitOpen, 3},
		{"efefefE+E", CircuitOpen, 3},
		{"efefef++", circuitHalfOpen, 3},
		{"efefef++eE", circuitHalfOpen, 3}, // one trial at a time
		{"efefef++ef", CircuitOpen, 4},
		{"efefef++ef+E+e", circuitHalfOpen, 4},
		{"efefef++es", CircuitClosed, 0},
		{"efefef++el", circuitHalfOpen, 3}, // who asks next tries
		{"efefef++ele", circuitHalfOpen, 3},
		{"eeeeefff", CircuitOpen, 3},
		{"eeeeefffff", CircuitOpen, 3},      // those behind the third tell nothing new
		{"eeeefff++s", CircuitClosed, 0},    // a late answer is an answer
		{"eeeefff++ef", circuitHalfOpen, 3}, // f ends one of the old ones
		{"eeeefffs", CircuitClosed, 0},
		{"eeeeffflE", CircuitOpen, 3},
	} {
		var c Circuit
		var open []CircuitPass
		now := time.Unix(0, 0)
		for i, step := range row.steps {
			switch step {
			case '+':
				now = now.Add(6 * time.Second)
				continue
			case 'e', 'E':
				p, ok := c.Enter(now, bounds)
				if ok != (step == 'e') {
					t.Fatalf("%s: step %d: %v", row.steps, i, ok)
				}
				if ok {
					open = append(open, p)
				}
				continue
			case 'f':
				c.Failed(open[0], now, bounds)
			case 's':
				c.Succeeded(open[0])
			case 'l':
				c.Cancel(open[0])
			}
			open = open[1:]
		}
		if got := c.State(now, bounds); got != row.want || c.Failures() != row.fails {
			t.Errorf("%s: %s after %d, want %s after %d", row.steps, got, c.Failures(), row.want, row.fails)
		}
	}
}

// One that is forced opens the circuit and closes it, and is always let in.
func TestForce(t *testing.T) {
	var c Circuit
	now := time.Unix(0, 0)
	for range 5 {
		c.Failed(c.Force(), now, bounds)
	}
	if c.State(now, bounds) != CircuitOpen || c.Failures() != 5 {
		t.Errorf("%+v", c)
	}
	if wait := c.Wait(now.Add(4*time.Second), bounds); wait != 6*time.Second {
		t.Error(wait)
	}
	c.Succeeded(c.Force())
	if c.State(now, bounds) != CircuitClosed || c.Failures() != 0 {
		t.Errorf("%+v", c)
	}
}

// Whatever happens in whatever order: at most one trial is under way; it is never closed behind
// K failures in a row; it is not open for longer than the bound behind the last failure, unless
// a trial is under way; an answer closes it.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := CircuitBounds{rapid.IntRange(1, 5).Draw(t, "failures"),
			time.Duration(rapid.IntRange(1, 20).Draw(t, "open")) * time.Second}
		var c Circuit
		var open []CircuitPass
		now, last := time.Unix(0, 0), time.Unix(0, 0)
		trials := func() (n int) {
			for _, p := range open {
				if p.Trial && p.era == c.era {
					n++
				}
			}
			return n
		}
		take := func(t *rapid.T) CircuitPass {
			if len(open) == 0 {
				t.Skip("nobody asks")
			}
			i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
			p := open[i]
			open = append(open[:i:i], open[i+1:]...)
			return p
		}
		t.Repeat(map[string]func(*rapid.T){
			"time": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 30).Draw(t, "seconds")) * time.Second)
			},
			"enter": func(t *rapid.T) {
				state, busy := c.State(now, b), trials() > 0
				p, ok := c.Enter(now, b)
				if ok != (state == CircuitClosed || state == circuitHalfOpen && !busy) ||
					ok && p.Trial != (state == circuitHalfOpen) {
					t.Fatalf("%s, busy %v: %v %+v", state, busy, ok, p)
				}
				if ok {
					open = append(open, p)
				}
			},
			"fail": func(t *rapid.T) {
				p := take(t)
				was := c.State(now, b)
				c.Failed(p, now, b)
				is := c.State(now, b)
				if is == CircuitOpen && was != CircuitOpen {
					last = now
				}
				if was == CircuitClosed && (is == CircuitOpen) != (c.Failures() >= b.Failures) || was == circuitHalfOpen &&
					is == CircuitOpen && !p.Trial {
					t.Fatalf("from %s to %s after %d, of %d", was, is, c.Failures(), b.Failures)
				}
			},
			"answer": func(t *rapid.T) {
				c.Succeeded(take(t))
				if c.State(now, b) != CircuitClosed || c.Failures() != 0 {
					t.Fatalf("an answer left it %s after %d", c.State(now, b), c.Failures())
				}
			},
			"leave": func(t *rapid.T) { c.Cancel(take(t)) },
			"": func(t *rapid.T) {
				state := c.State(now, b)
				if trials() > 1 {
					t.Fatalf("%d trials at once", trials())
				}
				if state == CircuitClosed && c.Failures() >= b.Failures {
					t.Fatalf("closed after %d failures in a row, of %d", c.Failures(), b.Failures)
				}
				if state == CircuitOpen && now.Sub(last) >= b.Open {
					t.Fatalf("open %s after the last failure", now.Sub(last))
				}
				if state == circuitHalfOpen && trials() == 0 && !c.Admits(now, b) {
					t.Fatal("half open, and nobody may try")
				}
			},
		})
	})
}
