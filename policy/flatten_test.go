package policy

import (
	"strings"
	"testing"
)

// What nobody looks through to its end cannot leave.
func TestTooMuchNested(t *testing.T) {
	for what, args := range map[string]string{
		"depth":        strings.Repeat(`{"a":`, 100) + `1` + strings.Repeat(`}`, 100),
		"lists":        `{"a":` + strings.Repeat(`[`, 100) + `"x"` + strings.Repeat(`]`, 100) + `}`,
		"names":        `{"a":[` + strings.Repeat(`{"b":"c"},`, 5000) + `{}]}`,
		"entries":      `{"paths":[` + strings.Repeat(`"a",`, 5000) + `"b"]}`,
		"commands":     `{"steps":[` + strings.Repeat(`{"cmd":"ls"},`, 200) + `{}]}`,
		"look-alikes":  `{"steps":[` + strings.Repeat(`"ls -l /etc",`, 200) + `"x"]}`,
		"folders":      `{"command":"ls","a_cwd":"a","b_cwd":"a","c_cwd":"a","d_cwd":"a","e_cwd":"a"}`,
		"JSON in JSON": `{"a":` + inText(`{"command":"ls"}`, 10) + `}`,
	} {
		if f := examined(t, "other", "write", args); f.Script == nil || !f.Script.OverBudget {
			t.Errorf("%s: nobody says that it is too much", what)
		}
	}
	for what, args := range map[string]string{
		"depth":    strings.Repeat(`{"a":`, 30) + `1` + strings.Repeat(`}`, 30),
		"names":    `{"a":[` + strings.Repeat(`{"b":"c"},`, 1000) + `{}]}`,
		"commands": `{"steps":[` + strings.Repeat(`{"cmd":"ls"},`, 50) + `{}]}`,
		"edits":    `{"edits":[` + strings.Repeat(`{"oldText":"a","newText":"b"},`, 4000) + `{}]}`,
		"numbers":  `{"points":[` + strings.Repeat(`7,`, 9000) + `7]}`,
		"a file":   `{"content":` + inText(strings.Repeat(`[`, 100)+strings.Repeat(`]`, 100), 1) + `}`,
	} {
		if f := examined(t, "other", "write", args); f.Script != nil && f.Script.OverBudget {
			t.Errorf("%s: this is not too much", what)
		}
	}
}

// inText is a document as a text in a text, some times over, each in a mapping.
func inText(doc string, times int) string {
	for range times {
		doc = mustJSON(doc)
		if times > 1 {
			doc = `{"a":` + doc + `}`
		}
	}
	return doc
}

// The words of names, and what they say.
func TestMeaning(t *testing.T) {
	for name, want := range map[string]kind{
		"content": plainText, "newText": plainText, "old_string": plainText, "fileContent": plainText,
		"messages": plainText, "command": shellText, "shellCommand": shellText, "commands": shellText,
		"preScript": shellText,
		"code":      codeText, "country_code": unknown, "fn": codeText, "javaScript": codeText,
		"env":     environment,
		"envVars": environment, "workdir": folder, "workingDirectory": folder, "cwd": folder,
		"path": unknown, "context": unknown, "body": plainText, "busybody": unknown, "": unknown,
		"__": unknown, "7": unknown, "ÄText": plainText, "HTTPBody": plainText, "SQLs": plainText,
		"URLs": unknown, "myEnv": environment, "ENV": environment, "CWD": folder,
	} {
		if got := kindOf(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

// BenchmarkNested judges calls whose arguments are as large as a reply may be.
func BenchmarkNested(b *testing.B) {
	const size = 256 << 10
	for what, unit := range map[string]string{
		"paths": `"/srv/x/y",`, "names": `{"path":"a"},`, "commands": `{"cmd":"ls -l"},`,
		"look-alikes": `"ls -l /etc",`, "JSON": `"{\"a\":1}",`, "depth": `[`, "plain": `"word",`,
	} {
		args := `{"steps":[` + strings.Repeat(unit, size/len(unit)) + `1]}`
		if what == "depth" {
			args = `{"steps":` + strings.Repeat(unit, 9000) + strings.Repeat(`]`, 9000) + `}`
		}
		b.Run(what, func(b *testing.B) {
			for b.Loop() {
				c, err := CallOf("other", "write", []byte(args))
				if err != nil {
					b.Fatal(err)
				}
				Examine(c, testWorld)
			}
		})
	}
}

// Whatever arguments hold, they are taken apart, and a command at the top is never missed.
func FuzzNested(f *testing.F) {
	for _, seed := range []string{
		`{"command":"ls","steps":[{"cmd":["a",1]},[["x"]],{"env":{"A":"b"}}],"input":"{\"path\":\"/x/y\"}"}`,
		`{"env":[{"name":"A","value":1},"B=c"],"glob":"{a,b}/**","cwd":"..","path":"~"}`,
		`{"a.b":{"":{"/x/y":null,"url":7,"file":{"x":true}}}}`,
		`{"message":"MEDIA:","text":{"url":"//x"},"method":1,"body":{}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, args string) {
		for _, tool := range []string{"other", "exec", "message", "tool_call"} {
			c, err := CallOf(tool, "write", []byte(args))
			if err != nil {
				return
			}
			facts := Examine(c, testWorld)
			if text, is := c.Args["command"].(string); is && (facts.Script == nil ||
				!strings.HasPrefix(c.Command, text)) {
				t.Fatalf("%s: the command is missed", args)
			}
		}
	})
}
