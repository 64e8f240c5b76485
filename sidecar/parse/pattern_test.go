package parse_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// pattern is a strategy of that kind. each and close may be empty.
func finding(open, close, find, each string) parse.Strategy {
	st := parse.Strategy{ID: open + close, Kind: parse.Pattern, Open: []string{open},
		Matcher: parse.Matcher{Find: regexp.MustCompile(find)}}
	if close != "" {
		st.Close = []string{close}
	}
	if each != "" {
		st.Matcher.Each = regexp.MustCompile(each)
	}
	return st
}

func until(u parse.Until, st parse.Strategy) parse.Strategy {
	st.Matcher.Until = u
	return st
}

func tool(name string, st parse.Strategy) parse.Strategy {
	st.Matcher.Tool = name
	return st
}

func atLineStart(st parse.Strategy) parse.Strategy {
	st.LineStart = true
	return st
}

// patterns is a bit of everything that patterns can do.
func patterns() []parse.Strategy {
	return []parse.Strategy{
		finding("@@", "@@end", `@@(?P<tool>\w+)(?P<args>(?s:.*))`, `~~ *(?P<key>\w+):`),
		finding("<<call", "</call>", `name=(?P<tool>\w+)(?P<args>[^<]*)`, `(?P<key>\w+)='(?P<value>[^']*)'`),
		finding("!!", "", `(?:!!|;)(?P<tool>\w+) *(?P<args>\{|[^;]*)`, ""),
		tool("read", until(parse.UntilReply, finding("$run", "", `\$run (?P<args>(?s:.*))`, ""))),
		finding("<{tool}>", "</{tool}>", `>(?P<args>(?s:.*))`, `(?s)<(?P<key>\w+)>(?P<value>.*?)</\w+>`),
		atLineStart(parse.Strategy{ID: "pythonic", Kind: parse.Block, Open: []string{"[{tool}("},
			Close: []string{"]"}, Body: parse.BodyCode}),
		finding("%%", "%%stop", `%% *stop (?P<tool>\w+)()`, ""),
		finding("%%", "", `%% *(?P<tool>\w+)(?P<args>\{)`, ""),
	}
}

func TestPatterns(t *testing.T) {
	check(t, compiled(t, patterns()...), []row{
		// keys and values; what stands between two keys is the value
		{"Sure. @@exec ~~ command: ls -la @@end", `exec{"command":"ls -la"}`, "Sure.", ""},
		{"@@exec ~~ command: a\n b ~~x: ~~ y: 1 @@end", `exec{"command":"a\n b","x":"","y":"1"}`, "", ""},
		{"@@exec @@end", "", "", ""},
		{"@@web_search @@end @@read ~~ path: a @@end", `web_search{} read{"path":"a"}`, "", ""},
		{"@@web_search @@end is one.", "", "@@web_search @@end is one.", ""},
		{"@@web_search @@END\n@@read ~~ path: a @@end", `web_search{} read{"path":"a"}`, "", ""},
		{"@@exec nonsense @@end", "", "", ""},
		{"@@exec ~~ command: ls", "", "", ""},
		{"`@@exec ~~ command: ls @@end`", "", "`@@exec ~~ command: ls @@end`", ""},
		{"<<call name=exec command='ls' y=''></call>", `exec{"command":"ls","y":""}`, "", ""},
		{"<<call name=exec command='ls' name=read path='a'></call>", `exec{"command":"ls","path":"a"}`, "", ""},
		// JSON is read to its end, past closing literals and line breaks in it
		{`!!exec {"command": "a; !!read {}"};read {"path": "b"}` + "", `exec{"command": "a; !!read {}"} read{"path": "b"}`, "", ""},
		{"!!exec {\n\"command\": \"ls\"\n}", "exec{\n\"command\": \"ls\"\n}", "", ""},
		{"!!read a.txt", `read{"path":"a.txt"}`, "", ""},
		{"!!exec ls -la", "", "", ""},
		{`!!exec {"command": "ls"`, ls, "", ""},
		{`!!exec {"command": "ls`, "", "", ""},
		{`!!exec {"command": "ls"} is how`, "", `!!exec {"command": "ls"} is how`, ""},
		{`!!exec {"command": "ls"} </s>` + "", `exec{"command": "ls"}`, "", ""},
		{"so !!", "", "so !!", ""},
		// up to the end of the reply, with a tool that the rule names
		{"$run a\n", `read{"path":"a"}`, "", ""},
		{"$run ls\nand more", "", "", ""}, // all of it is the path: no path
		{"a $running $run", "", "a $running $run", ""},
		// the name of the tool in the literals
		{"<read><path>a</path></read>", `read{"path":"a"}`, "", ""},
		{"<READ>", "", "<READ>", ""},
		{"<web_search><query>a</read>b</query></web_search>", `web_search{"query":"a"}`, "", ""},
		{"<b>bold</b> <reader>x</reader>", "", "<b>bold</b> <reader>x</reader>", ""},
		{"[exec(command='ls'), read(path=\"a]\")]", ls + ` read{"path":"a]"}`, "", ""},
		{"[web_search(query=[1, 'x(]'])]\n", `web_search{"query":[1,"x(]"]}`, "", ""},
		{"So [exec(command='ls')]", "", "So [exec(command='ls')]", ""},
		{"[rm(path='a')]", "", "[rm(path='a')]", ""},
		{"[exec](a) [read(2)](b)\n[read(2)](c)", "", "[exec](a) [read(2)](b)\n[read(2)](c)", ""},
		// what one releases the next one reads
		{"%% stop web_search %%stop", "web_search{}", "", ""},
		{"%% exec\n%% %%stop", "", "%% exec\n%% %%stop", ""},
		{"%% exec{\"command\":\"ls\"}\n", ls, "", ""},
		{"%% nothing\n%% at all", "", "%% nothing\n%% at all", ""},
	})
}

// What the token limit cut is refused, even where its closing literal is optional.
func TestCutPatterns(t *testing.T) {
	s := compiled(t, patterns()...)
	for text, want := range map[string]string{
		"!!exec ls -l":             "",
		`!!exec {"command": "ls"}`: `exec{"command": "ls"}`,
		`!!exec {"command": "ls"`:  "",
		`!!exec {"command": l`:     "",
		"$run ls -l":               "",
		"<exec><command>ls":        "",
		"@@exec ~~ command: ls":    "",
	} {
		got := readPieces(s, offeredForFuzz(), []string{text}, "length")
		if calls := strings.TrimSpace(showCalls(got.Calls)); calls != want || want == "" &&
			len(got.Refused) == 0 {
			t.Errorf("%q gives %s, want %s; refused %v", text, calls, want, got.Refused)
		}
	}
}

// More matches than a candidate may have are not looked for.
func TestManyMatches(t *testing.T) {
	s := compiled(t, patterns()...)
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "!!read a%d;", i)
	}
	got := readPieces(s, offeredForFuzz(), []string{many.String()}, "stop")
	if len(got.Calls) != 128 {
		t.Errorf("%d calls", len(got.Calls))
	}
	got = readPieces(s, offeredForFuzz(), []string{"@@exec" + strings.Repeat(" ~~ command: ls", 1000) +
		"@@end"}, "stop")
	if len(got.Calls) != 0 || len(got.Refused) != 1 {
		t.Errorf("%d calls, refused %v", len(got.Calls), got.Refused)
	}
}
