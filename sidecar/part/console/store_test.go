package console

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

func all(*Turn) bool { return true }

// reply is a reply of so many bytes, read by a set.
func reply(set *ruleset.Set, text string, calls ...tools.Call) *turn.Reply {
	return &turn.Reply{Set: set, Server: "vllm", Reading: &parse.Reading{Content: text, Calls: calls},
		Whole: parse.Delta{Content: text},
		Facts: parse.Facts{User: "hi"}, Tools: []tools.Tool{{Name: "read", Parameters: []byte(`{}`)}}}
}

// However much is served, only so many requests and bytes are kept, the newest; what has made
// room takes none when it goes on.
func TestBounds(t *testing.T) {
	set := ruletest.Shipped(t)
	w, few := NewStore(StoreConfig{Words: true, Now: time.Now}), Bounds{Turns: 10, Memory: 100 << 10,
		Words: 2 << 20}
	var open []*Record
	for i := range 200 {
		r := w.Begin(Asking{ID: fmt.Sprint(i)}, few)
		r.Replied(reply(set, strings.Repeat("x", 1000*(i%9))))
		open = append(open, r)
		if i%3 == 0 {
			r.Ended(&turn.Outcome{Account: turn.Account{}, Status: 200, Why: ""})
		}
		if turns, bytes := w.Size(); turns > 10 || bytes > 100<<10 {
			t.Fatalf("%d turns, %d bytes", turns, bytes)
		}
	}
	for _, r := range open { // most are gone
		r.Replied(reply(set, strings.Repeat("y", 9000)))
		r.Ended(&turn.Outcome{Account: turn.Account{}, Status: 200, Why: ""})
	}
	turns, bytes := w.Size()
	if turns == 0 || turns > 10 || bytes > 100<<10 {
		t.Errorf("%d turns, %d bytes", turns, bytes)
	}
	if list, n := w.Since(0, 3, all); len(list) != 3 || n != turns || list[0].ID != "199" {
		t.Errorf("%d of %d turns, the newest %+v", len(list), n, list[0].Asking)
	}
	if _, ok := w.Turn("0"); ok {
		t.Error("the first turn is still there")
	}
}

// The rules may say that no word is kept, or nothing; then what was kept is forgotten.
func TestRules(t *testing.T) {
	set := ruletest.Shipped(t)
	w := NewStore(StoreConfig{Words: true, Now: time.Now})
	for id, words := range map[string]bool{"whole": true, "bare": false} {
		b := usual()
		if !words {
			b.Words = 0
		}
		r := w.Begin(Asking{ID: id}, b)
		r.Replied(reply(set, "secret words"))
		r.Ended(&turn.Outcome{Account: turn.Account{}, Status: 500, Why: "secret words"})
		got, _ := w.Turn(id)
		if said := got.Replies[0]; r.Listens() != words || said.Words != words ||
			(said.Whole.Content != "") != words || (said.Reading.Content != "") != words ||
			(got.Why != "") != words {
			t.Errorf("%s: %+v", id, got)
		}
	}
	if r := w.Begin(Asking{ID: "none"}, Bounds{}); r != nil {
		t.Error("it is kept")
	}
	if turns, bytes := w.Size(); turns != 0 || bytes != 0 {
		t.Errorf("%d turns, %d bytes are kept still", turns, bytes)
	}
}

// A run with very many or very long replies keeps some of them, and says how many are missing.
func TestOneRequestIsBounded(t *testing.T) {
	set := ruletest.Shipped(t)
	w := NewStore(StoreConfig{Words: true, Now: time.Now})
	r := w.Begin(Asking{ID: "run"}, usual())
	for range 100 {
		r.Replied(reply(set, strings.Repeat("x", 100_000)))
	}
	got, _ := w.Turn("run")
	if _, bytes := w.Size(); bytes > int64(usual().Words)+100*fixedBytes ||
		len(got.Replies) != maxReplies || got.Omitted != 100-maxReplies {
		t.Errorf("%d bytes, %d replies and %d more", bytes, len(got.Replies), got.Omitted)
	}
	if first, last := &got.Replies[0], &got.Replies[maxReplies-1]; !first.Words || last.Words ||
		last.Whole.Content != "" {
		t.Error("the words of the first reply are gone, or those of the last are there")
	}
}

// Without words nothing that the model or the user wrote is kept.
func TestNoWords(t *testing.T) {
	const secret = "the model wrote this"
	w := NewStore(StoreConfig{Now: time.Now})
	r := w.Begin(Asking{ID: "1"}, usual())
	if r.Listens() {
		t.Error("it wants the words")
	}
	h := reply(ruletest.Shipped(t), secret, tools.Call{Name: "read", Arguments: []byte(`"` + secret + `"`),
		Repairs: []tools.Repair{{Kind: "json.comma", From: secret}}})
	h.Reading.Reasoning, h.Reading.Steps = secret, []parse.Step{{Note: secret}}
	h.Reading.Refused = []tools.Refusal{{Code: tools.BadJSON, Name: secret, Text: secret, Why: secret}}
	r.Replied(h)
	r.Ended(&turn.Outcome{Account: turn.Account{Calls: 1, Notice: secret,
		Faults: []turn.FaultRecord{{Action: ruleset.Correct, Tool: secret, Why: secret}}}, Status: 200,
		Why: secret})
	got, _ := w.Turn("1")
	if shown := fmt.Sprintf("%+v", got); strings.Contains(shown, secret) || got.Outcome() != Repaired {
		t.Errorf("%s: %s", got.Outcome(), shown)
	}
	if h.Reading.Calls[0].Repairs[0].From != secret {
		t.Error("the reading of the turn was changed")
	}
}

// What a turn comes to, in a word.
func TestOutcome(t *testing.T) {
	mended := tools.Call{Name: "read", Repairs: []tools.Repair{{Kind: "name.alias"}}}
	marked := tools.Call{Name: "exec", Repairs: []tools.Repair{{Kind: "policy.confine"}}}
	text := tools.Call{Name: "read", Strategy: "harmony"}
	native := tools.Call{Name: "read", Strategy: "native"}
	denied := parse.Reading{Refused: []tools.Refusal{{Code: tools.Denied}}}
	for _, row := range []struct {
		turn Turn
		want Outcome
	}{
		{Turn{}, running},
		{Turn{Done: true, Status: 200}, Good},
		{Turn{Done: true, Status: 502}, Failed},
		{Turn{Done: true, Status: 200, Replies: []Reply{{Reading: parse.Reading{Calls: []tools.Call{mended}}}}}, Repaired},
		{Turn{Done: true, Status: 200, Replies: []Reply{{Reading: parse.Reading{Calls: []tools.Call{text}}}}}, Repaired},
		{Turn{Done: true, Status: 200, Replies: []Reply{{Reading: parse.Reading{Calls: []tools.Call{native, marked}}}}}, Good},
		{Turn{Done: true, Status: 200, Account: turn.Account{Again: 1}, Replies: []Reply{{}, {Reading: parse.Reading{Calls: []tools.Call{mended}}}}}, Again},
		{Turn{Done: true, Status: 200, Account: turn.Account{Again: 1}, Replies: []Reply{{Reading: denied}}}, Denied},
		{Turn{Done: true, Status: 200, Account: turn.Account{Again: 1, Faults: []turn.FaultRecord{{Action: ruleset.Correct}, {Action: ruleset.GiveUp}}}}, givenUp},
		{Turn{Done: true, Status: 200, Account: turn.Account{Again: 1, Faults: []turn.FaultRecord{{Action: ruleset.Correct}}}}, Again},
	} {
		if got := row.turn.Outcome(); got != row.want {
			t.Errorf("%+v: %s, want %s", row.turn, got, row.want)
		}
	}
}

// The last hour is counted by the minute, whatever the clock does.
func TestMinutes(t *testing.T) {
	now := time.Date(2026, 11, 26, 10, 0, 30, 0, time.UTC)
	w := NewStore(StoreConfig{Now: func() time.Time { return now }})
	serve := func() {
		w.Begin(Asking{}, usual()).Ended(&turn.Outcome{Account: turn.Account{}, Status: 200, Why: ""})
	}
	serve()
	now = now.Add(2 * time.Minute)
	serve()
	serve()
	now = now.Add(-time.Minute) // set back
	serve()
	list := w.Minutes()
	if len(list) != 60 || list[57].Turns != 1 || list[58].Turns != 0 || list[59].Turns != 3 {
		t.Errorf("%+v", list[55:])
	}
	now = now.Add(24 * time.Hour)
	for i, m := range w.Minutes() {
		if m.Turns != 0 || i > 0 && m.From.Sub(w.Minutes()[i-1].From) != time.Minute {
			t.Fatalf("minute %d is %+v", i, m)
		}
	}
}

// The rules of a reply are there until many others were in force.
func TestTurnsKeepTheirRules(t *testing.T) {
	w := NewStore(StoreConfig{Words: true, Now: time.Now})
	for i := range keptSets + 2 {
		r := w.Begin(Asking{ID: fmt.Sprint(i)}, usual())
		r.Replied(reply(&ruleset.Set{Version: fmt.Sprint(i)}, "x"))
	}
	for id, there := range map[string]bool{"0": false, "1": false, "2": true, "9": true} {
		got, _ := w.Turn(id)
		if set := w.Set(&got.Replies[0]); (set != nil) != there || there && set.Version != id {
			t.Errorf("the rules of %s: %v", id, set)
		}
	}
}

// Many requests at once, and people who look meanwhile.
func TestRace(t *testing.T) {
	set := ruletest.Shipped(t)
	w, few := NewStore(StoreConfig{Words: true, Now: time.Now}), Bounds{Turns: 20, Memory: 1 << 20,
		Words: 1 << 20}
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for i := range 200 {
				r := w.Begin(Asking{ID: fmt.Sprint(n, i)}, few)
				r.Replied(reply(set, "text", tools.Call{Name: "read", Arguments: []byte(`{}`)}))
				r.Ended(&turn.Outcome{Account: turn.Account{Faults: []turn.FaultRecord{{Fault: ruleset.Empty}}},
					Status: 200, Why: ""})
			}
		})
		all.Go(func() {
			for range 200 {
				list, _ := w.Since(0, 50, func(t *Turn) bool { return t.Outcome() != running })
				for _, t := range list {
					for i := range t.Replies {
						w.Set(&t.Replies[i])
					}
				}
				w.Minutes()
			}
		})
	}
	all.Wait()
	// of what is gone no reply is kept
	if turns, _ := w.Size(); turns != 20 || w.Rev() < 4*200*2 || w.Rev() > 4*200*3 {
		t.Errorf("%d turns, %d changes", turns, w.Rev())
	}
}

func BenchmarkRecord(b *testing.B) {
	set := ruletest.Shipped(b)
	w := NewStore(StoreConfig{Words: true, Now: time.Now})
	h := reply(set, strings.Repeat("word ", 400), tools.Call{Name: "read", Arguments: []byte(`{"path":"a"}`)})
	b.ReportAllocs()
	for b.Loop() {
		r := w.Begin(Asking{ID: "req1", Model: "gpt-oss", Session: "agent:main:main"}, usual())
		r.Replied(h)
		r.Ended(&turn.Outcome{Account: turn.Account{}, Status: 200, Why: ""})
	}
}
