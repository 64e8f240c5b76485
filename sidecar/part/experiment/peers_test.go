package experiment

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

// board is what replicas publish, in memory.
type board map[string][]byte

// replica publishes to a board.
type replica struct {
	at   board
	name string
}

func (c replica) Publish(doc []byte) error { c.at[c.name] = doc; return nil }

func (c replica) Read() (out [][]byte, err error) {
	for name, doc := range c.at {
		if name != c.name {
			out = append(out, doc)
		}
	}
	return out, nil
}

// replicas are trackers that read each other's counts.
func replicas(t testing.TB, c *clock, n int) (out []*Tracker) {
	at := board{}
	for i := range n {
		l := open(t, "", c)
		l.Peers = replica{at, fmt.Sprint(i)}
		out = append(out, l)
	}
	return out
}

// exchange gives all of them what all have counted.
func exchange(all []*Tracker) {
	for _, l := range all {
		l.publish()
	}
	for _, l := range all {
		l.readPeers()
	}
}

// What ends an experiment is what all replicas have counted, and it ends at each of them. A session
// that both know is one.
func TestOthers(t *testing.T) {
	set, c := rules(t, "    stop: {sessions: 150}\n"), &clock{time.Now()}
	all := replicas(t, c, 2)
	serve(all[0], set, 0, 100, worse)
	serve(all[1], set, 60, 120, worse)
	exchange(all)
	for _, l := range all {
		l.Review(set)
		if r := l.Reports(set)[0]; r.Units != 120 || r.Why != "" {
			t.Errorf("%d units, stopped because %q", r.Units, r.Why)
		}
	}
	serve(all[1], set, 120, 160, worse)
	exchange(all)
	all[0].Review(set)
	exchange(all)
	all[1].Review(set)
	for i, l := range all {
		if r := l.Reports(set)[0]; r.Units != 160 || !strings.Contains(r.Why, "units were in it") {
			t.Errorf("%d: %d units, stopped because %q", i, r.Units, r.Why)
		}
	}
	// What stops one stops all.
	all = replicas(t, c, 2)
	set = rules(t, "")
	serve(all[0], set, 0, 10, worse)
	serve(all[1], set, 10, 20, worse)
	ruletest.Must(t, all[0].Stop(set, "one", "seen enough", "Sam"))
	exchange(all)
	all[1].Review(set)
	if r := all[1].Reports(set)[0]; r.Why != "seen enough" || r.By != "Sam" {
		t.Errorf("stopped because %q by %q", r.Why, r.By)
	}
}

// Arms agree: with fixed shares at once, with shares that adapt as soon as replicas have exchanged counts.
func TestArmsAgree(t *testing.T) {
	for _, more := range []string{"", "    adaptive: {floor: 10}\n"} {
		set, c := rules(t, more), &clock{time.Now()}
		all := replicas(t, c, 2)
		arms := map[string]string{}
		for i := range 400 {
			who := fmt.Sprint("alice", i)
			arms[who] = all[0].Assign(set, "", Asking{Session: who}).Arms()
		}
		if more != "" { // other shares there
			for from := 1000; from < 4000; from += 100 {
				serve(all[1], set, from, from+100, worse)
				all[1].Review(set)
			}
			exchange(all)
		}
		for who, arm := range arms {
			if got := all[1].Assign(set, "", Asking{Session: who}).Arms(); got != arm {
				t.Errorf("%q: %s is in %s and in %s", more, who, arm, got)
			}
		}
	}
}

// What another version says, or nobody can have counted, is left alone.
func TestOddOthers(t *testing.T) {
	set, c := rules(t, ""), &clock{time.Now()}
	l := open(t, "", c)
	l.Peers = replica{board{"a": []byte("{"), "b": []byte(`{"version":2}`),
		"c": []byte(`{"version":1,"trials":[{"id":"one","arms":[{},{}],"units":[{"arm":7}]}]}`)}, "me"}
	serve(l, set, 0, 10, worse)
	l.readPeers()
	l.Review(set)
	if r := l.Reports(set)[0]; r.Units != 10 {
		t.Errorf("%d units", r.Units)
	}
}

// A look at what many replicas have counted takes a while, and no request waits for it.
func TestRequestsGoOn(t *testing.T) {
	set, c := rules(t, ""), &clock{time.Now()}
	l := open(t, "", c)
	serve(l, set, 0, 4000, worse)
	f := &File{Version: 1, Trials: []Saved{l.trials["one"].saved(false)}}
	l.peers = []*File{f, f, f, f, f, f, f}
	done, served := make(chan struct{}), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				served <- n
				return
			case <-time.After(time.Millisecond):
				l.Assign(set, "", Asking{Session: fmt.Sprint("bob", n)})
			}
		}
	}()
	const looks = 5
	for range looks {
		l.Reports(set)
	}
	close(done)
	if n := <-served; n < 5*looks {
		t.Errorf("%d requests were seated during %d looks", n, looks)
	}
}
