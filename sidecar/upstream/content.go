package upstream

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/tools"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// content masks the control tokens in a message's content, joins its parts where the server would split
// them, replaces what the model cannot read by a sentence, and adds head and tail. A message without
// content and calls gets an empty content.
func (d *draft) content(m *openai.Message, head, tail string) {
	doc := d.q.Body
	kind := byte('n')
	if m.Content.Present() {
		kind = doc[m.Content.From]
	}
	switch kind {
	case '"':
		if head != "" {
			d.insert(m.Content.From+1, unquoted(head))
		}
		d.mask(m.Content)
		if tail != "" {
			d.insert(m.Content.To-1, unquoted(tail))
		}
	case '[':
		d.parts(m.Content, head, tail)
	case 'n':
		if head+tail == "" && m.CallsSpan.Present() {
			return
		}
		value := openai.AppendString(nil, Masked(head+tail))
		d.edits = append(d.edits, openai.Set(doc, m.Span, m.Content, "content", value))
	}
}

// unquoted returns text as the inside of a JSON string.
func unquoted(text string) []byte {
	quoted := openai.AppendString(nil, Masked(text))
	return quoted[1 : len(quoted)-1]
}

// mask masks the control tokens of the JSON string at a span.
func (d *draft) mask(at openai.Span) {
	text := at.Of(d.q.Body)
	if !mayHold(text) {
		return
	}
	for _, found := range controlToken.FindAllSubmatchIndex(text, -1) {
		d.insert(at.From+found[3], []byte(zeroWidthSpace)) // behind its "<"
	}
}

func (d *draft) parts(at openai.Span, head, tail string) {
	doc := d.q.Body
	if d.srv.FlattenParts {
		if text, ok := d.text(at); ok {
			d.put(at, openai.AppendString(nil, Masked(head+text+tail)))
			return
		}
	}
	count := 0
	_ = openai.Elements(doc, at, func(part openai.Span) {
		count++
		if doc[part.From] == '"' {
			d.mask(part)
		}
		_ = openai.Members(doc, part, func(key []byte, _, val openai.Span) {
			if string(key) == "text" && doc[val.From] == '"' {
				d.mask(val)
			}
		})
	})
	d.replaceUnreadable(at)
	if head != "" {
		part := textPart(head)
		if count > 0 {
			part = append(part, ',')
		}
		d.insert(at.From+1, part)
	}
	if tail != "" {
		part := textPart(tail)
		if count > 0 || head != "" {
			part = append([]byte(","), part...)
		}
		d.insert(at.To-1, part)
	}
}

func textPart(text string) []byte {
	return append(append([]byte(`{"type":"text","text":"`), unquoted(text)...), `"}`...)
}

// replaceUnreadable puts a sentence in place of each part that the model cannot read.
func (d *draft) replaceUnreadable(at openai.Span) {
	if d.images {
		return
	}
	doc := d.q.Body
	_ = openai.Elements(doc, at, func(part openai.Span) {
		if text, isText := partText(gjson.ParseBytes(part.Of(doc))); !isText {
			d.put(part, textPart(text))
		}
	})
}

// text returns the text of a content; false: it holds other things that the model can read.
func (d *draft) text(at openai.Span) (string, bool) {
	text, all := contentText(d.q.Body, at)
	return text, all || !d.images && d.q.Body[at.From] == '['
}

// partText returns the text of a part, or a sentence in place of one that is no text.
func partText(part gjson.Result) (text string, isText bool) {
	if part.Type == gjson.String {
		return part.Str, true
	}
	if text := part.Get("text"); text.Type == gjson.String {
		return text.Str, true
	}
	switch kind := part.Get("type").Str; {
	case strings.Contains(kind, "image"):
		return "[An image stands here. You cannot see it.]", false
	case strings.Contains(kind, "audio"):
		return "[Sound stands here. You cannot hear it.]", false
	case kind == "refusal":
		return part.Get("refusal").String(), false
	}
	return "[Something stands here that is no text. You cannot read it.]", false
}

const zeroWidthSpace = "\u200b"

// controlToken matches a control token, plain or escaped in a JSON string: its "<" and the rest.
var controlToken = regexp.MustCompile(`(<|\\u003[cC])((?:\||\\u007[cC])(?:start|end|message|channel|constrain|return|call)(?:\||\\u007[cC])(?:>|\\u003[eE]))`)

// mayHold reports quickly whether text can hold a control token.
func mayHold(text []byte) bool {
	return bytes.Contains(text, []byte("<|")) || bytes.Contains(text, []byte(`\u00`))
}

// mask breaks Harmony's control tokens by a zero-width space after "<". Some servers tokenise a rendered
// prompt as a whole: a token in a tool result or a user's text would end the message and could begin
// another, with any role. It works on decoded text and inside JSON strings.
// Source: https://github.com/openai/harmony, docs/format.md, "Special Tokens".
func mask(text []byte) []byte {
	if !mayHold(text) {
		return text
	}
	return controlToken.ReplaceAll(text, []byte("${1}"+zeroWidthSpace+"${2}"))
}

// Masked is mask for strings.
func Masked(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	return string(mask([]byte(text)))
}

// trim shortens the result of a tool and adds head and tail. It reports false, without edits, if nothing is
// too long.
func (d *draft) trim(m *openai.Message, tool string, bounds func(string, int) tools.TrimBounds,
	head, tail string) bool {
	doc := d.q.Body
	size := m.Content.To - m.Content.From
	if b := bounds(tool, size); b.Chars == 0 || size <= b.Chars && b.HeadLines+b.TailLines == 0 {
		return false // most results; no text has more characters than bytes
	}
	spans, texts := d.q.Texts(m)
	chars := 0
	for _, t := range texts {
		chars += utf8.RuneCountInString(t)
	}
	short, cut := tools.TrimBlocks(texts, bounds(tool, chars))
	if !cut {
		return false
	}
	list := doc[m.Content.From] == '['
	if list && d.srv.FlattenParts {
		if _, ok := d.text(m.Content); ok {
			for _, p := range gjson.ParseBytes(m.Content.Of(doc)).Array() {
				if text, isText := partText(p); !isText {
					short = append(short, text)
				}
			}
			d.put(m.Content, openai.AppendString(nil, Masked(head+strings.Join(short, "\n")+tail)))
			return true
		}
	}
	if list {
		d.replaceUnreadable(m.Content)
	}
	short[0] = head + short[0]
	for i, at := range spans {
		if i == len(spans)-1 {
			short[i] += tail
		}
		d.put(at, openai.AppendString(nil, Masked(short[i])))
	}
	return true
}

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
