package turn_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

const wentOn = `{"model":"gpt-oss",%s,"messages":[{"role":"user","content":"go"},
	{"role":"assistant","content":"","tool_calls":[{"id":"call1","type":"function","function":{"name":"read","arguments":"{\"path\":\"notes.md\"}"}}]},
	{"role":"tool","tool_call_id":"call1","content":"calm"}]}`

// A server that cannot call tools is told of them in words, and its replies become calls: by a
// schema where it follows one, else in lines. The caller notices nothing.
func TestStyles(t *testing.T) {
	for _, row := range []struct {
		name     string
		at       string // see servers.Plain
		refuses  bool
		late     bool
		dialect  string
		strategy string
		told     string // what the result is, in the words of the style
	}{
		{"one that obeys", "response_format.json_schema.schema", false, false, "vllm", "guided_json", "Result of read:\n```\ncalm\n```"},
		{"one that obeys, with a field of its own", "guided_json", false, false, "vllm_old", "guided_json", "Result of read:\n```\ncalm\n```"},
		{"one that looks elsewhere", "guided_json", false, false, "vllm", "react", "Observation:\n```\ncalm\n```"},
		{"one that ignores", "", false, false, "llamacpp", "react", "Observation:\n```\ncalm\n```"},
		{"one that refuses", "response_format.json_schema.schema", true, false, "generic", "react", "Observation:\n```\ncalm\n```"},
		{"one that refuses in the stream", "response_format.json_schema.schema", true, true, "generic", "react", "Observation:\n```\ncalm\n```"},
		{"one that says in the stream that it cannot", "response_format.json_schema.schema", false, true, "vllm", "guided_json", "Result of read:\n```\ncalm\n```"},
	} {
		for _, streamed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, streamed %v", row.name, streamed), func(t *testing.T) {
				s := &servers.Plain{At: row.at, Refuses: row.refuses, Late: row.late}
				r := provider.Start(t, provider.Setup{Server: row.dialect}, s.Model())
				more := provider.BothTools
				if streamed {
					more += "," + provider.Streaming
				}
				for range 2 { // the second time it is known
					a := r.Chat(provider.Body(more))
					if a.Status != http.StatusOK || len(a.Calls) != 1 || a.Calls[0].Name != "read" ||
						!strings.Contains(a.Calls[0].Args, `"notes.md"`) || a.Text != "" {
						t.Fatalf("%d %+v %q %s", a.Status, a.Calls, a.Text, a.Body)
					}
				}
				if a := r.Chat(fmt.Sprintf(wentOn, more)); a.Status != http.StatusOK ||
					a.Text != "It is calm." || len(a.Calls) > 0 {
					t.Fatalf("%d %q %+v", a.Status, a.Text, a.Calls)
				}
				if n := s.Tried.Load(); n != 1 {
					t.Errorf("it was tried %d times", n)
				}
				asked := r.Model.Requests("")
				last := asked[len(asked)-1]
				if got := last.Messages[len(last.Messages)-1]; got.Role != "user" || got.Text != row.told {
					t.Errorf("the result is %s %q", got.Role, got.Text)
				}
				if system := last.Messages[0]; system.Role != "system" ||
					!strings.Contains(system.Text, "read") || !strings.Contains(system.Text, `"path"`) {
					t.Errorf("the model is told %q", system.Text)
				}
				for _, word := range []string{"tool_choice", `"tool_calls"`, "tool_call_id"} {
					if gjson.GetBytes(last.Body, "messages.2."+strings.Trim(word, `"`)).Exists() ||
						gjson.GetBytes(last.Body, word).Exists() {
						t.Errorf("%s is left", word)
					}
				}
				if line := r.Log.Lines("request_served"); !strings.Contains(line[len(line)-1],
					"style="+row.strategy) {
					t.Errorf("%s", line)
				}
				if n := r.Log.Count("style_changed"); n != 1 && !(row.refuses && n == 2) {
					t.Errorf("the change was said %d times", n)
				}
				ruletest.Soon(t, "the log tells once what was tried",
					func() bool { return r.Log.Count("schema_tried") == 1 })
			})
		}
	}
}

// A schema of which llama.cpp makes no grammar costs native tools for a while, and no request; the log says
// what to look for, and in which tools.
func TestNoGrammar(t *testing.T) {
	s := &servers.Plain{Why: "Failed to initialize samplers: failed to parse grammar"}
	r := provider.Start(t, provider.Setup{Server: "llamacpp"}, s.Model())
	const find = `{"type":"function","function":{"name":"find","parameters":{"type":"object","properties":{"q":{"type":"string","pattern":"^\\\\w+$"}}}}}`
	for range 2 {
		if a := r.Chat(provider.Body(`"tools":[` + provider.ReadTool + `,` + find + `]`)); a.Status != http.StatusOK ||
			len(a.Calls) != 1 || a.Calls[0].Name != "read" {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	lines := r.Log.Lines("style_changed")
	if len(lines) != 1 || !strings.Contains(lines[0], "tools=find ") ||
		!strings.Contains(lines[0], "Look for pattern") {
		t.Errorf("%s", lines)
	}
}

// A server that stops to follow its schema is not relied upon any more.
func TestSchemaNotFollowed(t *testing.T) {
	s := &servers.Plain{At: "response_format.json_schema.schema"}
	r := provider.Start(t, provider.Setup{}, s.Model())
	r.Chat(provider.Body(provider.BothTools))
	s.At = "nowhere" // no request is under way
	if a := r.Chat(provider.Body(provider.BothTools)); len(a.Calls) != 0 || r.Log.Count("schema_ignored") != 1 {
		t.Errorf("%+v %d", a.Calls, r.Log.Count("schema_ignored"))
	}
	if a := r.Chat(provider.Body(provider.BothTools)); len(a.Calls) != 1 || r.Log.Count("schema_ignored") != 1 {
		t.Errorf("%+v %s", a.Calls, a.Body)
	}
}

// strictServer calls a tool, and refuses a request in which one is strict.
type strictServer struct {
	refuses, late bool
	strict        []bool // what it was asked with
}

func (s *strictServer) choose(q script.Request) *script.Reply {
	strict := gjson.GetBytes(q.Body, "tools.0.function.strict")
	s.strict = append(s.strict, strict.Bool())
	r := script.Native("read", `{"path":"notes.md"}`)
	if strict.Bool() && s.refuses {
		if r = script.Fail(http.StatusBadRequest, "Invalid grammar specification: 'triggers'"); s.late {
			r.End = script.Fault
		}
	}
	return &r
}

// Tools are strict where servers.yaml says so and the model does not see it. A server that refuses them is
// asked again without, and the next time at once so.
func TestStrict(t *testing.T) {
	const on = "version: 1\nservers:\n  - {id: vllm, set_strict: true}\n"
	for _, row := range []struct {
		name, extra, family string
		server              strictServer
		want                []bool
	}{
		{"on", on, "", strictServer{}, []bool{true, true}},
		{"refused", on, "", strictServer{refuses: true}, []bool{true, false, false}},
		{"refused in the stream", on, "", strictServer{refuses: true, late: true}, []bool{true, false, false}},
		{"off", "", "", strictServer{}, []bool{false, false}},
		{"a model that would see it", on, "qwen3", strictServer{}, []bool{false, false}},
	} {
		t.Run(row.name, func(t *testing.T) {
			more := map[string]string{"extra/models.family.yaml": "version: 1\nmodels:\n  - {id: gpt-oss, family: " +
				cmp.Or(row.family, "gpt-oss") + "}\n"}
			if row.extra != "" {
				more["extra/servers.strict.yaml"] = row.extra
			}
			s := &row.server
			r := provider.Start(t, provider.Setup{Server: "vllm", Set: with(t, more)},
				script.New(script.Scenario{Choose: s.choose}))
			for range 2 {
				a := r.Chat(provider.Body(provider.Streaming + "," + provider.BothTools))
				if len(a.Calls) != 1 || a.Calls[0].Name != "read" {
					t.Fatalf("%d %s", a.Status, a.Body)
				}
			}
			if !slices.Equal(s.strict, row.want) {
				t.Errorf("asked with strict %v, want %v", s.strict, row.want)
			}
			if lines := r.Log.Lines("style_changed"); len(lines) != len(row.want)-2 ||
				len(lines) == 1 && !strings.Contains(lines[0], "from=strict to=native") {
				t.Errorf("%s", lines)
			}
		})
	}
}

// with is the shipped set with more rules.
func with(t *testing.T, more map[string]string) *ruleset.Set {
	t.Helper()
	files, err := ruletest.Source(t, "").Read()
	ruletest.Must(t, err)
	for name, text := range more {
		files[name] = text
	}
	set, problems := provider.Loader().Load(rulefile.Files(files))
	if set == nil {
		t.Fatal(problems)
	}
	return set
}

// Who wants to compare two styles gives each a share of the sessions, or a model id. One
// session always gets the same.
func TestStylesCompared(t *testing.T) {
	set := with(t, map[string]string{
		"extra/strategies.ab.yaml": "version: 1\nchoose:\n  - id: half\n    about: Half of them.\n    when: part < 50\n    style: react\n  - {id: rest, about: The others., when: part >= 50, style: markers}\n",
		"extra/models.ab.yaml":     "version: 1\nmodels:\n  - {id: native, about: n, mode: provider, style: native}\n",
	})
	r := provider.Start(t, provider.Setup{Set: set}, script.New(script.Scenario{Steps: []script.Reply{script.Text("Hi.")},
		Loop: true}))
	styles := map[string]string{}
	for i := range 60 {
		session := fmt.Sprint("s", i%30)
		r.Chat(provider.Body(provider.BothTools), "session_id", session)
		lines := r.Log.Lines("request_served")
		_, style, _ := strings.Cut(lines[len(lines)-1], " style=")
		style, _, _ = strings.Cut(style, " ")
		if was, seen := styles[session]; seen && was != style {
			t.Errorf("%s had %s and %s", session, was, style)
		}
		styles[session] = style
	}
	n := map[string]int{}
	for _, style := range styles {
		n[style]++
	}
	if n["react"] < 5 || n["markers"] < 5 || n["react"]+n["markers"] != 30 {
		t.Errorf("%v", n)
	}
	r.Chat(strings.Replace(provider.Body(provider.BothTools), `"gpt-oss"`, `"native"`, 1))
	asked := r.Model.Requests("")
	if last := asked[len(asked)-1]; len(last.Tools) != 2 || len(last.Messages) != 1 {
		t.Errorf("%s", last.Body)
	}
}

// The same conversation begins with the same bytes, turn after turn.
func TestStylePrefix(t *testing.T) {
	set := with(t, map[string]string{"extra/models.ab.yaml": "version: 1\nmodels:\n  - {id: gpt-oss, style: react}\n"})
	r := provider.Start(t, provider.Setup{Set: set}, script.New(script.Scenario{Steps: []script.Reply{script.Text("Hi.")},
		Loop: true}))
	r.Chat(provider.Body(provider.BothTools))
	r.Chat(strings.Replace(fmt.Sprintf(wentOn, provider.BothTools), `{"model":"gpt-oss",`+provider.BothTools+`,`,
		`{`+provider.BothTools+`,"model":"gpt-oss",`, 1))
	asked := r.Model.Requests("")
	first, second := asked[0].Messages, asked[1].Messages
	if len(first) != 2 || len(second) != 4 {
		t.Fatalf("%d %d", len(first), len(second))
	}
	for i := range first {
		if string(first[i].Raw) != string(second[i].Raw) {
			t.Errorf("%s\n%s", first[i].Raw, second[i].Raw)
		}
	}
}
