package turn_test

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// A call that tool_choice forces is held to: the tool that is named and no other one, asked for again where
// the reply is text, and refused in the end.
func TestForcedCall(t *testing.T) {
	const (
		named   = `"tool_choice":{"type":"function","function":{"name":"read"}}`
		must    = `"tool_choice":"required"`
		allowed = `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"read"}}]}}`
		may     = `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"read"}}]}}`
	)
	read, exec, text := script.Native("read", `{"path":"a"}`), script.Native("exec",
		`{"command":"ls"}`), script.Text("I would rather talk.")
	call := `read {"path":"a"}`
	for _, row := range []struct {
		name, choice string
		dialect      func() script.Dialect
		steps        []script.Reply
		call, code   string
		tools, sent  string // that the model server gets
		text         string // want; a stream has shown what came before
	}{
		{"named", named, script.VLLM, []script.Reply{read}, call, "", "read", "auto", ""},
		{"named, and another one is called", named, script.VLLM, []script.Reply{exec, read}, call, "", "read", "auto", ""},
		{"named, and it is text", named, script.VLLM, []script.Reply{text, text, read}, call, "", "read", "auto", "I would rather talk."},
		{"named, and it stays text", named, script.VLLM, []script.Reply{text, text, text}, "", "tool_not_called", "read", "auto", "I would rather talk."},
		{"named, and the other one stays", named, script.VLLM, []script.Reply{exec, exec}, "", "tool_not_called", "read", "auto", ""},
		{"named, at llama.cpp", named, servers.LlamaCPP, []script.Reply{read}, call, "", "read", "required", ""},
		{"named, at Ollama", named, servers.Ollama, []script.Reply{text, read}, call, "", "read", "", "I would rather talk."},
		{"required", must, script.VLLM, []script.Reply{exec}, `exec {"command":"ls"}`, "", "exec read", "auto", ""},
		{"required, and it is text", must, script.VLLM, []script.Reply{text, read}, call, "", "exec read", "auto", "I would rather talk."},
		{"required, at llama.cpp", must, servers.LlamaCPP, []script.Reply{read}, call, "", "exec read", "required", ""},
		{"required, and it is empty", must, script.VLLM, []script.Reply{script.Empty(), script.Empty(), script.Empty()}, "", "empty_response", "exec read", "auto", ""},
		{"one allowed and required", allowed, script.VLLM, []script.Reply{exec, read}, call, "", "read", "auto", ""},
		{"one allowed", may, script.VLLM, []script.Reply{text}, "", "", "read", "auto", "I would rather talk."},
		{"one allowed, and another one is called", may, script.VLLM, []script.Reply{exec, read}, call, "", "read", "auto", ""},
	} {
		for _, mode := range []string{"stream", "whole"} {
			t.Run(row.name+", "+mode, func(t *testing.T) {
				model := script.New(script.Scenario{Steps: row.steps})
				model.Dialect = row.dialect()
				r := provider.Start(t, provider.Setup{}, model)
				more := row.choice + "," + provider.BothTools
				if mode == "stream" {
					more = provider.Streaming + "," + more
				}
				a := r.Ask("POST", "/v1/chat/completions", provider.Body(more))
				got := ""
				for _, c := range a.Calls {
					got += c.Name + " " + c.Args
				}
				if got != row.call || a.Fault.Code != row.code || row.code != "" && (a.Done || a.Last != "") {
					t.Errorf("%q, code %q\n%s", got, a.Fault.Code, a.Body)
				}
				if row.code != "" && mode == "whole" && a.Status != 502 || row.code == "" && a.Status != 200 {
					t.Errorf("%d %s", a.Status, a.Body)
				}
				if mode == "stream" && !strings.HasPrefix(a.Text, row.text) || row.call == "" &&
					row.code == "" && a.Text != row.text {
					t.Errorf("text %q", a.Text)
				}
				asked := model.Requests("")
				if len(asked) != len(row.steps) {
					t.Fatalf("%d requests", len(asked))
				}
				for _, q := range asked {
					var names []string
					for _, n := range gjson.GetBytes(q.Body, "tools.#.function.name").Array() {
						names = append(names, n.Str)
					}
					if strings.Join(names, " ") != row.tools ||
						gjson.GetBytes(q.Body, "tool_choice").String() != row.sent {
						t.Errorf("%q, choice %s", names, gjson.GetBytes(q.Body, "tool_choice"))
					}
				}
			})
		}
	}
}

// What a tool_choice names must be there.
func TestForcedUnknown(t *testing.T) {
	r := provider.Play(t, script.Text("Yes."))
	for _, row := range []struct{ api, body, says string }{
		{"chat/completions", provider.Body(`"tool_choice":{"type":"function","function":{"name":"launch"}},` + provider.BothTools), `tool_choice names "launch", and no tool that is offered has this name; there are: exec, read.`},
		{"chat/completions", provider.Body(`"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"launch"}}]}},` + provider.BothTools), `tool_choice names "launch"`},
		{"chat/completions", provider.Body(`"tool_choice":"required"`), "tool_choice is required, and no tool is offered"},
		{"chat/completions", provider.Body(`"tool_choice":"required","tools":[]`), "tool_choice is required, and no tool is offered"},
		{"responses", `{"model":"gpt-oss","input":"go","tool_choice":{"type":"function","name":"launch"},"tools":[{"type":"function","name":"read"}]}`, `tool_choice names "launch"`},
	} {
		a := r.Ask("POST", "/v1/"+row.api, row.body)
		if a.Status != 400 || a.Fault.Param != "tool_choice" || !strings.Contains(a.Fault.Message, row.says) {
			t.Errorf("%s: %d %s", row.body, a.Status, a.Body)
		}
	}
}

// Where a caller takes one call at a time, the first of a reply leaves alone; the user and, with its result,
// the model are told.
func TestOneCallAtATime(t *testing.T) {
	const two = `<|channel|>commentary to=functions.read<|message|>{"path":"a"}<|call|><|start|>assistant<|channel|>commentary to=functions.read<|message|>{"path":"b"}<|call|>`
	native := script.Native("read", `{"path":"a"}`)
	native.Calls = append(native.Calls, script.Native("read", `{"path":"b"}`).Calls...)
	for name, reply := range map[string]script.Reply{"leaked": script.Text(two), "the server's": native} {
		for parallel, want := range map[string]int{`"parallel_tool_calls":false,`: 1,
			`"parallel_tool_calls":true,`: 2, "": 2} {
			for _, more := range []string{"", provider.Streaming + ","} {
				r := provider.Play(t, reply, script.Text("Yes."))
				a := r.Chat(provider.Body(parallel + more + provider.BothTools))
				if len(a.Calls) != want || a.Calls[0].Args != `{"path":"a"}` ||
					strings.Contains(a.Text, "one call can be made at a time") != (want == 1) ||
					a.Last != "tool_calls" {
					t.Errorf("%s, %s%s: %s", name, parallel, more, a.Body)
					continue
				}
				if want > 1 || more != "" {
					continue
				}
				r.Chat(`{` + parallel + provider.BothTools +
					`,"model":"gpt-oss","messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"` + a.Calls[0].ID + `","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},{"role":"tool","tool_call_id":"` + a.Calls[0].ID + `","content":"calm"}]}`)
				asked := r.Model.Requests("")
				if told := asked[len(asked)-1].Messages; !strings.Contains(told[len(told)-1].Text,
					"wait for the next reply") {
					t.Errorf("%s: the model is told %q", name, told[len(told)-1].Text)
				}
			}
		}
	}
}
