// Package servers starts for tests what the sidecar talks to: model servers of the script that were started
// well or badly, or do better with a prompt; Valkey or Redis; names and web servers on loopback.
package servers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// Start is how a server was started: what it can, and what it does wrong.
type Start struct {
	Tools     bool   // it tells the model of tools, and reads its calls
	RawCalls  bool   // it takes tools, and sends calls as Harmony in the text
	Reasoning bool   // it tells reasoning apart
	Schema    bool   // it follows one; else it ignores it without a word
	Window    int    // tokens; 0: 131072
	Silent    bool   // what is longer loses its oldest messages; else it is refused
	Reply     int    // tokens after which every reply ends; 0: none
	Model     string // the id that it lists; empty: as its kind has it
	NoModel   bool   // Ollama, and no model was pulled
}

const usualWindow = 131072

// Good is a server without flaws.
func Good() Start { return Start{Tools: true, Reasoning: true, Schema: true} }

// StartOf is what the command line of a kind of server means for it, in the words of that server.
// What a line does not say is as that server has it by itself.
func StartOf(d script.Dialect, line string) Start {
	s := Good()
	args := strings.Fields(line)
	has := func(flag string) bool { return slices.Contains(args, flag) }
	value := func(flag string) string {
		for i, a := range args {
			if v, ok := strings.CutPrefix(a, flag+"="); ok {
				return v
			}
			if a == flag && i+1 < len(args) {
				return args[i+1]
			}
		}
		return ""
	}
	number := func(flag string) int {
		n, _ := strconv.Atoi(value(flag)) // 0: it is not there
		return n
	}
	switch d.ID {
	case "vllm", "vllm-old":
		s.Tools = value("--tool-call-parser") == "openai" && has("--enable-auto-tool-choice")
		s.Window = number("--max-model-len")
		s.Reply = int(gjson.Get(strings.Trim(value("--override-generation-config"), "'"),
			"max_new_tokens").Int())
	case "llamacpp":
		s.Tools, s.Window, s.Reply = has("--jinja"), number("-c"), max(number("-n"), 0)
		s.Reasoning = value("--reasoning-format") != "none"
	case "sglang":
		s.RawCalls = value("--tool-call-parser") != "gpt-oss"
		s.Reasoning = value("--reasoning-parser") == "gpt-oss"
		s.Window = number("--context-length")
	case "ollama":
		s.Silent, s.Window = true, number("OLLAMA_CONTEXT_LENGTH")
		if s.Window == 0 {
			s.Window = 4096
		}
	case "lmstudio":
		s.Window = number("--context-length")
	}
	return s
}

// New is a server that was started so. It answers every question, and tells its window where
// its kind does.
func New(d script.Dialect, how Start) *script.Server {
	d.Pages = maps.Clone(d.Pages)
	for path, body := range d.Pages {
		if how.Window > 0 {
			body = strings.ReplaceAll(body, strconv.Itoa(usualWindow), strconv.Itoa(how.Window))
		}
		if how.Model != "" {
			body = strings.ReplaceAll(body, strconv.Quote(d.Model), strconv.Quote(how.Model))
		}
		d.Pages[path] = body
	}
	d.Model = cmp.Or(how.Model, d.Model)
	if how.NoModel {
		d.Pages["/v1/models"], d.Pages["/api/tags"], d.Pages["/api/ps"] = `{"object":"list","data":null}`,
			`{"models":[]}`, `{"models":[]}`
	}
	s := script.New(script.Scenario{Choose: func(q script.Request) *script.Reply {
		r := how.answer(d, q)
		return &r
	}})
	s.Dialect = d
	return s
}

// answer is what it says to a request.
func (how Start) answer(d script.Dialect, q script.Request) script.Reply {
	if how.NoModel {
		return script.Fail(http.StatusNotFound, fmt.Sprintf("model '%s' not found", q.Model))
	}
	if len(q.Tools) > 0 && !how.Tools {
		return script.Fail(http.StatusBadRequest, noTools(d))
	}
	window := how.Window
	if window == 0 {
		window = usualWindow
	}
	messages, prompt := q.Messages, tokens(q.Messages)
	if prompt > window && !how.Silent && d.ID == "llamacpp" {
		return OverflowLlamaCPP(window, prompt)
	}
	if prompt > window && !how.Silent {
		return OverflowVLLM(window, prompt)
	}
	for prompt > window && len(messages) > 1 {
		messages = messages[1:]
		prompt = tokens(messages)
	}
	r := script.Reply{Prompt: prompt}
	if how.Reasoning {
		r.Reasoning = "The user asks. I answer."
	}
	switch word := enumWord(q); {
	case len(q.Tools) > 0 && how.RawCalls:
		r.Content = "<|channel|>commentary to=functions." + q.Tools[0] +
			" <|constrain|>json<|message|>{}<|call|>"
	case len(q.Tools) > 0:
		r.Calls = script.Native(q.Tools[0], fitting(q)).Calls
	case word != "" && how.Schema:
		r.Content = fmt.Sprintf(`{"verdict":%q}`, word)
	case word != "":
		r.Content = "Hello!"
	default:
		r.Content = repeated(messages)
	}
	if how.Reply > 0 && len(r.Content) > 4*how.Reply {
		r.Content, r.Finish = r.Content[:4*how.Reply], "length"
	}
	return r
}

// fitting are arguments that the first tool takes: its required ones are texts.
func fitting(q script.Request) string {
	args := map[string]string{}
	for _, name := range gjson.GetBytes(q.Body, "tools.0.function.parameters.required").Array() {
		args[name.Str] = "x"
	}
	doc, _ := json.Marshal(args) // of texts
	return string(doc)
}

// noTools is how a kind of server says that tool calls are off.
func noTools(d script.Dialect) string {
	switch d.ID {
	case "vllm", "vllm-old":
		return `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`
	case "llamacpp":
		return "tools param requires --jinja flag"
	case "ollama":
		return "registry.ollama.ai/library/gpt-oss:20b does not support tools"
	}
	return "Function calling is not supported by this model."
}

// tokens counts words and signs that stand alone, as a tokenizer would about do.
func tokens(list []script.Message) (n int) {
	for _, m := range list {
		n += len(strings.Fields(m.Text)) + 4
	}
	return n
}

// enumWord is the only word that the schema of a request takes, wherever the server looks for it.
func enumWord(q script.Request) string {
	doc := gjson.ParseBytes(q.Body)
	for _, at := range []string{"response_format.json_schema.schema", "format", "guided_json",
		"structured_outputs.json"} {
		if word := doc.Get(at + ".properties.verdict.enum.0").Str; word != "" {
			return word
		}
	}
	return ""
}

// repeated counts if the last message asks for that, and else repeats the word that it was told.
func repeated(list []script.Message) string {
	last := list[len(list)-1].Text
	if strings.HasPrefix(last, "Count from 1 to 200") {
		var b strings.Builder
		for i := range 200 {
			fmt.Fprintf(&b, "%d ", i+1)
		}
		return b.String()
	}
	for _, m := range list {
		if _, after, ok := strings.Cut(m.Text, "Remember this word: "); ok {
			word, _, _ := strings.Cut(after, ".")
			return word
		}
	}
	return "I do not know."
}
