package parse

import (
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

func TestCodeCalls(t *testing.T) {
	for in, want := range map[string][]Call{
		`read(path="a.md")`: {{Name: "read", Args: `{"path":"a.md"}`}},
		`[read(path="a, b"), web.get({"u": 1}) ]`: {{Name: "read", Args: `{"path":"a, b"}`},
			{Name: "web.get", Args: `{"u": 1}`}},
		`ls()`:                         {{Name: "ls", Args: "{}"}},
		`f{"a": [1, 2]}`:               {{Name: "f", Args: `{"a": [1, 2]}`}},
		`f(x=[1, {'y': ")"}], z='\'')`: {{Name: "f", Args: `{"x":[1, {'y': ")"}],"z":'\''}`}},
		`f("only")`:                    {{Name: "f", Args: `"\"only\""`}},
		`read a file`:                  nil,
		`read(path="a"`:                nil,
		`see (here)`:                   {{Name: "see", Args: `"here"`}},
		``:                             nil,
	} {
		got, ok := codeCalls(in)
		if ok != (want != nil) || !slices.Equal(got, want) {
			t.Errorf("%s: %+v, %v", in, got, ok)
		}
	}
}

func TestEnd(t *testing.T) {
	for in, want := range map[string]int{
		"f(a)": 4, "f(a) and more": 4, "f(')')x": 6, "f(a": -1, "f\nb(c)": 1, `f("\"")`: 7,
	} {
		if got := codeEnd(in, 0, false); got != want {
			t.Errorf("%s: %d, want %d", in, got, want)
		}
	}
	if got := codeEnd("[f(a),\n g(b)] c", 0, true); got != 13 {
		t.Errorf("a list ends at %d", got)
	}
}

// Whatever is read, its end lies in the text, and a call has a name.
func FuzzCodeCalls(f *testing.F) {
	f.Add(`[read(path="a, b"), web.get({"u": 1})]`)
	f.Fuzz(func(t *testing.T, s string) {
		calls, ok := codeCalls(s)
		if ok != (len(calls) > 0) {
			t.Fatalf("%+v: %v", calls, ok)
		}
		for _, c := range calls {
			if c.Name == "" || scan.Name(c.Name) != c.Name || c.Args == "" || !strings.Contains(s, c.Name) {
				t.Fatalf("%+v", c)
			}
		}
		if s != "" {
			if end := codeEnd(s, 0, false); end > len(s) {
				t.Fatal(end)
			}
		}
		if len(calls) == 1 && s == calls[0].Name+"("+calls[0].Args+")" && !beginsCode(s) {
			t.Fatalf("%q does not begin a call", s)
		}
	})
}

// Quotes around an input go, and its own stay.
func TestInput(t *testing.T) {
	for _, row := range []struct {
		in, want string
		guessed  bool
	}{
		{`a b`, `"a b"`, false},
		{`"a b"`, `"a b"`, false},
		{`"say \"hi\""`, `"say \"hi\""`, false},
		{`"foo" and "bar"`, `"\"foo\" and \"bar\""`, true},
		{`"C:\new"`, `"C:\new"`, true}, // a line break, it seems
		{`"\d+"`, `"\\d+"`, true},
		{`'a b'`, `"'a b'"`, false},
	} {
		if got, guessed := plainInput(row.in, false); got != row.want || guessed != row.guessed {
			t.Errorf("%s: %s, %v", row.in, got, guessed)
		}
	}
}

// Bars by the thousand take little time.
func TestSplitLinear(t *testing.T) {
	if args, _ := splitPairs("a="+strings.Repeat("|", 1<<21),
		func(string) bool { return true }); len(args) < 1<<21 {
		t.Errorf("%d bytes", len(args))
	}
}

// What may be a pipe, a row of a table or part of a text in quotes leaves a doubt.
func TestSplit(t *testing.T) {
	param := func(key string) bool { return key != "x" }
	for _, row := range []struct {
		in     string
		want   string
		unsure bool
	}{
		{`a=1|b=2`, `{"a":"1","b":"2"}`, false},
		{` a=1 | b=2 `, `{"a":"1","b":"2"}`, false},
		{`a=cat f | wc|b=2`, `{"a":"cat f | wc","b":"2"}`, false},
		{`a=cat f | x=5 wc`, `{"a":"cat f | x=5 wc"}`, false},
		{`a=cat f | b=5 wc`, `{"a":"cat f","b":"5 wc"}`, true},
		{`a=cat f |b=5 wc`, `{"a":"cat f","b":"5 wc"}`, true},
		{` a=1|b=2`, `{"a":"1","b":"2"}`, true},
		{`a="1|b=2"`, `{"a":"\"1","b":"2\""}`, true},
		{`a="1"|b='2 3'`, `{"a":"1","b":"2 3"}`, false},
		{`a="echo 1" "2"`, `{"a":"\"echo 1\" \"2\""}`, true},
		{`a="say \"1\"|b=2"`, `{"a":"\"say \\\"1\\\"","b":"2\""}`, true},
		{``, `{}`, false},
		{`||a=1`, `{"a":"1"}`, false},
		{`old ones|b=1`, `"old ones|b=1"`, true},
		{`a:b`, `"a:b"`, true},
		{`a="C:\\"|b=2`, `{"a":"C:\\","b":"2"}`, true},
		{`a="x \"y\""`, `{"a":"x \"y\""}`, false},
	} {
		got, unsure := splitPairs(row.in, param)
		if got != row.want || unsure != row.unsure {
			t.Errorf("%s: %q, %v", row.in, got, unsure)
		}
	}
}
