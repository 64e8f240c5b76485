package parse_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// taught are the shipped rules with strategies of a rule file more: one that the
// shipped file includes, or, with alone, one in its place.
func taught(t testing.TB, file string, alone bool) *ruleset.Set {
	t.Helper()
	files, err := rulefile.Builtin(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	const name = "strategies.yaml"
	if alone {
		files[name] = file
		delete(files, "tests/replies.yaml")
	} else {
		files["packs/more.yaml"] = file
		files[name] = testkit.Replace(t, files[name], "\nversion: 1\n",
			"\nversion: 1\ninclude: [packs/more.yaml]\n", 1)
	}
	set, problems := ruletest.Shared(ruletest.Loader()).Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	return set
}

// ownFormat reads gpt-oss alone; shipped.Strategies("") also has the frames of all families.
func ownFormat() *parse.Strategies { return shipped.Strategies("gpt-oss") }

// What is read rightly without the frames of other families is read rightly with them.
func TestFamiliesMakeNothingWorse(t *testing.T) {
	without, with := ownFormat(), shipped.Strategies("")
	for _, file := range []string{"harmony", "react", "markers"} {
		before, after := tally{}, tally{}
		for _, l := range testkit.Corpus[labelled](t, file) {
			c := catalogOf(l.Input.Tools, l.Input.Tools != nil)
			got := readPieces(with, c, l.pieces(t), "")
			was, is := l.judge(readPieces(without, c, l.pieces(t), "")), l.judge(got)
			before.count(l.Grade, was == "")
			after.count(l.Grade, is == "")
			asked := len(got.Refused) > 0 && got.Refused[0].Code == tools.Unsure
			if was == "" && is != "" && !asked && l.Grade != "disputed" {
				t.Errorf("%s (%s): %s", l.ID, l.Grade, is)
			}
		}
		t.Logf("%s: %s; with all families %s", file, before, after)
	}
	for _, w := range testkit.Corpus[wild](t, "gptoss") {
		calls, content := w.judge(w.read(without))
		callsNow, contentNow := w.judge(w.read(with))
		if calls && !callsNow || content && !contentNow {
			t.Errorf("%s: calls %v, content %v", w.ID, callsNow, contentNow)
		}
	}
}

// A model of no known family may write as any of them does. Tools that write or execute are not called so,
// but for an object that names its tool; gpt-oss has a family, and is read without these frames.
func TestFramesOfOtherFamilies(t *testing.T) {
	const kimi = `<|tool_calls_section_begin|><|tool_call_begin|>functions.%s:0<|tool_call_argument_begin|>{"%s":"a"}` +
		`<|tool_call_end|><|tool_calls_section_end|>`
	read, exec := fmt.Sprintf(kimi, "read", "path"), fmt.Sprintf(kimi, "exec", "command")
	check(t, shipped.Strategies(""), []row{
		{read, `read{"path":"a"}`, "", ""},
		{"I look.\n" + read, `read{"path":"a"}`, "I look.", ""},
		{exec, "", "", ""},
		{"`" + read + "`", "", "`" + read + "`", ""},
		{`[read(path="a"), web_search(query="b [c]")]`, `read{"path":"a"} web_search{"query":"b [c]"}`, "", ""},
		{`[exec(command="ls")]`, "", "", ""},
		{`[TOOL_CALLS][{"name":"exec","arguments":{"command":"ls"}}]`, `exec{"command":"ls"}`, "", ""},
		{`You may write [read(path="a")] there.`, "", `You may write [read(path="a")] there.`, ""},
		{"[read(2)](https://man7.org/linux/man-pages/man2/read.2.html) says so.", "",
			"[read(2)](https://man7.org/linux/man-pages/man2/read.2.html) says so.", ""},
		{"[1, 2, 3]", "", "[1, 2, 3]", ""},
	})
	check(t, ownFormat(), []row{{`[read(path="a")]`, "", `[read(path="a")]`, ""}, {read, "", read, ""}})
}

// A format that nobody has heard of is taught by YAML alone.
func TestTaughtFormat(t *testing.T) {
	s := taught(t, `version: 1
strategies:
  - id: at_signs
    about: Made up.
    kind: frame
    priority: 55
    confidence: 0.8
    frame:
      open: ['@@call ']
      close: ['@@end']
      call: ['{name} {arguments}']
      argument: '~~ {key}: {value}'
    hit:
      - text: '@@call read ~~ path: a.txt ~~ limit: 5 @@end'
        gives: [{tool: read, args: {path: a.txt, limit: '5'}}]
    miss:
      - Write @@call and @@end around it.
`, false).Strategies("")
	check(t, s, []row{
		{"I look.\n@@call read ~~ path: a.txt @@end", `read{"path":"a.txt"}`, "I look.", ""},
		{"@@call web_search ~~ query: who, and\nwhere? ~~ limit: 5 @@end\n@@CALL exec ~~ command: ls -la | wc @@END",
			`web_search{"query":"who, and\nwhere?","limit":"5"} exec{"command":"ls -la | wc"}`, "", ""},
		{"@@call rm ~~ path: a.txt @@end", "", "", ""},
		{"@@call read ~~ path: a.txt", "", "", ""},
		{"@@call read path a.txt @@end", "", "@@call read path a.txt @@end", ""},
		{"@@call read ~~ path: a.txt @@end is how", "", "@@call read ~~ path: a.txt @@end is how", ""},
		{"`@@call read ~~ path: a.txt @@end`", "", "`@@call read ~~ path: a.txt @@end`", ""},
		{"<tool_call>{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}</tool_call>", ls, "", ""},
	})
}

// Three formats that strangers made up: each is a row.
func TestStrangersFormats(t *testing.T) {
	const line = "  - {id: %s, about: Made up., kind: frame, priority: %d, confidence: 0.8, frame: {%s}}\n"
	s := taught(t, "version: 1\nstrategies:\n"+
		fmt.Sprintf(line, "brackets", 41, `open: ['⟦call⟧'], call: ['⟦call⟧ {name} ⟦args⟧ {arguments}']`)+
		fmt.Sprintf(line, "capitals", 42, `open: ['@'], line_start: true, call: ['@{name} {arguments}']`)+
		fmt.Sprintf(line, "card", 44, `open: ['tool>'], close: ['<tool'], call: ['{name} {arguments}'], argument: '| {key}: {value}'`),
		false).Strategies("")
	const a, list = `read{"path":"a"}`, `exec{"command":"ls | wc"}`
	check(t, s, []row{
		{`⟦call⟧ read ⟦args⟧ {"path":"a"}`, a, "", ""},
		{`Done. ⟦call⟧ exec ⟦args⟧ {"command":"ls | wc"}`, list, "Done.", ""},
		{"The sign ⟦call⟧ opens one.", "", "The sign ⟦call⟧ opens one.", ""},
		{`@READ {"path":"a"}`, a, "", ""},
		{"I look.\n@EXEC {\"command\":\"ls | wc\"}\n", list, "I look.", ""},
		{"Ask @ann, or @READ of it.", "", "Ask @ann, or @READ of it.", ""},
		{"@ann knows it.", "", "@ann knows it.", ""},
		{`@RM {"path":"a"}`, "", "", ""},
		{"tool> read\n| path: a\n<tool", a, "", ""},
		{"tool> exec\n| command: ls | wc\n<tool", list, "", ""},
		{"A tool> is no call.", "", "A tool> is no call.", ""},
	})
}
