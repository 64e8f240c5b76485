package prompt_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// compile makes edits of two files; empty: none.
func compileFiles(t testing.TB, own, locked string) (prompt.Edits, []string) {
	t.Helper()
	var wrong []string
	read := func(doc string) prompt.EditsFile {
		f, problems := rulefile.Decode[prompt.EditsFile]("edits.yaml", "version: 1\n"+doc)
		for _, p := range problems {
			wrong = append(wrong, p.Error())
		}
		return f
	}
	return prompt.CompileEdits(read(own), read(locked), prompt.EditsCompiler{
		Pattern: func(x rulefile.Text) *regexp.Regexp { return regexp.MustCompile(x.Value) },
		Report:  func(at rulefile.Place, code, msg, hint string) { wrong = append(wrong, code+" "+msg) },
		Request: func(x *rulefile.Text) func(prompt.RequestFacts) (bool, error) {
			return condition[prompt.RequestFacts](t, x)
		},
		Result: func(x *rulefile.Text) func(prompt.ResultFacts) (bool, error) {
			return condition[prompt.ResultFacts](t, x)
		},
	}), wrong
}

func condition[E any](t testing.TB, x *rulefile.Text) func(E) (bool, error) {
	if x == nil {
		return nil
	}
	holds, problem := cond.Compile[E](*x, nil)
	if problem != nil {
		t.Fatal(problem.Error())
	}
	return holds
}

func good(t testing.TB, own, locked string) *prompt.Edits {
	t.Helper()
	e, wrong := compileFiles(t, own, locked)
	if len(wrong) > 0 {
		t.Fatalf("%q", wrong)
	}
	return &e
}

func ids(d prompt.EditsDone) (out []string) {
	for _, r := range d.Made {
		out = append(out, r.ID)
	}
	return out
}

func TestResult(t *testing.T) {
	const own = `
results:
  - {id: utm, when: tool == "web_fetch", replace: [{find: 'utm_\w+=\w*', with: ''}]}
  - {id: secret, when: text contains "TOP SECRET", drop: Left out.}
  - {id: long, when: size > 1000, chars: 300, head: 0.5, hint: Ask for less.}
  - {id: path, when: tool == "read" and args.path endsWith ".log", note: This is a log.}
  - {id: failed, when: failed and run, note: Try something else.}
  - {id: groups, when: tool == "swap", replace: [{find: '(\w+)-(\w+)', with: '$2-$1'}, {find: b, with: c}]}
`
	e := good(t, own, "")
	long := strings.Repeat("word ", 1000)
	for name, c := range map[string]struct {
		in   prompt.ResultFacts
		want func(string) bool
		made []string
	}{
		"nothing fits": {prompt.ResultFacts{Tool: "exec", Text: "ok"}, func(s string) bool { return s == "ok" },
			nil},
		"it holds, and changes": {prompt.ResultFacts{Tool: "web_fetch", Text: "a?utm_source=x"},
			func(s string) bool { return s == "a?" }, []string{"utm"}},
		"it holds, and does not": {prompt.ResultFacts{Tool: "web_fetch", Text: "a?b=c"}, func(s string) bool { return s == "a?b=c" }, nil},
		"dropped": {prompt.ResultFacts{Tool: "exec", Text: "TOP SECRET: 1"},
			func(s string) bool { return s == "Left out." }, []string{"secret"}},
		"capped": {prompt.ResultFacts{Tool: "exec", Text: long}, func(s string) bool {
			return utf8.RuneCountInString(s) <= 300 && strings.Contains(s, "Ask for less.") &&
				strings.HasSuffix(s, "word ")
		}, []string{"long"}},
		"by its arguments": {prompt.ResultFacts{Tool: "read", Args: map[string]any{"path": "a.log"}, Text: "x"},
			func(s string) bool { return s == "x\n\nThis is a log." }, []string{"path"}},
		"no such argument": {prompt.ResultFacts{Tool: "read", Text: "x"}, func(s string) bool { return s == "x" },
			nil},
		"failed": {prompt.ResultFacts{Tool: "exec", Text: "x", Failed: true,
			Subject: policy.Subject{Run: true}},
			func(s string) bool { return s == "x\n\nTry something else." }, []string{"failed"}},
		"one after the other": {prompt.ResultFacts{Tool: "swap", Text: "a-b"}, func(s string) bool { return s == "c-a" }, []string{"groups"}},
		"empty": {prompt.ResultFacts{Tool: "read", Args: map[string]any{"path": "a.log"}},
			func(s string) bool { return s == "This is a log." }, []string{"path"}},
	} {
		got, done := e.Result(c.in)
		if !c.want(got) || !slices.Equal(ids(done), c.made) {
			t.Errorf("%s: %q, by %v, want %v; %v", name, got, ids(done), c.made, done.Failed)
		}
	}
}

// What the locked folder takes away stays away, and what it adds stays there, whatever the
// operator's rules do before or after it.
func TestLockedResult(t *testing.T) {
	const locked = `
results:
  - {id: keys, replace: [{find: 'key-\d+', with: '[key]'}]}
  - {id: least, when: tool == "fetch", chars: 300, note: Not to be trusted.}
`
	for name, own := range map[string]string{
		"nothing":                  ``,
		"hide it from the pattern": `results: [{id: hide, replace: [{find: 'key-', with: 'key_'}]}]`,
		"take its note out":        `results: [{id: out, replace: [{find: 'Not to be trusted.', with: ''}, {find: '\[key\]', with: key}]}]`,
		"make it long":             `results: [{id: long, note: ` + strings.Repeat("x", 1000) + `}]`,
		"put something else there": `results: [{id: other, drop: nothing}]`,
	} {
		got, _ := good(t, own, locked).Result(prompt.ResultFacts{Tool: "fetch",
			Text: "here is key-123 " + strings.Repeat("y", 500)})
		if strings.Contains(got, "123") || !strings.HasSuffix(got, "\n\nNot to be trusted.") ||
			utf8.RuneCountInString(got) > 300+len("\n\nNot to be trusted.") {
			t.Errorf("%s: %q", name, got)
		}
	}
	got, done := good(t, `results: [{id: note, note: more}]`,
		`results: [{id: gone, drop: Gone.}]`).Result(prompt.ResultFacts{Text: "secret"})
	if got != "Gone." || !slices.Equal(ids(done), []string{"gone"}) {
		t.Errorf("%q by %v", got, ids(done))
	}
	// A condition that fails edits in the locked folder alone.
	const fails = `results: [{id: fails, when: 'args.n > 1', drop: Gone.}]`
	if got, done := good(t, fails, "").Result(prompt.ResultFacts{Text: "x",
		Args: map[string]any{"n": "text"}}); got != "x" || len(done.Failed) != 1 {
		t.Errorf("%q %v", got, done.Failed)
	}
	if got, done := good(t, "", fails).Result(prompt.ResultFacts{Text: "x",
		Args: map[string]any{"n": "text"}}); got != "Gone." || len(done.Failed) != 1 {
		t.Errorf("locked: %q %v", got, done.Failed)
	}
}

const conversation = `{"model":"m","temperature":1.5,"messages":[{"role":"system","content":"Be kind."},{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"x"}}]},` +
	`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"web_fetch","arguments":"{\"url\":\"https://a.test\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"page"},` +
	`{"role":"user","content":"and now?"}],"tools":[{"type":"function","function":{"name":"web_fetch"}},{"type":"function","function":{"name":"mcp_x"}}],"tool_choice":{"type":"function","function":{"name":"mcp_x"}}}`

func TestRequest(t *testing.T) {
	for name, c := range map[string]struct {
		own, locked string
		has, lacks  []string
		made        []string
	}{
		"nothing holds": {own: `requests: [{id: a, when: size > 100000, drop_tools: ['*']}]`,
			has: []string{conversation}},
		"a tool": {own: `requests: [{id: a, drop_tools: ['mcp_*']}]`,
			has: []string{`"tool_choice":"auto"`,
				`"tools":[{"type":"function","function":{"name":"web_fetch"}}]`}, lacks: []string{"mcp_x"},
			made: []string{"a"}},
		"all tools": {own: `requests: [{id: a, drop_tools: ['*']}]`,
			has: []string{`"tool_choice":"none"`, `"tools":[]`}, made: []string{"a"}},
		"no such tool": {own: `requests: [{id: a, drop_tools: [exec]}]`,
			has: []string{conversation}},
		"the instructions": {own: `requests: [{id: a, messages: [{of: system, replace: [{find: kind, with: brief}], note: Thanks.}]}]`, has: []string{`"Be brief.\n\nThanks."`}, made: []string{"a"}},
		"each text of the user": {own: `requests: [{id: a, messages: [{of: user, note: Please.}]}]`,
			has:  []string{`"text":"look\n\nPlease."`, `"and now?\n\nPlease."`, "image_url"},
			made: []string{"a"}},
		"the last text": {own: `requests: [{id: a, messages: [{of: last_user, drop: gone}]}]`,
			has: []string{`"look"`, `"gone"`}, lacks: []string{"and now?"}, made: []string{"a"}},
		"sampling":               {own: `requests: [{id: a, set: {top_p: 0.5}, most: {temperature: 1, max_tokens: 100}}]`, has: []string{`"top_p":0.5`, `"temperature":1,`, `"max_tokens":100`}, lacks: []string{"1.5"}, made: []string{"a"}},
		"within the limit":       {own: `requests: [{id: a, most: {temperature: 2}}]`, has: []string{conversation}},
		"locked comes last":      {own: `requests: [{id: a, set: {temperature: 2}}]`, locked: `requests: [{id: b, most: {temperature: 0.5}}]`, has: []string{`"temperature":0.5`}, made: []string{"a", "b"}},
		"what the gateway sends": {own: `results: [{id: a, when: 'args.url == "https://a.test" and tool == "web_fetch"', note: seen}]`, has: []string{`"page\n\nseen"`}, made: []string{"a"}},
	} {
		req, err := openai.ParseRequest([]byte(conversation))
		if err != nil {
			t.Fatal(err)
		}
		out, done, err := good(t, c.own, c.locked).Request(req, policy.Subject{}, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, part := range c.has {
			if !strings.Contains(string(out.Body), part) {
				t.Errorf("%s: %s\nlacks %s", name, out.Body, part)
			}
		}
		for _, part := range c.lacks {
			if strings.Contains(string(out.Body), part) {
				t.Errorf("%s: %s\nhas %s", name, out.Body, part)
			}
		}
		if !slices.Equal(ids(done), c.made) || len(done.Failed) > 0 {
			t.Errorf("%s: by %v, want %v %v", name, ids(done), c.made, done.Failed)
		}
	}
}

// Where there is no system message, the note becomes one; a default of the model is limited, too.
func TestRequestLacks(t *testing.T) {
	req, err := openai.ParseRequest([]byte(`{"messages":[{"role":"user","content":"hi"}],"max_completion_tokens":500}`))
	if err != nil {
		t.Fatal(err)
	}
	e := good(t, `requests: [{id: a, messages: [{of: system, note: Be kind.}], most: {temperature: 0.5, max_tokens: 100}}]`, "")
	out, _, err := e.Request(req, policy.Subject{}, map[string]any{"temperature": 1})
	if want := `{"temperature":0.5,"messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"hi"}],"max_completion_tokens":100}`; err != nil || string(out.Body) != want {
		t.Errorf("%s %v", out.Body, err)
	}
}

// What OpenClaw puts behind a conversation under the role of the user is not edited.
func TestRuntimeContextStays(t *testing.T) {
	req, err := openai.ParseRequest([]byte(`{"messages":[{"role":"user","content":"hi"},{"role":"user","content":"` + openai.RuntimeContext + ` x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := good(t, `requests: [{id: a, messages: [{of: user, drop: gone}, {of: last_user, note: n}]}]`, "").Request(req, policy.Subject{}, nil)
	if err != nil || !strings.Contains(string(out.Body), openai.RuntimeContext+` x"`) ||
		!strings.Contains(string(out.Body), `"gone\n\nn"`) {
		t.Errorf("%s %v", out.Body, err)
	}
}

func TestCompileProblems(t *testing.T) {
	for own, want := range map[string]string{
		`requests: [{id: a}]`:                                       "E-missing a edits nothing",
		`results: [{id: a}]`:                                        "E-missing a edits nothing",
		`results: [{id: a, head: 0.5, note: x}]`:                    "E-missing head and hint go with chars",
		`results: [{id: a, drop: x, chars: 300}]`:                   "E-value what drop leaves out",
		`requests: [{id: a, set: {tools: 1}}]`:                      "E-value a sets tools, which is no sampling parameter",
		`requests: [{id: a, set: {messages: []}}]`:                  "E-value a sets messages",
		`requests: [{id: a, set: {temperature: hot}}]`:              "E-type temperature of a",
		`requests: [{id: a, most: {temperature: hot}}]`:             "E-type most of temperature",
		`requests: [{id: a, drop_tools: ['[']}]`:                    "E-value this is no name of a tool",
		`requests: [{id: a, messages: [{of: user}]}]`:               "E-missing user edits nothing",
		`requests: [{id: a, messages: [{of: assistant, drop: x}]}]`: "of cannot be assistant",
	} {
		if _, wrong := compileFiles(t, own, ""); !slices.ContainsFunc(wrong,
			func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%s: %q lacks %q", own, wrong, want)
		}
	}
}

func TestExamples(t *testing.T) {
	e := good(t, `
requests:
  - id: a
    drop_tools: [exec]
    messages: [{of: system, note: More.}]
    set: {temperature: 1}
    hit:
      - {tools: [exec, read], system: You., user: hi, gives: {tools: [read], system: "You.\n\nMore.", user: hi, fields: {temperature: 1}}}
      - {user: hi, gives: {fields: {temperature: 2}}}
    miss:
      - {user: hi}
results:
  - id: b
    when: args.n == 1
    note: x
    hit: [{tool: t, args: {n: 1}, text: a, gives: "a\n\nx"}, {tool: t, args: {n: 1}, text: a, gives: a}, {tool: t, text: a}]
    miss: [{tool: t, text: a}, {tool: t, args: {n: 1}, text: a}]
`, "")
	want := []string{"", "a makes temperature 1, not 2", "a edits this, but", "",
		`b makes "a\n\nx" of this, not "a"`, "b edits nothing here", "", "b edits this, but"}
	for i, x := range e.Examples() {
		if got, _ := x.Try(); (want[i] == "") != (got == "") || !strings.HasPrefix(got, want[i]) {
			t.Errorf("%d: %q, want %q", i, got, want[i])
		}
	}
}

// However a conversation goes on, what was edited before is edited the same way, and no edit
// brings in a call.
func TestPrefixIsStable(t *testing.T) {
	e := good(t, `
results:
  - {id: a, when: size > 20, chars: 200, note: Long.}
  - {id: b, when: failed, replace: [{find: '(?i)error', with: trouble}], note: '{"tool_calls": []}'}
requests:
  - {id: c, messages: [{of: user, note: Please.}, {of: system, note: Be kind.}], drop_tools: [x]}
`, "")
	rapid.Check(t, func(t *rapid.T) {
		var messages []string
		for i, n := 0, rapid.IntRange(1, 8).Draw(t, "messages"); i < n; i++ {
			text := string(openai.AppendString(nil, rapid.StringN(0, 400, -1).Draw(t, "text")))
			switch rapid.SampledFrom([]string{"user", "tool", "assistant", "parts"}).Draw(t, "role") {
			case "user":
				messages = append(messages, `{"role":"user","content":`+text+`}`)
			case "parts":
				messages = append(messages,
					`{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":`+text+
						`},{"type":"text","text":"error"}]}`)
			case "tool":
				messages = append(messages, `{"role":"tool","tool_call_id":"c","content":`+text+`}`)
			default:
				messages = append(messages, `{"role":"assistant","content":`+text+
					`,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`)
			}
		}
		edited := func(n int) *openai.Request {
			req, err := openai.ParseRequest([]byte(`{"messages":[` + strings.Join(messages[:n], ",") + `]}`))
			if err != nil {
				t.Fatal(err)
			}
			out, _, err := e.Request(req, policy.Subject{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		whole, part := edited(len(messages)), edited(rapid.IntRange(1, len(messages)).Draw(t, "part"))
		calls := 0
		for i := range whole.Messages {
			w := &whole.Messages[i]
			calls += len(w.Calls)
			if i < len(part.Messages) &&
				string(w.Span.Of(whole.Body)) != string(part.Messages[i].Span.Of(part.Body)) {
				t.Fatalf("message %d differs", i)
			}
		}
		if was := strings.Count(strings.Join(messages, ","), `"name":"f"`); calls != was {
			t.Fatalf("%d calls of %d", calls, was)
		}
	})
}

// Whether a tool failed is read from its result.
func TestFailed(t *testing.T) {
	e := good(t, `results: [{id: f, when: failed, note: It failed.}]`, "")
	for text, want := range map[string]bool{
		"Error: no such file": true, "error": true, `{"error": "x"}`: true, ` {"status":"error"}`: true,
		`{"error": null}`: false, `{"error": false}`: false,
		"": false, "err": false, "No error": false, `{"status":"ok"}`: false, `{"error": `: false,
		`[{"error":1}]`: false,
	} {
		req, err := openai.ParseRequest([]byte(`{"messages":[{"role":"tool","tool_call_id":"c","content":` +
			string(openai.AppendString(nil, text)) + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		_, done, err := e.Request(req, policy.Subject{}, nil)
		if err != nil || (len(done.Made) > 0) != want {
			t.Errorf("%q: %+v, %v", text, done, err)
		}
	}
}
