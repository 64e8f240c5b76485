package experiment

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/eval"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// A segment is what eval and explain read: the same reply, the tools as they were offered,
// and, promoted, the same result.
func TestSegmentsAreReplayed(t *testing.T) {
	set, dir := ruletest.Shipped(t), t.TempDir()
	offered := []tools.Tool{{Name: "exec",
		Parameters: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)}}
	s := opened(t, dir, time.Now)
	for _, r := range []captureReply{
		{ID: "native", Calls: []ServerCall{{"c1", "exec", `{"cmd": "ls"}`}}, Reasoning: "List.", Finish: "tool_calls", Tools: offered},
		{ID: "leaked", Content: `<|channel|>commentary to=functions.exec<|message|>{"command": "ls",}<|call|>`, Finish: "stop", Tools: offered},
		{ID: "none offered", Content: "[TOOL:exec|command=ls]", Finish: "stop"},
		{ID: "broken", Calls: []ServerCall{{"c1", "exec", `{"command": `}}, Finish: "length", Tools: offered},
		{ID: "plain", Content: "It is done.\n\x1b[0m", Reasoning: "Say so.", Finish: "stop", Tools: offered},
	} {
		r.At = time.Now()
		rec := &replay.Record{ID: json.RawMessage(`"x"`), Finish: r.Finish, Tools: []json.RawMessage{}}
		_, line := lineOf(t, captureRule{Messages: true}, r)
		said, err := line.Replay()
		ruletest.Must(t, err)
		rec.Message, rec.Tools = said.Message, said.Tools
		e, err := replay.Explain(set, guard.World{}, "", rec)
		ruletest.Must(t, err)
		read := parse.Reading{Content: e.Content, Reasoning: e.Reasoning, Finish: e.Finish,
			Refused: e.Refused}
		for _, c := range e.Calls {
			read.Calls = append(read.Calls, tools.Call{Name: c.Name, Arguments: c.Arguments,
				Strategy: c.Strategy, Confidence: c.Confidence, Repairs: c.Repairs})
		}
		r.Reading, r.Messages = readingOf(&read), json.RawMessage(`[{"role":"user","content":"x"}]`)
		s.Put(captureRule{Messages: true, Mask: true}, r)
	}
	ruletest.Must(t, s.Close())
	list := all(t, dir)
	if len(list) != 5 || len(list[0].Reading.Calls) != 1 || len(list[1].Reading.Calls[0].Repairs) == 0 ||
		len(list[2].Reading.Calls) != 0 || len(list[3].Reading.Refused) != 1 {
		t.Fatalf("%+v", list)
	}
	corpus := filepath.Join(t.TempDir(), "corpus.jsonl")
	// without an end
	ruletest.Must(t, os.WriteFile(corpus, []byte(`{"message":{"content":"x"},"expect":{"calls":[]}}`), 0o600))
	// again it is there already
	for _, want := range []int{5, 0} {
		if n, err := appendCases(corpus, list); n != want || err != nil {
			t.Errorf("%d written, %v", n, err)
		}
	}
	segs, err := segments(dir)
	ruletest.Must(t, err)
	for path, right := range map[string]int{segs[0].path: 0, corpus: 6} {
		judged := 0
		f, err := os.Open(path)
		ruletest.Must(t, err)
		lines := jsontext.Reader{In: f}
		for l := range lines.All() {
			if replay.IsRequest(l.Text) {
				t.Errorf("explain takes it for a request: %s", l.Text)
			}
			c, err := eval.Parse(l.Text, path)
			ruletest.Must(t, err)
			_, sums, err := eval.Run(&c, []eval.Variant{{Name: "v", Set: set}}, guard.World{})
			ruletest.Must(t, err)
			judged += sums[0].Right
		}
		ruletest.Must(t, f.Close())
		if judged != right {
			t.Errorf("%s: %d of %d are right", path, judged, lines.N)
		}
	}
	file := ""
	for _, r := range list {
		test, err := r.Test(set, guard.World{})
		ruletest.Must(t, err)
		file, err = ruleset.AppendTest(file, test)
		ruletest.Must(t, err)
	}
	if strings.Count(file, "- name: ") != 5 || !strings.Contains(file, "recorded leaked") {
		t.Errorf("%s", file)
	}
}

func TestFilter(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	reply := sample("r", at)
	reply.Agent, reply.Channel, reply.Caller, reply.Reading.Early = "main", "telegram", "alice", true
	_, r := lineOf(t, captureRule{Messages: true}, reply)
	for _, row := range []struct {
		filter captureFilter
		takes  bool
	}{
		{captureFilter{}, true},
		{captureFilter{Since: at}, true},
		{captureFilter{Since: at.Add(1)}, false},
		{captureFilter{Arm: "short-prompt"}, true},
		{captureFilter{Arm: "short-prompt/b"}, true},
		{captureFilter{Arm: "short-prompt/a"}, false},
		{captureFilter{Arm: "short"}, false},
		{captureFilter{Is: []string{"repaired", "again", "calls"}}, true},
		{captureFilter{Is: []string{"repaired", "refused"}}, false},
		{captureFilter{Is: []string{"differs"}}, false},
		{captureFilter{Is: []string{"empty"}}, false},
		{captureFilter{Where: "calls == 1 and refused == 0 and repaired == 1 and not empty and cut and not differs"}, true},
		{captureFilter{Where: `"short-prompt/b" in arms and text contains "TOOL"`}, true},
		{captureFilter{Where: `model == "gpt-oss-20b" and agent == "main" and session == "agent:main:1" and channel == "telegram" and user == "alice" and tools == 1`}, true},
		{captureFilter{Where: "refused > 0"}, false},
		{captureFilter{Where: "calls > 0", Is: []string{"refused"}}, false},
	} {
		takes, err := row.filter.Compile()
		ruletest.Must(t, err)
		if got, err := takes(r); got != row.takes || err != nil {
			t.Errorf("%+v: %v, %v", row.filter, got, err)
		}
	}
	for _, row := range []struct {
		filter captureFilter
		want   string
	}{
		{captureFilter{Is: []string{"odd"}}, "--is is one of refused, repaired"},
		{captureFilter{Where: "odd"}, "--where:1:1: "},
		{captureFilter{Where: "refused"}, "true or false"},
	} {
		if _, err := row.filter.Compile(); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: %v", row.filter, err)
		}
	}
	takes, err := (&captureFilter{Where: `int(text) > 0`}).Compile()
	if err == nil {
		_, err = takes(r)
	}
	if err == nil {
		t.Error("a condition that fails is taken for one that does not hold")
	}
	if _, r = lineOf(t, captureRule{}, reply); r.Caller != "" {
		t.Errorf("who asked is recorded though nobody wants messages: %s", r.Caller)
	}
}
