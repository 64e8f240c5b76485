package run_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/executor"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// Calls of one reply run once where they are the same, and only there.
func TestSameCalls(t *testing.T) {
	read := func(path string) script.Reply { return script.Native("read", `{"path":"`+path+`"}`) }
	number := func(n string) script.Reply {
		return script.Native("write", `{"path":"/tmp/a","content":"x","count":`+n+`}`)
	}
	for _, c := range []struct {
		name  string
		calls []script.Reply
		ran   int
	}{
		{"the same", []script.Reply{number("1"), number("1")}, 1},
		{"long numbers that differ at the end", []script.Reply{number("9007199254740993"), number("9007199254740992")}, 2},
		{"read, changed, read", []script.Reply{read("/tmp/a"), number("1"), read("/tmp/a")}, 3},
		{"read twice, changed, read twice", []script.Reply{read("/tmp/a"), read("/tmp/a"), number("1"), read("/tmp/a"), read("/tmp/a")}, 3},
		{"changed twice around another", []script.Reply{number("1"), number("2"), number("1")}, 2},
	} {
		reply := c.calls[0]
		for _, more := range c.calls[1:] {
			reply.Calls = append(reply.Calls, more.Calls...)
		}
		b := &provider.Source{}
		if a := executor.Play(t, b, nil, reply, script.Text("ok")).Run(false, ""); a.Text != "ok" ||
			len(b.Calls()) != c.ran {
			t.Errorf("%s: %q after %q", c.name, a.Text, b.Calls())
		}
	}
}

// What stands twice in a reply is counted, where a person looks for it.
func TestRepeatedIsCounted(t *testing.T) {
	r := provider.Play(t, script.Text("<tool_call>{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}</tool_call>\n<tool_call>{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}</tool_call>"))
	r.Chat(provider.Body(provider.BothTools))
	if lines := r.Log.Lines("request_served"); len(lines) != 1 ||
		!strings.Contains(lines[0], "calls=1 refused=0 repeated=1") {
		t.Errorf("%q", lines)
	}
	if m := r.Scrape(); !strings.Contains(m, `repeated_calls_total{arm="",model="gpt-oss"} 1`) {
		t.Errorf("%q", m)
	}
}
