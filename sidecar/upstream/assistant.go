package upstream

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// reasoningNames are the members under which callers return a chain of thought.
var reasoningNames = []string{"reasoning", "reasoning_content", "thinking", "reasoning_text",
	"reasoning_details"}

// reasoning puts the chain of thought of an assistant message under the server's names. If the caller has
// dropped it and the message made calls, it comes from cot. live is false for messages up to the last final
// answer: Harmony leaves their chain of thought out.
// Source: https://github.com/openai/harmony, docs/format.md, "Handling reasoning output in subsequent
// sampling".
func (d *draft) reasoning(m *openai.Message, live bool, cot CallTexts) {
	sent, out := m.ReasoningKey.Present(), d.srv.ReasoningOut
	if len(out) == 0 || !live && !sent {
		return
	}
	if live {
		if sent && len(out) == 1 && out[0] == m.ReasoningIn {
			d.mask(m.Reasoning)
			return
		}
		value := d.thought(m, cot)
		if value == nil {
			return
		}
		for _, name := range out {
			d.edits = append(d.edits, openai.Insert(d.q.Body, m.Span, name, value))
		}
	}
	d.edits = append(d.edits, openai.Remove(d.q.Body, m.Span, func(key []byte) bool {
		return slices.Contains(reasoningNames, string(key))
	})...)
}

// thought returns the chain of thought of a message as a JSON string; nil: there is none.
func (d *draft) thought(m *openai.Message, cot CallTexts) []byte {
	if m.ReasoningKey.Present() {
		if raw := m.Reasoning.Of(d.q.Body); raw[0] == '"' {
			return mask(raw)
		}
		return openai.AppendString(nil, Masked(d.q.Reasoning(m)))
	}
	if cot == nil {
		return nil
	}
	for i := range m.Calls {
		if text, ok := cot.Get(openai.CleanCallID(m.Calls[i].ID)); ok && text != "" {
			return openai.AppendString(nil, Masked(text))
		}
	}
	return nil
}

// call repairs a damaged call of the history. Servers render it into the prompt: some refuse broken
// arguments, and the model repeats broken names and foreign arguments. The call also loses its wrapper and
// what made the gateway ask a person; asked is the reason for that.
func (d *draft) call(c *openai.MessageCall, names NameFixer) (asked string) {
	doc := d.q.Body
	d.name(c.NameSpan, c.Name, names)
	switch {
	case !c.ArgsSpan.Present():
		if c.NameSpan.Present() {
			d.insert(c.NameSpan.To, []byte(`,"arguments":"{}"`))
		}
	case doc[c.ArgsSpan.From] == '{': // an object where the API wants its text
		d.put(c.ArgsSpan, openai.AppendString(nil, string(c.ArgsSpan.Of(doc))))
	default:
		text, _ := openai.Text(doc, c.ArgsSpan)
		if !isObject(text) {
			d.put(c.ArgsSpan, openai.AppendString(nil, fixArguments(text)))
		} else if was, why := policy.WithoutAsk(c.Name, text); why != "" {
			d.put(c.ArgsSpan, openai.AppendString(nil, was))
			return why
		} else if was, wrapped := policy.Unwrapped(c.Name, text); wrapped {
			d.put(c.ArgsSpan, openai.AppendString(nil, was))
		}
	}
	return ""
}

// name repairs the name at a span, of a call or of its result.
func (d *draft) name(at openai.Span, raw string, names NameFixer) {
	if !at.Present() {
		return
	}
	if name := fixName(raw, names); name != raw {
		d.put(at, openai.AppendString(nil, name))
	}
}

// fixName keeps well-formed names, offered or not, since the history is what happened. A damaged name
// becomes that of the tool it means, or at least well-formed.
func fixName(raw string, names NameFixer) string {
	if raw != "" && strings.IndexFunc(raw, notInName) < 0 {
		return raw
	}
	if names != nil {
		if m, refusal := names.Name(raw); refusal == nil && m.Name != "" {
			return m.Name
		}
	}
	name, _, _ := strings.Cut(raw, "<|")
	name = strings.TrimPrefix(strings.TrimSpace(name), "functions.")
	name = strings.Map(func(r rune) rune {
		if notInName(r) {
			return '_'
		}
		return r
	}, name)
	if name = strings.Trim(name, "_"); name == "" {
		return "unknown"
	}
	return name
}

// notInName reports whether a function name may not hold a character.
// Source: https://platform.openai.com/docs/api-reference/chat/create
func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
}

// argumentsDepth bounds the nesting of repaired arguments.
const argumentsDepth = 128

func isObject(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") && gjson.Valid(text)
}

// fixArguments returns the first JSON object of a text. Other text becomes the member arguments, so that
// the model reads what it wrote.
func fixArguments(text string) string {
	if end, ok := jsonrepair.End(text); ok {
		text = text[:end]
	}
	mended, err := jsonrepair.Repair(text, argumentsDepth)
	if err != nil || !isObject(string(mended.JSON)) {
		if strings.TrimSpace(text) == "" || text == "null" {
			return "{}"
		}
		if !gjson.Valid(text) {
			text = string(openai.AppendString(nil, text))
		}
		return `{"arguments":` + text + `}`
	}
	return string(mended.JSON)
}
