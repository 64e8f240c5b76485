package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var wrapper = Wrapper{Program: "/usr/local/bin/gpt-oss-executor", Ticket: "/home/agent/state/tickets/ABC"}

func TestConfinable(t *testing.T) {
	for args, want := range map[string]bool{
		`{"command":"npm test"}`:                                     true,
		`{"command":"npm test","workdir":"app","timeoutSeconds":60}`: true,
		`{"command":"npm test","env":{"CI":"1","PORT":"3000"}}`:      true,
		`{"command":"npm test","env":{"BASH_ENV":"x.sh"}}`:           false,
		`{"command":"npm test","env":{"GPTOSS_EXECUTOR_STATE":"x"}}`: false,
		`{"command":"npm test","env":{"home":"/tmp/x"}}`:             false,
		`{"command":"npm test","env":"A=b"}`:                         false,
		`{"command":"npm test","host":"node","node":"mac"}`:          false,
		`{"command":"npm test","host":"gateway"}`:                    true,
		`{"command":"npm test","elevated":true}`:                     false,
		`{"command":"npm test","script":"ls"}`:                       false,
		`{"command":["npm","test"]}`:                                 false,
		`{"command":"a\u0000b"}`:                                     false,
		`{"path":"x"}`:                                               false,
		`{"command":"` + strings.Repeat("a", maxWrapped+1) + `"}`:    false,
	} {
		c, err := CallOf("exec", "exec", []byte(args))
		if err != nil {
			t.Fatal(err)
		}
		if got := Confinable(c); got != want {
			t.Errorf("%.80s: %v", args, got)
		}
	}
	if c, _ := CallOf("process", "exec", []byte(`{"command":"ls"}`)); Confinable(c) {
		t.Error("a tool that types into a program runs no command of its own")
	}
}

// What is wrapped comes back as it was, whatever its text is, also inside of a tool_call;
// and a shell reads the wrapped line as the words that were meant.
func TestWrappedAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args, _ := json.Marshal(map[string]any{"workdir": "x",
			"command": rapid.StringMatching(`[a-z '"\\$\n&;é#-]{0,40}`).Draw(t, "command")})
		tool, was := "exec", string(args)
		if rapid.Bool().Draw(t, "carried") {
			carried, _ := json.Marshal(map[string]any{"id": "exec", "args": json.RawMessage(args)})
			tool, was = "tool_call", string(carried)
		}
		now, err := Wrapped(tool, []byte(was), wrapper)
		if err != nil || string(now) == was {
			t.Fatalf("%s: %s %v", was, now, err)
		}
		back, wrapped := Unwrapped(tool, string(now))
		var a, b any
		if json.Unmarshal([]byte(back), &a); json.Unmarshal([]byte(was), &b) != nil || !wrapped {
			t.Fatalf("%s came back as %s", was, back)
		}
		if x, y := mustJSON(a), mustJSON(b); x != y {
			t.Fatalf("%s came back as %s", y, x)
		}
	})
}

func mustJSON(v any) string {
	doc, _ := json.Marshal(v)
	return string(doc)
}

func TestNotWrapped(t *testing.T) {
	for _, command := range []string{
		"npm test",
		"gpt-oss-executor confine --ticket x -- bash -c 'ls'",
		"'a' confine --ticket 'b' -- bash -c 'ls'; rm x",
		"'a' confine --ticket 'b' -- bash -c 'ls' 'more'",
		"'a' confine --ticket 'b' -- bash -c 'open",
		"'a' confine --ticket 'b' -- bash -c ls",
	} {
		args := mustJSON(map[string]any{"command": command})
		if was, wrapped := Unwrapped("exec", args); wrapped || was != args {
			t.Errorf("%s became %s", args, was)
		}
	}
	if _, err := Wrapped("exec", []byte(`{"command":["ls"]}`), wrapper); err == nil {
		t.Error("a list of words was wrapped")
	}
}
