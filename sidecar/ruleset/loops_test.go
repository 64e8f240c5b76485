package ruleset

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

func text(s string) rulefile.Text { return rulefile.Text{Value: s} }

func guarded(t testing.TB, tell, end int) *LoopGuard {
	t.Helper()
	return CompileLoop(Circles{Tell: tell, End: end, Except: []rulefile.Text{text("process")},
		Ignore:  []rulefile.Text{text(`\d\d:\d\d:\d\d`), text(`\b\d+(\.\d+)?ms\b`)},
		Notices: []rulefile.Text{text(`(?s)<info-msg>.*?</info-msg>`)},
		Note:    text("{tool} {times} times"), Say: text("stopped {tool} after {times}")},
		func(list []rulefile.Text) (out []*regexp.Regexp) {
			for _, p := range list {
				out = append(out, regexp.MustCompile(p.Value))
			}
			return out
		},
		func(_ rulefile.Place, _, msg, _ string) { t.Error(msg) })
}

// said makes a conversation of lines: "user text", "tool args => result".
func requestOf(t testing.TB, lines ...string) *openai.Request {
	t.Helper()
	type object = map[string]any
	var messages []any
	for i, line := range lines {
		if words, is := strings.CutPrefix(line, "user "); is {
			messages = append(messages, object{"role": "user", "content": words})
			continue
		}
		call, result, _ := strings.Cut(line, " => ")
		tool, args, _ := strings.Cut(call, " ")
		id := fmt.Sprint("call", i)
		messages = append(messages,
			object{"role": "assistant", "content": "",
				"tool_calls": []any{object{"id": id, "type": "function", "function": object{"name": tool,
					"arguments": args}}}},
			object{"role": "tool", "tool_call_id": id, "content": result})
	}
	body, err := json.Marshal(object{"model": "m", "messages": messages})
	if err != nil {
		t.Fatal(err)
	}
	q, err := openai.ParseRequest(body)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestLook(t *testing.T) {
	const ls = `exec {"command":"ls"} => a b`
	three := []string{"user go", ls, ls, ls}
	for _, row := range []struct {
		name  string
		lines []string
		told  string // the calls that have a note, by their line
		stops bool   // ls is not made once more
	}{
		{"twice", []string{"user go", ls, ls}, "", false},
		{"three times", three, "3", false},
		{"four times", append(three, ls), "3 4", true},
		{"written in another way", []string{"user go", `exec {"a":1,"command":"ls"} => x`, `exec { "command": "ls", "a": 1 } => x`, `exec {"a":1,"command":"\u006cs"} => x`}, "3", false},
		{"times and durations", []string{"user go", `exec {"command":"ls"} => at 10:00:00, 5ms`, `exec {"command":"ls"} => at 10:00:01, 17.2ms`, `exec {"command":"ls"} => at 11:59:59, 6ms`, `exec {"command":"ls"} => at 12:00:00, 6ms`}, "3 4", true},
		{"another result", []string{"user go", ls, ls, `exec {"command":"ls"} => a b c`, ls, ls}, "", false},
		{"and then the same again", []string{"user go", `exec {"command":"ls"} => c`, ls, ls, ls}, "4", false},
		{"other arguments", []string{"user go", ls, `exec {"command":"ls -l"} => a b`, ls, ls}, "", false},
		{"in turns", []string{"user go", ls, `read {"path":"a"} => x`, ls, `read {"path":"a"} => x`, ls, `read {"path":"a"} => x`, ls, `read {"path":"a"} => x`, ls}, "6 7 8 9", true},
		{"something new in between", []string{"user go", ls, ls, `write {"path":"a"} => done`, ls, ls}, "", false},
		{"the user spoke", []string{"user go", ls, ls, "user again", ls, ls}, "", false},
		{"the gateway spoke", []string{"user go", ls, ls, "user " + openai.RuntimeContext + " x", ls, ls}, "4 5", true},
		{"the agent spoke for the user", []string{"user go", ls, ls, "user <info-msg>\n12:00\n</info-msg>\n", ls, ls}, "4 5", true},
		{"with the user", []string{"user go", ls, ls, "user <info-msg>\n12:00\n</info-msg> stop it", ls, ls}, "", false},
		{"the user, about that", []string{"user go", ls, ls, "user What does <info-msg> mean?", ls, ls}, "", false},
		{"it waits", []string{"user go", `process {"action":"poll"} => running`, `process {"action":"poll"} => running`, `process {"action":"poll"} => running`, `process {"action":"poll"} => running`}, "", false},
		{"no JSON", []string{"user go", "exec ls => x", "exec ls => x", "exec ls => x"}, "3", false},
	} {
		q := requestOf(t, row.lines...)
		seen := guarded(t, 3, 4).Look(q)
		var told []string
		for i, line := range row.lines {
			if note := seen.Note(fmt.Sprint("call", i)); note != "" {
				told = append(told, fmt.Sprint(i))
				if tool, _, _ := strings.Cut(line, " "); !strings.HasPrefix(note, tool+" ") ||
					!strings.HasSuffix(note, " times") {
					t.Errorf("%s: %q", row.name, note)
				}
			}
		}
		stops := seen.Stops("exec", `{ "command" : "ls" }`)
		if strings.Join(told, " ") != row.told || (stops != "") != row.stops ||
			seen.Any() != (row.told != "" || row.stops) {
			t.Errorf("%s: told %v, %q; want %s, %v", row.name, told, stops, row.told, row.stops)
		}
		if seen.Stops("exec", `{"command":"pwd"}`) != "" {
			t.Errorf("%s: another call is stopped", row.name)
		}
	}
}

// What the model was told stays as it is while the conversation goes on, so that its prompt
// cache does.
func TestNotesStay(t *testing.T) {
	kinds := []string{`exec {"command":"ls"} => a`, `read {"path":"x"} => y`, `exec {"command":"ls"} => b`,
		`exec {"command":"pwd"} => c`, "user again"}
	lines, random := []string{"user go"}, rand.New(rand.NewPCG(1, 2))
	for range 120 {
		lines = append(lines, kinds[min(random.IntN(20)/4, random.IntN(20)/3, 4)])
	}
	g := guarded(t, 2, 3)
	whole := g.Look(requestOf(t, lines...))
	if len(whole.notes) < 5 {
		t.Fatal("hardly anything is told")
	}
	for n := 1; n < len(lines); n++ {
		part := g.Look(requestOf(t, lines[:n]...))
		for i := range n {
			id := fmt.Sprint("call", i)
			if part.Note(id) != whole.Note(id) {
				t.Errorf("call %d of %d: %q, later %q", i, n, part.Note(id), whole.Note(id))
			}
		}
	}
}

// Parts of the rule may be left out.
func TestParts(t *testing.T) {
	ls := `exec {"command":"ls"} => a`
	q := requestOf(t, "user go", ls, ls, ls)
	var none *LoopGuard
	if none.Look(q).Any() || none.Look(q).Stops("exec", `{"command":"ls"}`) != "" ||
		none.Look(q).Note("call1") != "" {
		t.Error("nothing was said")
	}
	var wrong []string
	report := func(_ rulefile.Place, _, msg, _ string) { wrong = append(wrong, msg) }
	patterns := func([]rulefile.Text) []*regexp.Regexp { return nil }
	if CompileLoop(Circles{}, patterns, report) != nil || len(wrong) > 0 {
		t.Error(wrong)
	}
	usual := CompileLoop(Circles{Tell: 2, End: 3}, patterns, report).Look(q)
	if note, says := usual.Note("call2"), usual.Stops("exec", `{"command":"ls"}`); !strings.Contains(note,
		"call of exec 2 times") || !strings.Contains(says, "call of exec 3 times") {
		t.Errorf("by themselves: %q, %q", note, says)
	}
	told := CompileLoop(Circles{Tell: 2, Note: text("x")}, patterns, report).Look(q)
	ends := CompileLoop(Circles{End: 3, Say: text("x")}, patterns, report).Look(q)
	if told.Note("call2") != "x" || told.Stops("exec", `{"command":"ls"}`) != "" ||
		ends.Note("call3") != "" || ends.Stops("exec", `{"command":"ls"}`) != "x" {
		t.Errorf("%+v %+v", told, ends)
	}
}

// The count of any call is never more than how often it stands there.
func FuzzLook(f *testing.F) {
	f.Add(`{"command":"ls"}`, "a 10:00:00", 5)
	f.Add(`{"a":1e400}`, "", 3)
	f.Fuzz(func(t *testing.T, args, result string, n int) {
		n = 1 + max(n, -n)%8
		if n < 1 || strings.Contains(args, " => ") {
			return
		}
		lines := []string{"user go"}
		for range n {
			lines = append(lines, "exec "+args+" => "+result)
		}
		q := requestOf(t, lines...)
		text, _ := openai.Text(q.Body, q.Messages[1].Calls[0].ArgsSpan) // what JSON made of it
		for end := 2; end <= 9; end++ {
			if stops := guarded(t, 0, end).Look(q).Stops("exec", text) != ""; stops != (n >= end) {
				t.Errorf("%d calls, end %d: %v", n, end, stops)
			}
		}
	})
}

func BenchmarkLook(b *testing.B) {
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf(`exec {"command":"sed -n %dp file.go"} => %s`, i,
			strings.Repeat("line ", 200)))
	}
	q, g := requestOf(b, append([]string{"user go"}, lines...)...), guarded(b, 3, 6)
	b.SetBytes(int64(len(q.Body)))
	for b.Loop() {
		g.Look(q)
	}
}

// What an agent is known for does not count, beside what the rule says.
func TestWith(t *testing.T) {
	of := LoopIgnores{
		Results: []*regexp.Regexp{regexp.MustCompile(`Chunk ID: \w+`)},
		Notices: []*regexp.Regexp{regexp.MustCompile(`^<cwd>.*</cwd>$`)},
		Arguments: func(_, args string) string {
			return regexp.MustCompile(`,"why":"\w+"`).ReplaceAllString(args, "")
		},
	}
	call := func(n int) string {
		return fmt.Sprintf(`exec {"command":"ls","why":"w%d"} => Chunk ID: 28%d1a at 10:00:0%d`, n, n, n)
	}
	q := requestOf(t, "user go", call(1), call(2), "user <cwd>/tmp</cwd>", call(3), call(4))
	g := guarded(t, 3, 4)
	if seen := g.Look(q); seen.Any() {
		t.Error("the calls differ")
	}
	seen := g.With(of).Look(q)
	if seen.Note("call4") == "" || seen.Stops("exec", `{"command":"ls","why":"w5"}`) == "" ||
		seen.Stops("exec", `{"command":"ls -l","why":"w5"}`) != "" {
		t.Errorf("%+v", seen)
	}
	var none *LoopGuard
	if none.With(of).Look(q).Any() {
		t.Error("there is no rule")
	}
}
