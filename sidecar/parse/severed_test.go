package parse_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// TestSevered: where a reply ends inside JSON that was meant as calls, the complete ones
// leave, the cut one is refused under its name, and nobody is shown the JSON.
func TestSevered(t *testing.T) {
	const one = `{"name":"exec","arguments":{"command":"ls"}}`
	for _, row := range []struct{ text, calls, refused, shows, thinks string }{
		{`{"reasoning":"I look.","tool_calls":[{"name":"exec","arguments":{"command":"rm -r /tm`, "", "exec", "", "I look."},
		{`{"reasoning":"I look.","tool_calls":[` + one + `,{"name":"read","arguments":{"path":"no`, ls, "read", "", "I look."},
		{`{"tool_calls":[` + one + `,{"na`, ls, "?", "", ""},
		{`{"tool_calls":[` + one + `,{`, ls, "?", "", ""},
		{`{"tool_calls":[` + one + `,`, ls, "", "", ""},
		{`{"tool_calls":[` + one + `],"done":tr`, ls, "", "", ""},
		{`{"tool_calls":[` + one + `],"x":{"a":{"b":1},"c":"`, ls, "", "", ""},
		{`{"reasoning":"I lo`, "", "", "", "I lo"},
		{`{"reasoning":"I look.","tool_ca`, "", "", "", "I look."},
		{`{"reasoning":"I look.","tool_calls":[`, "", "", "", "I look."},
		{`{"reasoning":"I know.","tool_calls":[],"done":true,"answer":"It is on`, "", "", "It is on", "I know."},
		{`{"name":"exec","arguments":{"command":"rm -r /tm`, "", "exec", "", ""},
		{`{"name":"exec","arguments":{"command":"rm","env":{"A":"b"},"cwd":"/tm`, "", "exec", "", ""},
		{`{"name":"exec","arguments":["rm",{"a":1},"`, "", "exec", "", ""},
		{`{"name":"exec","argu`, "", "exec", "", ""},
		{`{"name":"ex`, "", "ex", "", ""},
		{`{"type":"function","function":{"name":"exec","arguments":{"command":"rm`, "", "exec", "", ""},
		{`[` + one + `,{"name":"exec","argu`, ls, "exec", "", ""},
		{"```json\n" + `{"name":"exec","arguments":{"command":"rm`, "", "exec", "", ""},
		{"```json\n" + `{"tool_calls":[` + one + `,{"name":"exec","arguments":{"command":"rm`, ls, "exec", "", ""},
		{"```json\n" + `{"name":"exec","arguments":{"command":"ls"}`, "", "exec", "", ""},
		{"I look.\n" + `{"name":"exec","arguments":{"command":"rm`, "", "exec", "I look.", ""},
		{`exec{"command":"rm -r /tm`, "", "exec", "", ""},
		{`<tool_calls>[` + one + `,{"name":"exec","arguments":{"command":"rm`, ls, "?", "", ""},

		{`{"name":"Alice","age":3,"city":"Os`, "", "", `{"name":"Alice","age":3,"city":"Os`, ""},
		{`{"colour":"bl`, "", "", `{"colour":"bl`, ""},
		{`{"reasoning":"I look.","score":4,"te`, "", "", `{"reasoning":"I look.","score":4,"te`, ""},
		{`[1, 2, {"a":"`, "", "", `[1, 2, {"a":"`, ""},
		{`[{"name":"Alice","age":3},{"name":"B`, "", "", `[{"name":"Alice","age":3},{"name":"B`, ""},
		{"```json\n" + `{"colour":"bl`, "", "", "```json\n" + `{"colour":"bl`, ""},
		{"One can write:\n\n    " + `{"name":"exec","arguments":{"command":"rm`, "", "", "One can write:\n\n    " + `{"name":"exec","arguments":{"command":"rm`, ""},
	} {
		for _, said := range []string{"length", "stop"} {
			got := readPieces(shipped.Strategies(""), offeredForFuzz(), []string{row.text}, said)
			refused := ""
			for _, r := range got.Refused {
				refused += cmp.Or(r.Name, "?")
			}
			calls := strings.TrimSpace(showCalls(got.Calls))
			if calls != row.calls || refused != row.refused || strings.TrimSpace(got.Content) != row.shows ||
				strings.TrimSpace(got.Reasoning) != row.thinks {
				t.Errorf("%s %q\ngives %s, refuses %q, shows %q, thinks %q\nwant  %s, %q, %q, %q", said,
					row.text,
					calls, refused, got.Content, got.Reasoning, row.calls, row.refused, row.shows, row.thinks)
			}
			pieces := strings.Split(row.text, "")
			if diff := differ(got, readPieces(shipped.Strategies(""), offeredForFuzz(), pieces,
				said)); diff != "" {
				t.Errorf("%q reads differently in pieces:\n%s", row.text, diff)
			}
		}
	}
}

// Wherever a guided reply is cut, each call that leaves is one that it makes when it is
// whole, in their order; once calls were begun, the user never reads JSON.
func TestSeveredAnywhere(t *testing.T) {
	s, c := shipped.Strategies(""), offeredForFuzz()
	for _, text := range []string{
		`{"reasoning":"Look \"there\", then {here}.","tool_calls":[{"name":"read","arguments":{"path":"a}],b"}},{"name":"exec","arguments":{"command":"echo '}' \\","env":{"A":["]","é\u00e9"]}}},{"name":"web_search","arguments":{"query":"x"}}],"done":false}`,
		`[{"name":"read","arguments":{"path":"a"}}, {"type":"function","function":{"name":"exec","arguments":"{\"command\":\"ls\"}"}}]`,
		"```json\n" + `{"tool_calls":[{"id":"1","name":"exec","arguments":{"command":"ls","n":12}}],"answer":"","done":false}` + "\n```",
	} {
		all := strings.Fields(showCalls(readPieces(s, c, []string{text}, "stop").Calls))
		if len(all) == 0 {
			t.Fatalf("%q calls nothing", text)
		}
		from := strings.Index(text, `"name":"`) + len(`"name":"`) + 1
		for n := range text {
			for _, said := range []string{"length", "stop"} {
				got := readPieces(s, c, []string{text[:n]}, said)
				calls := strings.Fields(showCalls(got.Calls))
				cut := said == "length" // else the model may have forgotten a bracket
				if len(calls) > len(all) || cut && strings.Join(calls, " ") != strings.Join(all[:len(calls)],
					" ") {
					t.Errorf("%s %q: calls %q", said, text[:n], calls)
				}
				if n >= from && strings.TrimSpace(got.Content) != "" {
					t.Errorf("%s %q: the user reads %q", said, text[:n], got.Content)
				}
				if n >= from && len(got.Calls) == 0 && len(got.Refused) == 0 {
					t.Errorf("%s %q: no call, and none refused", said, text[:n])
				}
			}
		}
	}
}

// A condition of the strategy holds for what was cut, too; nothing is taken from thoughts.
func TestSeveredNot(t *testing.T) {
	st := parse.Strategy{ID: "guided", Kind: parse.JSON, Read: []parse.Field{parse.Content, parse.Reasoning},
		Envelope: parse.Keys{Calls: []string{"tool_calls"}, Name: []string{"name"},
			Arguments: []string{"arguments"}}}
	text := `{"tool_calls":[{"name":"exec","arguments":{"command":"ls"}},{"name":"exec","arguments":{"comm`
	if got, _ := readDeltas(compiled(t, st), "length",
		parse.Delta{Reasoning: text}); len(got.Calls)+len(got.Refused) > 0 {
		t.Errorf("in thoughts: %d calls, %d refused", len(got.Calls), len(got.Refused))
	}
	st.When = func(parse.Env) (bool, error) { return false, nil }
	if got := readPieces(compiled(t, st), offeredForFuzz(), []string{text},
		"length"); len(got.Calls)+len(got.Refused) > 0 || got.Content != text {
		t.Errorf("%d calls, %d refused, shows %q", len(got.Calls), len(got.Refused), got.Content)
	}
}
