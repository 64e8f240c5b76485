package parse_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

const zeroWidth = "\u200b"

// made reads the cases of a file in testdata.
func made(t *testing.T, name string) (out []wild) {
	f, err := os.Open("testdata/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var w wild
		if err := json.Unmarshal(lines.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

// Texts that quote a call are shown as they are, with nothing but a zero-width space in
// them; leaked calls with ordinary text beside them are calls.
func TestQuotedAndLeaked(t *testing.T) {
	s := shipped.Strategies("")
	for file, least := range map[string]int{"quoted": 60, "leaked": 40} {
		cases := made(t, file)
		if len(cases) < least {
			t.Errorf("%s holds %d cases", file, len(cases))
		}
		for _, w := range cases {
			got := w.read(s)
			got.Content = strings.ReplaceAll(got.Content, zeroWidth, "")
			if calls, content := w.judge(got); !calls || !content {
				t.Errorf("%s: calls %s shows %q, refused %v", w.ID, showCalls(got.Calls), got.Content,
					got.Refused)
			}
			sameReading(t, s, catalogOf(w.Tools, true), w.ID, *w.Message.Content)
		}
	}
}

// Where it is open whether a call is quoted, it runs if its tool is not known to do harm; else
// the model is asked.
func TestOpenSurroundings(t *testing.T) {
	const a = ` read{"path":"a"}`
	check(t, shipped.Strategies(""), []row{
		{"It reads.\n" + `[TOOL:read|path=a]`, a[1:], "It reads.", ""},
		{"The text is" + a, a[1:], "The text is", ""},
		{"It reads: " + `[TOOL:read|path=a]`, "", "It reads:", ""},
		{`{"name":"read","arguments":{"path":"a"}} That reads it.`, a[1:], "", ""},
		{"It runs: [TOOL:exec|command=ls]", "", "It runs:", ""},
		{`{"name":"exec","arguments":{"command":"ls"}} That lists it.`, "", "", ""},
		{`[{"name":"read","arguments":{"path":"a"}},{"name":"exec","arguments":{"command":"ls"}}] Both.`, "", "", ""},
	})
}

// What stands around a call that is alone.
func TestAlone(t *testing.T) {
	const call = `[TOOL:exec|command=ls]`
	s := shipped.Strategies("")
	for _, front := range []string{
		"", "\n", "Sure.\n", "Let me look.\n", "It lists:\n", "Sure\n", "Sure\n\n", "Sure. ", "Sure! ",
		"(Sure.) ", "好。", "“Sure.” ", "1. I'll list.\n", "- I'll list.\n\n", "I'll run `ls`.\n", "**Sure.** ",
		"I will run " + strings.Repeat("x", 100) + ". ", "Sure" + strings.Repeat("\n", 100),
	} {
		for _, end := range []string{"", " ", "\n", call, "\n" + call, "</s>", " </s>\n", "<|call|>",
			"\nassistantfinalSo.", "commentary", "\n[DONE]"} {
			announced := front == "It lists:\n" // as an example is: the model is asked
			if got := readPieces(s, offeredForFuzz(), []string{front + call + end},
				"stop"); len(got.Calls) == 0 != announced || announced && len(got.Refused) == 0 {
				t.Errorf("%q gives %s, shows %q", front+call+end, showCalls(got.Calls), got.Content)
			}
		}
		for _, end := range []string{".", ", so", " so", " (so", "`", "\nso", "\n.", " [1]", " <- so",
			"</b> so", " é", "”", " 好", " Ö"} {
			if got := readPieces(s, offeredForFuzz(), []string{front + call + end},
				"stop"); len(got.Calls) > 0 {
				t.Errorf("%q is read as a call", front+call+end)
			}
		}
	}
	for _, front := range []string{"so ", "So: ", "Sure,\n", "So:\n\n    ", "So:\n\t", "- ", "1. ", "2) ",
		"> ", "*", "\"", "é", "好", strings.Repeat("x", 100) + " "} {
		for _, end := range []string{"", "\nSo."} {
			got := readPieces(s, offeredForFuzz(), []string{front + call + end}, "stop")
			if calls := len(got.Calls); calls > 0 != (front == "Sure,\n" && end == "") {
				t.Errorf("%q gives %d calls", front+call+end, calls)
			}
		}
	}
}

// A line of code is a quotation, in each grammar that begins a line.
func TestIndentedCode(t *testing.T) {
	for _, call := range []string{
		"commentary to=exec code{}", "[exec]\n{}\n[/exec]", "[tool:exec] {}", `{"name":"exec","arguments":{}}`, "exec{}", "Action: exec\nAction Input: {}", "<function=exec>{}</function>",
	} {
		call = strings.ReplaceAll(call, "{}", `{"command":"ls"}`)
		for indent, calls := range map[string]int{"": 1, "    ": 0, "\t": 0} {
			text := "I look at it.\n\n" + indent + strings.ReplaceAll(call, "\n", "\n"+indent)
			if got := readPieces(shipped.Strategies(""), offeredForFuzz(), []string{text},
				"stop"); len(got.Calls) != calls {
				t.Errorf("%q gives %d calls", text, len(got.Calls))
			}
			sameReading(t, shipped.Strategies(""), offeredForFuzz(), "code", text)
		}
	}
}

// gatewayForms are ways to write %CALL of exec which the gateway reads.
var gatewayForms = []string{
	"commentary to=exec code{}", "analysis \tto=exec code {}", "final to=exec code\n{}",
	"[exec]\n{}\n[END_TOOL_REQUEST]", "[exec] \r\n{}[/exec]",
	"[tool:exec] {}", "[tool:exec]{}[/exec]", "[tool:exec]{}\n[END_TOOL_REQUEST]",
	"<function=exec>\n<parameter=command>ls</parameter>\n</function>",
}

// Whatever prose stands in the line of a call that the gateway could read: we read no call,
// the gateway finds none in what leaves, and the reader sees all of the text.
func TestProseInTheLineOfACall(t *testing.T) {
	s, c := shipped.Strategies(""), offeredForFuzz()
	words := rapid.SampledFrom([]string{
		"write", "To", "run it,", "the", "Zeile", "écrivez", "ファイル", "пишут", "(as", "so)", "2", "“this”",
		"—", "it's", "form:", "a/b", "ls", "etc.,", "🔍", "or;", "*bold*", "a_b",
	})
	rapid.Check(t, func(t *rapid.T) {
		prose := func(name string, least int) string {
			return strings.Join(rapid.SliceOfN(words, least, 4).Draw(t, name), " ")
		}
		call := strings.ReplaceAll(rapid.SampledFrom(gatewayForms).Draw(t, "form"), "{}",
			rapid.SampledFrom([]string{`{"command":"ls"}`, `{ "command" : "rm -r build" }`,
				"{\n  \"command\": \"a } b\"\n}"}).Draw(t, "arguments"))
		before := prose("before", 0)
		behind := prose("behind", 1-min(1, len(before)))
		if before != "" {
			before += " "
		}
		if behind != "" {
			behind = rapid.SampledFrom([]string{" ", "", ". ", ", "}).Draw(t, "joint") + behind
		}
		above := rapid.SampledFrom([]string{"", "Look.\n", "Look:\n", "So it writes\n", "A.\n\n",
			"* "}).Draw(t, "above")
		below := rapid.SampledFrom([]string{"", ".", "\n", "\nThat is all.", "\n\nand more"}).Draw(t, "below")
		text := above + before + call + behind + below

		size := rapid.IntRange(1, len(text)).Draw(t, "size")
		var pieces []string
		for rest := text; rest != ""; {
			n := min(len(rest), size)
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		asked := readPieces(s, c, pieces, "stop")
		unclear := func(f tools.Refusal) bool { return f.Code == tools.Unsure }
		if asked.Refused = slices.DeleteFunc(slices.Clone(asked.Refused),
			unclear); len(asked.Calls)+len(asked.Refused) > 0 {
			t.Fatalf("%q gives %s, refused %v", text, showCalls(asked.Calls), asked.Refused)
		}
		got := readAs(s, c, parse.Facts{Asked: true}, pieces, "stop")
		if len(got.Calls)+len(got.Refused) > 0 {
			t.Fatalf("%q gives %s, refused %v", text, showCalls(got.Calls), got.Refused)
		}
		if strings.ReplaceAll(got.Content, zeroWidth, "") != text {
			t.Fatalf("%q shows %q", text, got.Content)
		}
		for _, form := range gatewayCall {
			if form.MatchString(got.Content) {
				t.Fatalf("%q leaves as %q", text, got.Content)
			}
		}
		if diff := differ(readPieces(s, c, []string{text}, "stop"),
			readPieces(s, c, pieces, "stop")); diff != "" {
			t.Fatalf("%q in pieces of %d:\n%s", text, size, diff)
		}
	})
}

// A strategy that anybody adds is held to the same.
func TestOwnStrategiesReadNoQuotations(t *testing.T) {
	s := compiled(t, append(frames(t), block("{code}", "CALL ", ""))...)
	for _, call := range []string{"@@exec ~~ command: ls @@end", `!!exec {"command": "ls"}`,
		`<exec>{"command":"ls"}</exec>`, "CALL exec(command='ls')\n"} {
		for _, text := range []string{"Write " + call + " there.", "- " + call, call + " is how"} {
			if strings.Contains(call, "\n") {
				text = strings.TrimSuffix(text, " there.")
			}
			if got := readPieces(s, offeredForFuzz(), []string{text}, "stop"); len(got.Calls) > 0 {
				t.Errorf("%q is read as a call", text)
			}
		}
	}
}
