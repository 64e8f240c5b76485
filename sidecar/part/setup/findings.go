package setup

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// serverAnswer is the answer of a model server to a question.
type serverAnswer struct {
	doc      []byte // the whole answer, or nil
	why      string // why there is no answer
	noTools  bool   // it refuses tools
	overflow bool   // it says that the prompt is too long
	missing  bool   // it does not have the model
}

func (s serverAnswer) at(path string) gjson.Result { return gjson.GetBytes(s.doc, path) }

func (s serverAnswer) content() string { return s.at("choices.0.message.content").String() }

func (s serverAnswer) cut() bool { return s.at("choices.0.finish_reason").String() == "length" }

// server is what the questions found about a model server.
type server struct {
	dialect, version, model string
	profile                 string // reads the model
	window                  int    // in tokens; 0: unknown
}

func (v server) fine(name, format string, args ...any) Check {
	return Check{Name: name, Status: ok, Found: fmt.Sprintf(format, args...)}
}

func (v server) flawed(name string, status openclaw.Status, f flaw, format string, args ...any) Check {
	return Check{Name: name, Status: status, Found: fmt.Sprintf(format, args...),
		Fix: remedy(f, v.dialect, v.model)}
}

// doubt returns the check of a question without a usable answer.
func (v server) doubt(name string, s serverAnswer) Check {
	if s.missing {
		return v.flawed(name, fail, noModel, "the server does not have %s: %s", v.model, s.why)
	}
	return Check{Name: name, Status: warn, Found: "it could not be told: " + s.why,
		Fix: "look into the log of the model server, then run gpt-oss-executor doctor again"}
}

// raw reports whether a text has Harmony tokens.
func raw(text string) bool {
	return strings.Contains(text, "<|") || strings.Contains(text, "to=functions.") ||
		strings.HasPrefix(text, "analysis")
}

// tools checks whether calls work.
func (v server) tools(s serverAnswer) Check {
	const name = "tool_calls"
	calls := s.at("choices.0.message.tool_calls.#.function.name")
	switch {
	case s.noTools:
		return v.flawed(name, fail, toolsOff, "tool calling is off: %s", s.why)
	case s.doc == nil:
		return v.doubt(name, s)
	case len(calls.Array()) > 0:
		return v.fine(name, "tool calling is on: asked for a call, the server sent one of %s",
			calls.Array()[0])
	case raw(s.content()):
		return v.flawed(name, fail, toolsOff,
			"tool calling is off: the server takes tools, and sends the call as text: %s", short(s.content()))
	}
	c := v.flawed(name, warn, toolsOff,
		"asked for a call, the model made none, and said %s. Either it did not want to, or the server does not tell it of tools", short(s.content()))
	c.Fix = "run gpt-oss-executor doctor again, since a model does not always call; if it never does, " +
		c.Fix
	return c
}

// reasoning checks in which field reasoning comes, by an answer with a call, or without tools.
func (v server) reasoning(fields []string, answers ...serverAnswer) Check {
	const name = "reasoning"
	var last serverAnswer
	for _, s := range answers {
		if s.doc == nil {
			continue
		}
		last = s
		for _, field := range fields {
			if s.at("choices.0.message."+gjson.Escape(field)).String() != "" {
				return v.fine(name, "reasoning comes in the field %s", field)
			}
		}
	}
	if last.doc == nil {
		return v.doubt(name, answers[len(answers)-1])
	}
	if raw(last.content()) {
		return v.flawed(name, warn, noReasoning, "reasoning stands in the answer: %s", short(last.content()))
	}
	return v.flawed(name, warn, noReasoning, "no reasoning came, in none of the fields %s",
		strings.Join(fields, ", "))
}

// schema checks whether the server follows a schema. doubt means that the answer is missing; detail is what
// it said instead.
func (v server) schema(follows, doubt bool, detail string) Check {
	const name = "structured_output"
	switch {
	case follows:
		return v.fine(name, "a JSON Schema is followed")
	case doubt:
		return v.doubt(name, serverAnswer{why: detail})
	case strings.HasPrefix(detail, "it said"):
		return v.flawed(name, warn, noSchema, "a JSON Schema is silently ignored: %s", detail)
	}
	return v.flawed(name, warn, noSchema, "a JSON Schema is refused: %s", detail)
}

// style checks in which style the model is told of tools, in the first half of the sessions.
func (v server) style(set *ruleset.Set, m ruleset.Model, native, follows bool) Check {
	const name = "style"
	s, err := set.Style(m, ruleset.StyleEnv{Model: m.ID.Value, Server: v.dialect, Native: native})
	if s != nil && s.Schema && !follows {
		s = s.Otherwise
	}
	switch {
	case err != nil:
		return Check{Name: name, Status: warn, Found: err.Error(), Fix: "mend the conditions of choose in strategies.yaml"}
	case s == nil:
		return v.fine(name, "%s: the server tells the model of tools, and reads its calls", ruleset.Native)
	}
	return v.fine(name, "%s: the sidecar tells the model of tools in words, and reads its calls", s.ID)
}

// room checks whether the context window is large enough.
func (v server) room() Check {
	const name = "context_window"
	switch {
	case v.window == 0:
		return v.fine(name, "the server does not tell its context window; see truncation")
	case v.window < openclaw.LeastWindow:
		return v.flawed(name, fail, smallWindow,
			"the context window is %d tokens, and OpenClaw's own prompt needs %d, better %d", v.window,
			openclaw.LeastWindow, 2*openclaw.LeastWindow)
	case v.window < 2*openclaw.LeastWindow:
		return v.flawed(name, warn, smallWindow,
			"the context window is %d tokens; %d are enough for a short conversation only", v.window,
			v.window)
	}
	return v.fine(name, "the context window is %d tokens", v.window)
}

// longPrompt checks whether a long prompt is read as a whole. The word is in its first message.
func (v server) longPrompt(s serverAnswer, least int, word string) Check {
	const name = "truncation"
	counted := int(s.at("usage.prompt_tokens").Int())
	switch {
	case s.overflow && least < v.window:
		return v.flawed(name, fail, smallWindow,
			"a prompt of %d tokens is refused, and the server tells a window of %d: %s", least, v.window,
			s.why)
	case s.overflow:
		return v.flawed(name, fail, smallWindow,
			"a prompt of %d tokens, as OpenClaw sends them, is refused: %s", least, s.why)
	case s.doc == nil:
		return v.doubt(name, s)
	case counted > 0 && counted < least*4/5 && !strings.Contains(s.content(), word):
		return v.flawed(name, fail, smallWindow,
			"a prompt of %d tokens is silently truncated: the server read %d, and the model has lost the first message", least, counted)
	case counted == 0 && !strings.Contains(s.content(), word):
		return v.flawed(name, warn, smallWindow,
			"the server counts no tokens, and the model did not know the first message of a prompt of %d tokens; it may have been truncated", least)
	}
	return v.fine(name, "a prompt of %d tokens is read whole", least)
}

// length checks whether a reply may be as long as requested.
func (v server) length(s serverAnswer, asked int) Check {
	const name = "output_limit"
	made := int(s.at("usage.completion_tokens").Int())
	switch {
	case s.doc == nil:
		return v.doubt(name, s)
	case s.cut() && made < asked*9/10:
		return v.flawed(name, fail, cutReplies, "the server ends a reply after %d tokens, and it may have %d",
			made, asked)
	case s.cut():
		return v.fine(name, "a reply of %d tokens may be made", asked)
	}
	return v.fine(name, "a reply of %d tokens came whole; %d may be asked for", made, asked)
}

// short returns the beginning of a text, quoted and on one line.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 80 {
		text = string(r[:80]) + "…"
	}
	return fmt.Sprintf("%q", text)
}

// flaw is a mistake in the start of a model server, by its name in remedies.json.
type flaw string

const (
	toolsOff    flaw = "tools"
	noReasoning flaw = "reasoning"
	noSchema    flaw = "schema"
	smallWindow flaw = "window"
	cutReplies  flaw = "output"
	noModel     flaw = "model"
)

// remedies are the flags and commands that mend each flaw, by dialect; the empty one is for all others.
//
//go:embed remedies.json
var remedies []byte

// remedy returns the flag or command that mends a flaw of a server, by its dialect.
func remedy(f flaw, dialect, model string) string {
	var by map[flaw]map[string]string
	if err := json.Unmarshal(remedies, &by); err != nil {
		return err.Error()
	}
	size := "20b"
	if strings.Contains(strings.ToLower(model), "120b") {
		size = "120b"
	}
	fix := cmp.Or(by[f][dialect], by[f][strings.TrimSuffix(dialect, "_old")], by[f][""])
	return strings.ReplaceAll(fix, "{size}", size)
}

// startHint describes how to start each kind of server at an address.
func startHint(url string) string {
	return fmt.Sprintf("start the model server, or name where it is: --upstream, which is %s now. Usual are http://127.0.0.1:8000/v1 (vLLM), "+
		":11434/v1 (Ollama), :8080/v1 (llama.cpp), :30000/v1 (SGLang), :1234/v1 (LM Studio)", url)
}
