package upstream_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/modelserver"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// familyCase is a raw reply of a model of some family, and what it says.
type familyCase struct {
	ID, Family, Raw string
	Models, Tags    []string
	Tools           json.RawMessage
	Thinking        *bool
	Expect          struct {
		Content, Reasoning *string
		Calls              []struct {
			Name      string
			Arguments any
		}
		Error bool
	}
}

// served is how a server serves some models of the labelled replies.
type served struct {
	models []string // beginnings of their names
	format modelserver.Format
}

// Templates for Ollama that say as much as its parser looks for: what stands in front of a call, and around a
// thought.
const (
	plainTemplate  = `{{ .Prompt }}`
	hermesTemplate = `{{ if .Tools }}<|im_start|>system
{{ range .Tools }}{{ . }}{{ end }}<|im_end|>{{ end }}{{ range .Messages }}<|im_start|>{{ .Role }}
{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}{{ .Content }}{{ if .ToolCalls }}<tool_call>
{{ range .ToolCalls }}{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}
</tool_call>{{ end }}{{ end }}<|im_end|>
{{ end }}<|im_start|>assistant
`
	llamaTemplate = `{{ if .Tools }}{{ range .Tools }}{{ . }}{{ end }}{{ end }}{{ range .Messages }}<|start_header_id|>{{ .Role }}<|end_header_id|>
{{ .Content }}{{ if .ToolCalls }}{{ range .ToolCalls }}{"name": "{{ .Function.Name }}", "parameters": {{ .Function.Arguments }}}{{ end }}{{ end }}<|eot_id|>{{ end }}<|start_header_id|>assistant<|end_header_id|>
`
	mistralTemplate = `{{ if .Tools }}[AVAILABLE_TOOLS] {{ .Tools }}[/AVAILABLE_TOOLS]{{ end }}{{ range .Messages }}[INST] {{ .Content }}[/INST]
{{- if .ToolCalls }}[TOOL_CALLS] [{{ range .ToolCalls }}{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}{{ end }}]{{ end }}{{ end }}`
	gemmaTemplate = `{{ if .Tools }}<|turn>system
{{ range .Tools }}{{ . }}{{ end }}<turn|>{{ end }}{{ range .Messages }}<|turn>{{ .Role }}
{{ .Content }}{{ if .ToolCalls }}{{ range .ToolCalls }}<|tool_call>call:{{ .Function.Name }}{{ .Function.Arguments }}<tool_call|>{{ end }}{{ end }}<turn|>
{{ end }}<|turn>model
`
)

// byOllama are the families that this version of Ollama has a parser for, and those that it reads by the
// template alone.
var byOllama = []served{
	{[]string{"DeepSeek-V3.1"}, modelserver.Format{Model: "deepseek-v3.1", Renderer: "deepseek3.1", Parser: "deepseek3", Template: plainTemplate}},
	{[]string{"gemma-4"}, modelserver.Format{Model: "gemma4", Template: gemmaTemplate}},
	{[]string{"GLM-4.7", "GLM-5"}, modelserver.Format{Model: "glm-4.7-flash", Renderer: "glm-4.7", Parser: "glm-4.7", Template: plainTemplate}},
	{[]string{"gpt-oss"}, modelserver.Format{Model: modelserver.Model}},
	{[]string{"Llama-3"}, modelserver.Format{Model: "llama3.3", Template: llamaTemplate}},
	{[]string{"Mistral-7B"}, modelserver.Format{Model: "mistral", Template: mistralTemplate}},
	{[]string{"Ministral", "Devstral", "Magistral", "Mistral-Small"}, modelserver.Format{Model: "ministral-3", Parser: "ministral", Template: mistralTemplate}},
	{[]string{"Qwen3-4B-Thinking"}, modelserver.Format{Model: "qwen3:4b-thinking", Template: hermesTemplate + "<think>\n"}},
	{[]string{"Qwen3-0.6B", "Qwen3-4B-Instruct"}, modelserver.Format{Model: "qwen3", Template: hermesTemplate}},
	{[]string{"Qwen3-Coder"}, modelserver.Format{Model: "qwen3-coder", Renderer: "qwen3-coder", Parser: "qwen3-coder", Template: plainTemplate}},
	{[]string{"Qwen3.5", "Qwen3.6", "Qwen3.8"}, modelserver.Format{Model: "qwen3.5", Renderer: "qwen3.5", Parser: "qwen3.5", Template: plainTemplate}},
}

// byLlama are the families of which llama.cpp's sources hold a template.
var byLlama = []served{
	{[]string{"DeepSeek-V3.1"}, modelserver.Format{Model: "DeepSeek-V3.1", Jinja: "deepseek-ai-DeepSeek-V3.1"}},
	{[]string{"DeepSeek-V3.2"}, modelserver.Format{Model: "DeepSeek-V3.2", Jinja: "deepseek-ai-DeepSeek-V3.2"}},
	{[]string{"DeepSeek-V4-"}, modelserver.Format{Model: "DeepSeek-V4", Jinja: "deepseek-ai-DeepSeek-V4"}},
	{[]string{"gemma-4"}, modelserver.Format{Model: "gemma-4", Jinja: "google-gemma-4-31B-it"}},
	{[]string{"GLM-4.5", "GLM-4.6"}, modelserver.Format{Model: "GLM-4.6", Jinja: "GLM-4.6"}},
	{[]string{"GLM-4.7", "GLM-5"}, modelserver.Format{Model: "GLM-4.7", Jinja: "GLM-4.7-Flash"}},
	{[]string{"gpt-oss"}, modelserver.Format{Model: modelserver.Model}},
	{[]string{"Kimi-K2-"}, modelserver.Format{Model: "Kimi-K2", Jinja: "Kimi-K2-Instruct"}},
	{[]string{"Kimi-K2."}, modelserver.Format{Model: "Kimi-K2.6", Jinja: "Kimi-K2-Thinking"}},
	{[]string{"Kimi-K3"}, modelserver.Format{Model: "Kimi-K3", Jinja: "Kimi-K3"}},
	{[]string{"Llama-3"}, modelserver.Format{Model: "Llama-3.3", Jinja: "meta-llama-Llama-3.3-70B-Instruct"}},
	{[]string{"Mistral-7B"}, modelserver.Format{Model: "Mistral-7B", Jinja: "mistralai-Mistral-Nemo-Instruct-2407"}},
	{[]string{"Mistral-Small", "Devstral-Small-2507", "Magistral"}, modelserver.Format{Model: "Mistral-Small", Jinja: "Mistral-Small-3.2-24B-Instruct-2506"}},
	{[]string{"Ministral", "Devstral-Small-2-"}, modelserver.Format{Model: "Ministral-3", Jinja: "mistralai-Ministral-3-14B-Reasoning-2512"}},
	{[]string{"Qwen3-0.6B", "Qwen3-4B"}, modelserver.Format{Model: "Qwen3", Jinja: "Qwen-Qwen3-0.6B"}},
	{[]string{"Qwen3-Coder"}, modelserver.Format{Model: "Qwen3-Coder", Jinja: "Qwen3-Coder"}},
	{[]string{"Qwen3.5", "Qwen3.6", "Qwen3.8"}, modelserver.Format{Model: "Qwen3.5", Jinja: "Qwen3.5-4B"}},
}

// of are the replies of the models that a format serves.
func (s *served) of(all []familyCase) (out []familyCase) {
	for _, c := range all {
		if slices.ContainsFunc(s.models, func(begin string) bool { return strings.HasPrefix(c.Models[0], begin) }) {
			out = append(out, c)
		}
	}
	return out
}

// tally counts the replies of a family through a kind of server.
type tally struct{ all, alone, behind int }

// wrong says what is wrong with an answer, or "".
func (c *familyCase) wrong(a *provider.Answer) string {
	switch {
	case c.Expect.Error && len(a.Calls) == 0:
		return ""
	case a.Status != http.StatusOK || a.Fault.Message != "":
		return fmt.Sprintf("error %d %s", a.Status, a.Fault.Message)
	case len(a.Calls) != len(c.Expect.Calls):
		return fmt.Sprintf("%d calls, text %q", len(a.Calls), a.Text)
	}
	for i, want := range c.Expect.Calls {
		var args any
		if json.Unmarshal([]byte(a.Calls[i].Args), &args) != nil || a.Calls[i].Name != want.Name ||
			!reflect.DeepEqual(args, want.Arguments) {
			return fmt.Sprintf("call %s %s", a.Calls[i].Name, a.Calls[i].Args)
		}
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return strings.TrimSpace(*s)
	}
	switch {
	case c.Expect.Error:
		return "calls"
	case strings.TrimSpace(a.Text) != text(c.Expect.Content) &&
		!(text(c.Expect.Content) == "" && len(c.Expect.Calls) == 0 && strings.HasPrefix(a.Text, "The model ")): // of the sidecar
		return fmt.Sprintf("text %q", a.Text)
	case strings.TrimSpace(a.Thought) != text(c.Expect.Reasoning):
		return fmt.Sprintf("thought %q", a.Thought)
	}
	return ""
}

// kinds are the real servers. A stream of the chat layer would be a whole reply.
var kinds = []struct {
	name    string
	start   func(modelserver.Config, testing.TB) *modelserver.Server
	formats []served
	streams bool
	server  string // its dialect; "": it is probed, which the chat layer has no time for while it computes
	slow    bool   // -short leaves out all models but those of brief
	brief   []string
	least   int  // right of 100 with the sidecar
	grammar bool // its grammar for the offered tools may make another text of a reply
}{
	{"Ollama", func(c modelserver.Config, t testing.TB) *modelserver.Server { return c.Ollama(t) }, byOllama, true, "", true, []string{modelserver.Model, "qwen3", "mistral"}, 92, false},
	{"LlamaChat", func(c modelserver.Config, t testing.TB) *modelserver.Server { return c.LlamaChat(t) }, byLlama, false, "llamacpp", true, []string{"Llama-3.3", "Qwen3-Coder"}, 84, false},
	{"LlamaServer", func(c modelserver.Config, t testing.TB) *modelserver.Server { return c.LlamaServer(t) }, byLlama, true, "", true, nil, 84, true},
}

// Replies of each family through real servers: how many a caller has right who asks the server, and one who
// asks the sidecar. The table in docs/models.md is from this test. -short tries two or three families.
func TestRealFamilies(t *testing.T) {
	all := testkit.Corpus[familyCase](t, "families")
	files, err := ruletest.Source(t, "").Read()
	ruletest.Must(t, err)
	allowing, problems := ruletest.Load(t, rulefile.Files{"exec.yaml": testkit.Replace(t, files["exec.yaml"],
		"\nprofile: developer\n", "\nprofile: audit-only\n", 1)}, provider.Sections()...)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			sums := map[string]*tally{}
			for _, s := range kind.formats {
				if testing.Short() && kind.slow && !slices.Contains(kind.brief, s.format.Model) {
					continue
				}
				t.Run(s.format.Model, func(t *testing.T) {
					start := func() *modelserver.Server {
						if s.format.Model == modelserver.Model {
							return kind.start(modelserver.Config{}, t)
						}
						return kind.start(modelserver.Config{Format: &s.format}, t)
					}
					set := *allowing
					set.Models = slices.Clone(set.Models)
					set.Models[0].Name = s.format.Model
					alone, behind := start(), start()
					sidecar := provider.Start(t, provider.Setup{Set: &set, URL: behind.URL, Server: kind.server}, nil)
					for _, c := range s.of(all) {
						sum := sums[c.Family]
						if sum == nil {
							sum = &tally{}
							sums[c.Family] = sum
						}
						for _, stream := range []bool{false, true} {
							if stream && !kind.streams {
								continue
							}
							alone.Say(modelserver.Reply{Text: c.Raw, Always: true})
							behind.Say(modelserver.Reply{Text: c.Raw, Always: true})
							res, err := http.Post(alone.URL+"/v1/chat/completions", "application/json",
								strings.NewReader(c.body(s.format.Model, alone, stream)))
							ruletest.Must(t, err)
							answer := provider.ReadAnswer(t, res)
							if kind.grammar && !stream && changed(answer, alone.Tokens(c.Raw)) {
								t.Logf("%s: the server's grammar made another text of it", c.ID)
								break
							}
							sum.all++
							if direct := c.wrong(answer); direct == "" {
								sum.alone++
							} else if kind.name == "Ollama" {
								alone = start() // it never answers again after a call that it could not parse
							}
							if through := c.wrong(sidecar.Chat(c.body("gpt-oss", behind, stream))); through == "" {
								sum.behind++
							} else {
								t.Logf("%s, stream %v: %s", c.ID, stream, through)
							}
						}
					}
				})
			}
			for _, family := range slices.Sorted(maps.Keys(sums)) {
				sum := sums[family]
				t.Logf("%s, %s: of %d right directly %d, with the sidecar %d", kind.name, family, sum.all, sum.alone, sum.behind)
				if sum.behind < sum.alone-1 || sum.behind < sum.all*kind.least/100 {
					t.Errorf("%s with the sidecar is right in %d of %d, and in %d without", family, sum.behind, sum.all, sum.alone)
				}
			}
		})
	}
}

// An agent runs two calls of one reply, and sends both back in one message. The template of Llama refuses that, and
// those of gpt-oss and GigaChat show the first call only.
func TestRealParallelHistory(t *testing.T) {
	const history = `{"model":%q,"tools":[{"type":"function","function":{"name":"read","parameters":` +
		`{"type":"object","properties":{"path":{"type":"string"}}}}}],"messages":[{"role":"user","content":"go"},` +
		`{"role":"assistant","content":null,"tool_calls":[` +
		`{"id":"call00001","type":"function","function":{"name":"read","arguments":"{\"path\":\"first.md\"}"}},` +
		`{"id":"call00002","type":"function","function":{"name":"read","arguments":"{\"path\":\"second.md\"}"}}]},` +
		`{"role":"tool","tool_call_id":"call00001","content":"one"},{"role":"tool","tool_call_id":"call00002","content":"two"}]}`
	set := *ruletest.Shipped(t)
	for model, row := range map[string]struct{ jinja, reply string }{
		"Llama-3.3":   {"meta-llama-Llama-3.3-70B-Instruct", "Done."},
		"gpt-oss:20b": {"openai-gpt-oss-120b", "<|channel|>final<|message|>Done."},
		"GigaChat3":   {"GigaChat3-10B-A1.8B", "Done."},
	} {
		t.Run(model, func(t *testing.T) {
			start := func() *modelserver.Server {
				return modelserver.Config{Format: &modelserver.Format{Model: model, Jinja: row.jinja}}.LlamaChat(t, row.reply)
			}
			alone, behind := start(), start()
			res, err := http.Post(alone.URL+"/v1/chat/completions", "application/json",
				strings.NewReader(fmt.Sprintf(history, model)))
			ruletest.Must(t, err)
			provider.ReadAnswer(t, res)
			for _, p := range alone.Prompts() {
				if strings.Contains(p.Text, "second.md") {
					t.Error("the template shows both calls now")
				}
			}
			set.Models = slices.Clone(set.Models)
			set.Models[0].Name = model
			answer := provider.Start(t, provider.Setup{Set: &set, URL: behind.URL, Server: "llamacpp"}, nil).Chat(
				fmt.Sprintf(history, "gpt-oss"))
			if answer.Text != "Done." {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
			prompts := behind.Prompts()
			last := prompts[len(prompts)-1].Text
			at := -1
			for _, word := range []string{"first.md", "one", "second.md", "two"} {
				if next := strings.LastIndex(last, word); next <= at {
					t.Errorf("%s is not behind the others in %s", word, last)
				} else {
					at = next
				}
			}
		})
	}
}

// Agents send two messages of the user in a row, or one after results, and begin with an answer once a history
// was made shorter. The templates of Mistral refuse each.
func TestRealTurns(t *testing.T) {
	const made = `{"role":"assistant","content":null,"tool_calls":[{"id":"call00001","type":"function",` +
		`"function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call00001","content":"text"}`
	const user, model = `{"role":"user","content":"go"}`, `{"role":"assistant","content":"ok"}`
	set := *ruletest.Shipped(t)
	for _, jinja := range []string{"Mistral-Small-3.2-24B-Instruct-2506", "mistralai-Mistral-Nemo-Instruct-2407",
		"mistralai-Ministral-3-14B-Reasoning-2512"} {
		t.Run(jinja, func(t *testing.T) {
			config := modelserver.Config{Format: &modelserver.Format{Model: "mistral", Jinja: jinja}}
			alone, behind := config.LlamaChat(t), config.LlamaChat(t)
			set.Models = slices.Clone(set.Models)
			set.Models[0].Name = "mistral"
			sidecar := provider.Start(t, provider.Setup{Set: &set, URL: behind.URL, Server: "llamacpp"}, nil)
			for _, s := range []*modelserver.Server{alone, behind} {
				s.Say(modelserver.Reply{Text: "Done.", Always: true})
			}
			for _, messages := range [][]string{{user, user}, {user, made, user}, {user, model, model, user}, {model, user}} {
				body := func(name string) string {
					return fmt.Sprintf(`{"model":%q,"tools":[{"type":"function","function":{"name":"read","parameters":`+
						`{"type":"object","properties":{}}}}],"messages":[%s]}`, name, strings.Join(messages, ","))
				}
				res, err := http.Post(alone.URL+"/v1/chat/completions", "application/json", strings.NewReader(body("mistral")))
				ruletest.Must(t, err)
				if direct := provider.ReadAnswer(t, res); direct.Status == http.StatusOK {
					t.Errorf("the template takes %s now", messages)
				}
				if answer := sidecar.Chat(body("gpt-oss")); answer.Text != "Done." {
					t.Errorf("%s: %d %s", messages, answer.Status, answer.Body)
				}
			}
		})
	}
}

// changed says that the model did not write as many tokens as the script has: the end may be one more.
func changed(a *provider.Answer, tokens int) bool {
	wrote := gjson.Get(a.Body, "usage.completion_tokens")
	return wrote.Exists() && int(wrote.Int()) != tokens && int(wrote.Int()) != tokens+1
}

// body is a request that a reply answers.
func (c *familyCase) body(model string, s *modelserver.Server, stream bool) string {
	var more strings.Builder
	if stream {
		more.WriteString(provider.Streaming + ",")
	}
	tokens := s.Tokens(c.Raw)
	if !slices.Contains(c.Tags, "truncated") {
		tokens += 64 // a model that may not write what it wants fills the window
	}
	fmt.Fprintf(&more, `"max_tokens":%d,`, tokens)
	if c.Thinking != nil && !*c.Thinking {
		more.WriteString(`"reasoning_effort":"none",`)
	}
	return fmt.Sprintf(`{%s"model":%q,"tools":%s,"messages":[{"role":"user","content":"go"}]}`, &more, model, c.Tools)
}
