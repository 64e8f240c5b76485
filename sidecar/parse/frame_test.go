package parse_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

func template(t testing.TB, s string) parse.Template {
	t.Helper()
	out, err := parse.NewTemplate(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// framed is a strategy of kind frame.
func framed(t testing.TB, open, end, call, argument, quote string) parse.Strategy {
	st := parse.Strategy{ID: "frame " + open, Kind: parse.Frames, Open: []string{open}, Frame: parse.Frame{
		Calls: []parse.Template{template(t, call)}, Argument: template(t, argument), Quote: quote}}
	if end != "" {
		st.Close = []string{end}
	}
	return st
}

func frames(t testing.TB) []parse.Strategy {
	return []parse.Strategy{
		framed(t, "<calls>", "</calls>", "<f={name}> {arguments} </f>", "<p={key}>{value}</p>", ""),
		framed(t, "((", "))", "{name} {arguments}", "~~ {key}: {value}", ""),
		framed(t, "<|call>", "<call|>", "call:{name}{arguments}", "", `<|"|>`),
		framed(t, "⟦call⟧", "", "⟦call⟧ {name} ⟦args⟧ {arguments}", "", ""),
		framed(t, "@@", "@@end", "@@{name} {arguments}", "~~ {key}: {value}", ""),
		framed(t, "!!", "", "!!{name} {arguments}", "", ""),
		framed(t, "<{tool}>", "</{tool}>", "{name}> {arguments}", "", ""),
		framed(t, "%%", "%%stop", "%% stop {name}", "", ""),
		framed(t, "%%", "", "%% {name} {arguments}", "", ""),
		{ID: "pythonic", Kind: parse.Frames, Open: []string{"[{tool}("}, Close: []string{"]"},
			Frame: calls("{code}"), LineStart: true},
	}
}

func TestFrames(t *testing.T) {
	const a, ls = `read{"path":"a"}`, `exec{"command":"ls"}`
	s := compiled(t, frames(t)...)
	check(t, s, []row{
		// Several calls in one opener; white space between the parts; any case.
		{"I look.\n<calls>\n<f=read>\n<p=path>\na\n</p>\n</f>\n<F=exec><P=command>ls</P></F></calls>", a + " " + ls, "I look.", ""},
		{"<calls><f=web_search></f></calls>", "web_search{}", "", ""},
		// A value may hold what closes it, and other calls; white space at its ends is its own.
		{"<calls><f=exec><p=command>echo <f=read> </p> and </f> x</p></f></calls>", `exec{"command":"echo <f=read> </p> and </f> x"}`, "", ""},
		{"<calls><f=exec><p=command>  ls\n</p></f></calls>", `exec{"command":"  ls\n"}`, "", ""},
		// A value that nothing closes ends where the next one begins.
		{"((read ~~ path: a ~~ limit: 5 ))", `read{"path":"a","limit":"5"}`, "", ""},
		{"((read ~~ path: a: b ))", `read{"path":"a: b"}`, "", ""},
		// Quotes of its own; keys without any.
		{`<|call>call:exec{command:<|"|>echo "a" }<|"|>}<call|>`, `exec{"command":"echo \"a\" }"}`, "", ""},
		// Nothing closes it; several follow each other.
		{`⟦call⟧ read ⟦args⟧ {"path":"a"}`, a, "", ""},
		{`⟦call⟧ read ⟦args⟧ {"path":"a"}` + "\n" + `⟦call⟧ exec ⟦args⟧ {"command":"ls"}`, a + " " + ls, "", ""},
		// No call, and a cut one.
		{"The tag <calls> opens them.", "", "The tag <calls> opens them.", ""},
		{"((read is a function))", "", "((read is a function))", ""},
		{"<calls><f=exec><p=command>ls", "", "", ""},
		{`⟦call⟧ exec ⟦args⟧ {"command":"ls`, "", "", ""},
		// The name of the tool in the literals; only at the start of a line.
		{`<read>{"path":"a"}</read> <reader>x</reader> <READ>`, a, "", ""},
		{"<b>bold</b> <reader>x</reader>", "", "<b>bold</b> <reader>x</reader>", ""},
		{"[exec(command='ls'), read(path=\"a]\")]", ls + ` read{"path":"a]"}`, "", ""},
		{"So [exec(command='ls')]", "", "So [exec(command='ls')]", ""},
		{"[exec](a) [read(2)](b)\n[read(2)](c)", "", "[exec](a) [read(2)](b)\n[read(2)](c)", ""},
		// What one releases the next one reads.
		{"%% stop web_search %%stop", "web_search{}", "", ""},
		{"%% exec{\"command\":\"ls\"}\n", ls, "", ""},
		{"%% nothing\n%% at all", "", "%% nothing\n%% at all", ""},
		{"`<calls><f=exec><p=command>ls</p></f></calls>`", "", "`<calls><f=exec><p=command>ls</p></f></calls>`", ""},
	})
}

func TestTemplates(t *testing.T) {
	if _, err := parse.NewTemplate("{any}{name}"); err == nil {
		t.Error("two slots side by side pass")
	}
	for _, f := range []parse.Frame{
		{}, {Calls: []parse.Template{template(t, "<call {arguments}>")}},
		{Calls: []parse.Template{template(t, "{name}")}, Argument: template(t, "<p={key}>")},
		{Calls: []parse.Template{template(t, "{name}")}, Argument: template(t, "{key}={value};")},
	} {
		if f.Check() == nil {
			t.Errorf("%v passes", f)
		}
	}
}
