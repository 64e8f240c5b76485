package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCallOf(t *testing.T) {
	for args, want := range map[string]string{
		`{"command":"ls -l"}`: "ls -l", `{"cmd":"ls"}`: "ls",
		`{"command":["bash","-lc","ls"]}`: "bash -lc ls",
		`{"command":7}`:                   "", `{"path":"a"}`: "", `{}`: "",
		`{"script":"rm x","command":"ls"}`: "ls\nrm x",
		// as JSON.parse has it
		`{"command":"ls","command":"rm x"}`:                                                "rm x",
		`{"command":"rm x","timeout":1e999}`:                                               "rm x",
		`{"command":"rm x","deep":{"n":[-1e999]}}`:                                         "rm x",
		`{"Command":"ls","comm\u0061nd":"rm \ud800"}`:                                      "rm \ufffd\nls",
		`{"steps":[{"cmd":"ls"},{"run":"{\"commands\":[\"a b\",\"c\"]}"}],"command":"id"}`: "id\nls\na b\nc",
		`{"command":"rm","args":["-rf",7]}`:                                                "rm\nrm -rf 7",
		`{"content":"{\"command\":\"rm\"}","env":{"COMMAND":"rm"}}`:                        "",
	} {
		c, err := CallOf("exec", "exec", []byte(args))
		if err != nil || c.Command != want || c.Args == nil {
			t.Errorf("%s: %q %v %v", args, c.Command, c.Args, err)
		}
	}
	c, _ := CallOf("exec", "exec", []byte(`{"n":-1e999,"one":1}`))
	if c.Args["n"] != math.Inf(-1) || c.Args["one"] != 1.0 {
		t.Errorf("%v", c.Args)
	}
}

func TestNotJudged(t *testing.T) {
	for _, args := range []string{
		``, `null`, `[1]`, `"{}"`, `{`, `{"command":"ls"}{"command":"rm x"}`, "{\"command\":\"\xff\"}",
		`{"command":"ls </arg_value>>"}`, `{"path":".env<\/arg_value\u003e>>"}`,
		`{"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`,
	} {
		if c, err := CallOf("exec", "exec", []byte(args)); err == nil || c.Args == nil || c.Command != "" {
			t.Errorf("%.40s: %v %v", args, c, err)
		}
	}
}

// What is judged is what a JSON.parse of the arguments gives.
func FuzzCallOf(f *testing.F) {
	for _, seed := range []string{
		`{"command":"rm -rf /","timeout":1e999}`, `{"command":"ls","command":["rm",1e400]}`,
		`{"script":"a","cmd":null,"command":"b"}`, `{"a":{"command":1}}`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		c, err := CallOf("exec", "exec", args)
		want, is := parsed(args)
		if err != nil && strings.Contains(err.Error(), "ends in markup") {
			return
		}
		if is != (err == nil) || c.Args == nil {
			t.Fatalf("%q: %v", args, err)
		}
		// others stand deeper
		if c.Command != want && !strings.HasPrefix(c.Command+"\n", want+"\n") && want != "" {
			t.Fatalf("%q: judged %q, want %q", args, c.Command, want)
		}
	})
}

// parsed reads the command token by token.
func parsed(args []byte) (command string, is bool) {
	if !json.Valid(args) || !bytes.Equal(bytes.ToValidUTF8(args, nil), args) ||
		bytes.TrimSpace(args)[0] != '{' {
		return "", false
	}
	d := json.NewDecoder(bytes.NewReader(args))
	_, _ = d.Token()
	last := map[string]json.RawMessage{}
	for d.More() {
		key, _ := d.Token()
		var value json.RawMessage
		_ = d.Decode(&value)
		last[key.(string)] = value
	}
	var lines []string
	for _, key := range []string{"command", "cmd", "script"} {
		var text string
		var words []any
		switch v := last[key]; {
		case len(v) == 0 || string(v) == "null":
		case v[0] == '"':
			_ = json.Unmarshal(v, &text)
			lines = append(lines, text)
		case v[0] == '[':
			list := json.NewDecoder(bytes.NewReader(v))
			list.UseNumber()
			_ = list.Decode(&words)
			text = ""
			for i, w := range words {
				if i > 0 {
					text += " "
				}
				text += fmt.Sprint(numbers(w))
			}
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n"), true
}

// numbers is a decoded value with its numbers as float64.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	}
	return v
}

// The arguments that conditions see are those that encoding/json reads.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` {"a":{"a":1,"a":[]},"b":[1e999,-0,null,true,"\ud83d\ude00\ud800x"],"\u0061":"\/\"\\"} `,
		`{"a":1}}`, `[]`, "{\"a\":\"\xff\"}",
		`{"a":[` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `]}`,
		`{"__proto__":{"a":1},"a.b":1.5e-400}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		got, err := parseObject(doc)
		var want map[string]any
		d := json.NewDecoder(bytes.NewReader(doc))
		d.UseNumber()
		is := json.Valid(doc) && utf8.Valid(doc) && d.Decode(&want) == nil && want != nil
		if is != (err == nil) || is && !reflect.DeepEqual(got, numbers(want)) {
			t.Fatalf("%q: %v, %v, want %v", doc, got, err, want)
		}
	})
}

func TestCarried(t *testing.T) {
	const ls = `{"command":"ls"}`
	for _, c := range []struct{ tool, args, inner, innerArgs string }{
		{"tool_call", `{"id":"exec","args":{"command":"ls"}}`, "exec", ls},
		{"tool_call", `{"id":"exec","args":"{\"command\":\"ls\"}"}`, "exec", ls},
		{"tool_call", `{"toolId":" openclaw:core:exec ","input":{"command":"ls"}}`, "exec", ls},
		{"tool_call", `{"id":null,"name":"exec","args":null,"input":{"command":"ls"}}`, "exec", ls},
		{"tool_call", `{"id":"exec","ID":"read","args":{"command":"ls"},"ARGS":{}}`, "exec", ls},
		{"tool_call", `{"id":"read","id":"exec","args":{"command":"ls"},"input":{"command":"pwd"}}`, "exec", ls},
		{"tool_call", `{"id":"exec","name":"x","args":{"command":"ls"}}`, "exec", ls},
		{"tool_call", `{"id":"exec","command":"ls"}`, "exec", ls},
		{"tool_call", `{"id":"exec","args":{},"command":"ls"}`, "exec", ls},
		{"tool_call", `{"id":"status"}`, "status", "{}"},
		{"tool_call", `{"args":{}}`, "", ""},
		{"tool_call", `nothing`, "", ""},
		{"exec", `{"id":"exec","args":{"command":"ls"}}`, "", ""},
	} {
		inner, args, ok := Carried(c.tool, []byte(c.args))
		if inner != c.inner || string(args) != c.innerArgs || ok != (c.inner != "") {
			t.Errorf("%s %s: %q %s %v", c.tool, c.args, inner, args, ok)
		}
	}
	for _, args := range []string{
		`{"id":"exec","args":"rm x"}`, `{"id":"exec","args":[]}`, `{"id":"exec","args.command":"rm x"}`,
		`{"id":"exec","name":"x","command":"rm x"}`, `{"id":"exec","name":"x","args":{},"command":"rm x"}`,
	} {
		inner, in, ok := Carried("tool_call", []byte(args))
		if _, err := CallOf(inner, "exec", in); !ok || err == nil {
			t.Errorf("%s can be read in two ways: %q %s", args, inner, in)
		}
	}
}
