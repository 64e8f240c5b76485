package circuit

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var bounds = Bounds{Failures: 3, Open: 10 * time.Second}

// A step is a letter: e enters, E must be refused, f, s and l end the oldest pass, + is six
// seconds.
func TestCircuit(t *testing.T) {
	for _, row := range []struct {
		steps string
		want  State
		fails int
	}{
		{"", Closed, 0},
		{"efef", Closed, 2},
		{"efefes", Closed, 0},
		{"efefesefef", Closed, 2},
		{"efefef", Open, 3},
		{"efefefE+E", Open, 3},
		{"efefef++", HalfOpen, 3},
		{"efefef++eE", HalfOpen, 3}, // one trial at a time
		{"efefef++ef", Open, 4},
		{"efefef++ef+E+e", HalfOpen, 4},
		{"efefef++es", Closed, 0},
		{"efefef++el", HalfOpen, 3}, // who asks next tries
		{"efefef++ele", HalfOpen, 3},
		{"eeeeefff", Open, 3},
		{"eeeeefffff", Open, 3},      // those behind the third tell nothing new
		{"eeeefff++s", Closed, 0},    // a late answer is an answer
		{"eeeefff++ef", HalfOpen, 3}, // f ends one of the old ones
		{"eeeefffs", Closed, 0},
		{"eeeeffflE", Open, 3},
	} {
		var c Circuit
		var open []Pass
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
	if c.State(now, bounds) != Open || c.Failures() != 5 {
		t.Errorf("%+v", c)
	}
	if wait := c.Wait(now.Add(4*time.Second), bounds); wait != 6*time.Second {
		t.Error(wait)
	}
	c.Succeeded(c.Force())
	if c.State(now, bounds) != Closed || c.Failures() != 0 {
		t.Errorf("%+v", c)
	}
}

// Whatever happens in whatever order: at most one trial is under way; it is never closed behind
// K failures in a row; it is not open for longer than the bound behind the last failure, unless
// a trial is under way; an answer closes it.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Bounds{rapid.IntRange(1, 5).Draw(t, "failures"),
			time.Duration(rapid.IntRange(1, 20).Draw(t, "open")) * time.Second}
		var c Circuit
		var open []Pass
		now, last := time.Unix(0, 0), time.Unix(0, 0)
		trials := func() (n int) {
			for _, p := range open {
				if p.Trial && p.era == c.era {
					n++
				}
			}
			return n
		}
		take := func(t *rapid.T) Pass {
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
				if ok != (state == Closed || state == HalfOpen && !busy) ||
					ok && p.Trial != (state == HalfOpen) {
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
				if is == Open && was != Open {
					last = now
				}
				if was == Closed && (is == Open) != (c.Failures() >= b.Failures) || was == HalfOpen &&
					is == Open && !p.Trial {
					t.Fatalf("from %s to %s after %d, of %d", was, is, c.Failures(), b.Failures)
				}
			},
			"answer": func(t *rapid.T) {
				c.Succeeded(take(t))
				if c.State(now, b) != Closed || c.Failures() != 0 {
					t.Fatalf("an answer left it %s after %d", c.State(now, b), c.Failures())
				}
			},
			"leave": func(t *rapid.T) { c.Cancel(take(t)) },
			"": func(t *rapid.T) {
				state := c.State(now, b)
				if trials() > 1 {
					t.Fatalf("%d trials at once", trials())
				}
				if state == Closed && c.Failures() >= b.Failures {
					t.Fatalf("closed after %d failures in a row, of %d", c.Failures(), b.Failures)
				}
				if state == Open && now.Sub(last) >= b.Open {
					t.Fatalf("open %s after the last failure", now.Sub(last))
				}
				if state == HalfOpen && trials() == 0 && !c.Admits(now, b) {
					t.Fatal("half open, and nobody may try")
				}
			},
		})
	})
}
