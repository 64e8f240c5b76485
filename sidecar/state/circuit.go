package state

import "time"

// CircuitBounds is the section circuit of limits.yaml.
type CircuitBounds struct {
	Failures int           `rule:"failures" min:"1" max:"1000" doc:"After how many failures in a row a model server gets no requests for a while (3). It needs a second one beside it." eg:"3"`
	Open     time.Duration `rule:"open" min:"10ms" doc:"How long it gets none. Then one request finds out whether it is back (10s)." eg:"10s"`
}

// CircuitState is the state of a circuit.
type CircuitState string

const (
	CircuitClosed   CircuitState = "closed"
	CircuitOpen     CircuitState = "open"
	circuitHalfOpen CircuitState = "half_open"
)

// Circuit is the health of one server. The zero Circuit is closed. It is not safe for concurrent use.
type Circuit struct {
	failures int // in a row
	open     bool
	since    time.Time // when it opened or a trial failed
	trial    bool      // a trial is active
	era      int       // raised whenever it opens or closes: earlier requests say nothing of now
}

// CircuitPass lets one request ask the server. Its outcome must be reported once.
type CircuitPass struct {
	era   int
	Trial bool // tests whether the server is back
}

// State returns the state at a time.
func (c *Circuit) State(now time.Time, b CircuitBounds) CircuitState {
	switch {
	case !c.open:
		return CircuitClosed
	case c.trial || c.Wait(now, b) == 0:
		return circuitHalfOpen
	}
	return CircuitOpen
}

// Failures returns the number of failures in a row.
func (c *Circuit) Failures() int { return c.failures }

// Wait returns how long the circuit stays open; 0: it is not open.
func (c *Circuit) Wait(now time.Time, b CircuitBounds) time.Duration {
	if !c.open {
		return 0
	}
	return max(0, c.since.Add(b.Open).Sub(now))
}

// Admits reports whether Enter would let a request in.
func (c *Circuit) Admits(now time.Time, b CircuitBounds) bool {
	return !c.open || !c.trial && c.Wait(now, b) == 0
}

// Enter lets a request in if the circuit is closed, and one at a time if it is half open.
func (c *Circuit) Enter(now time.Time, b CircuitBounds) (CircuitPass, bool) {
	if !c.Admits(now, b) {
		return CircuitPass{}, false
	}
	c.trial = c.open
	return CircuitPass{c.era, c.open}, true
}

// Force lets a request in regardless of the state: there is no other server.
func (c *Circuit) Force() CircuitPass { return CircuitPass{era: c.era} }

// Succeeded closes the circuit: the server has answered, whenever it was asked.
func (c *Circuit) Succeeded(CircuitPass) {
	if c.open {
		*c = Circuit{era: c.era + 1}
	}
	c.failures = 0
}

// Failed counts a failure. It opens the circuit after too many in a row, or after a failed trial. A
// request from before the circuit last opened or closed does not count.
func (c *Circuit) Failed(p CircuitPass, now time.Time, b CircuitBounds) {
	if p.era != c.era {
		return
	}
	c.failures++
	if p.Trial || !c.open && c.failures >= b.Failures {
		*c = Circuit{failures: c.failures, open: true, since: now, era: c.era + 1}
	}
}

// Cancel means that the request showed nothing: its caller left.
func (c *Circuit) Cancel(p CircuitPass) {
	if p.Trial && p.era == c.era {
		c.trial = false
	}
}
