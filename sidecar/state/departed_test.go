package state

import (
	"fmt"
	"testing"
)

func TestLeft(t *testing.T) {
	for _, c := range []struct {
		name, id, tool, args string
		want                 bool
	}{
		{"the same", "call_1", "exec", `{"command":"ls","timeoutSeconds":5}`, true},
		{"written anew", "call1", "exec", `{ "timeoutSeconds": 5, "command": "l\u0073" }`, true},
		{"another command", "call_1", "exec", `{"command":"ls -l","timeoutSeconds":5}`, false},
		{"another number", "call_1", "exec", `{"command":"ls","timeoutSeconds":50}`, false},
		{"one argument more", "call_1", "exec", `{"command":"ls","timeoutSeconds":5,"host":"node"}`, false},
		{"another tool", "call_1", "write", `{"command":"ls","timeoutSeconds":5}`, false},
		{"another id", "call_2", "exec", `{"command":"ls","timeoutSeconds":5}`, false},
		{"no id", "", "exec", `{"command":"ls","timeoutSeconds":5}`, false},
		{"broken", "call_1", "exec", `{"command":`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := NewDeparted(nil)
			l.Add("call_1", "exec", []byte(`{"command":"ls","timeoutSeconds":5}`))
			l.Add("", "exec", []byte(`{"command":"ls","timeoutSeconds":5}`))
			if got := l.Take(c.id, c.tool, []byte(c.args)); got != c.want {
				t.Errorf("taken: %v", got)
			}
			if c.want && l.Take(c.id, c.tool, []byte(c.args)) {
				t.Error("it is known twice")
			}
		})
	}
}

func TestLeftIsBounded(t *testing.T) {
	l := NewDeparted(nil)
	for i := range 2 * maxDeparted {
		l.Add(fmt.Sprint("c", i), "exec", []byte(`{}`))
	}
	if n := l.calls.Len(); n != maxDeparted {
		t.Errorf("%d calls are remembered", n)
	}
	if l.Take("c0", "exec", []byte(`{}`)) || !l.Take(fmt.Sprint("c", 2*maxDeparted-1), "exec", []byte(`{}`)) {
		t.Error("not the newest are kept")
	}
}
