package state

import "testing"

func TestPorts(t *testing.T) {
	open := func(ports ...int) func() map[int]bool {
		m := map[int]bool{}
		for _, p := range ports {
			m[p] = true
		}
		return func() map[int]bool { return m }
	}
	p := NewPorts(2)
	if p.Opened("a", 3000, open(3000)) {
		t.Error("a session that has run nothing has opened a port")
	}
	p.Begin("a", open(22, 8000))
	p.Begin("a", open(22, 8000, 3000)) // only the first counts
	roots := func() map[int]bool { return map[int]bool{22: true, 8000: true, 3000: true, 4000: false} }
	// nothing listens at 5173 yet
	for port, want := range map[int]bool{3000: true, 8000: false, 22: false, 4000: false, 5173: true} {
		if p.Opened("a", port, roots) != want {
			t.Errorf("port %d: opened is not %v", port, want)
		}
	}
	if p.Opened("b", 3000, open(3000)) {
		t.Error("the port of another session counts")
	}
	p.Begin("", open())
	if p.Opened("", 3000, open(3000)) {
		t.Error("requests without a session share one")
	}
	p.Begin("unknown", func() map[int]bool { return nil })
	if p.Opened("unknown", 3000, open(3000)) {
		t.Error("a port is taken for opened where nobody could look before")
	}
	p.Begin("a", open(3000)) // it is still at work
	p.Begin("c", open())
	if !p.Opened("a", 3000, open(3000)) {
		t.Error("a session that is still at work was forgotten")
	}
	p.Begin("c", open())
	p.Begin("d", open())
	if p.Opened("a", 3000, open(3000)) {
		t.Error("a session that was forgotten has opened a port")
	}
}
