package parse_test

import (
	"fmt"
	"os"
	"strings"
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
		files[name] = strings.Replace(files[name], "\nversion: 1\n",
			"\nversion: 1\ninclude: [packs/more.yaml]\n", 1)
	}
	set, problems := ruletest.Shared(ruletest.Loader()).Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	return set
}

// pack is the file of formats that is shipped, and included by nothing.
func pack(t testing.TB) string {
	t.Helper()
	doc, err := os.ReadFile("../../rules/packs/formats.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// packed are the shipped strategies and those of the pack.
func packed(t testing.TB) *parse.Strategies { return taught(t, pack(t), false).Strategies("") }

func TestPackReadsEveryMustCase(t *testing.T) {
	testLabelled(t, packed(t), "markers", func(labelled) bool { return true }, 0.75)
}

// The pack alone reads every call object in a tag, without the shipped rule.
func TestPackReadsHermesAlone(t *testing.T) {
	s := taught(t, pack(t), true).Strategies("")
	n := tally{}
	for _, l := range testkit.Corpus[labelled](t, "markers") {
		if !strings.Contains(strings.Join(l.pieces(t), ""), "<tool_call>") || l.Grade != "must" {
			continue
		}
		wrong := l.judge(readPieces(s, catalogOf(l.Input.Tools, l.Input.Tools != nil), l.pieces(t), ""))
		if n.count(l.Grade, wrong == ""); wrong != "" {
			t.Errorf("%s: %s", l.ID, wrong)
		}
	}
	if t.Logf("hermes: %s", n); n["must"][1] < 10 {
		t.Error("too few cases to say so")
	}
}

// What is read rightly without the pack is read rightly with it.
func TestPackMakesNothingWorse(t *testing.T) {
	without, with := shipped.Strategies(""), packed(t)
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
		t.Logf("%s: %s; with the pack %s", file, before, after)
	}
	for _, w := range testkit.Corpus[wild](t, "gptoss") {
		calls, content := w.judge(w.read(without))
		callsNow, contentNow := w.judge(w.read(with))
		if calls && !callsNow || content && !contentNow {
			t.Errorf("%s: calls %v, content %v", w.ID, callsNow, contentNow)
		}
	}
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
