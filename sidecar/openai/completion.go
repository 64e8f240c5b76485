package openai

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Completion is a whole chat.completion, or one chat.completion.chunk of a stream.
type Completion struct {
	Doc                []byte
	Root               Span
	ID, Model, Created Span
	Choices            []Choice // in order; reused by the next Parse
	Usage              Span     // the usage object
	Timings            Span     // llama.cpp's timings object
	Err                Span     // error unless it is null, false or "", or a whole flat {"object":"error",…}

	texts jsontext.Block
}

// Choice is an entry of choices. Body is its message or delta, if that is an object.
type Choice struct {
	Span
	Body       Span
	Streamed   bool // Body is a delta
	Index      int
	Role       string
	Content    Part
	Reasoning  Part // the first with text of reasoning_content, reasoning, reasoning_details and thinking
	CallsSpan  Span // tool_calls, null too
	LegacySpan Span // function_call with a call
	Foreign    bool // content in parts or as a refusal, or a call in a form that callers do not read
	Calls      []CallPart
	Finish     string
	FinishSpan Span // finish_reason, null too

	sources [len(reasoningKeys)]Part // by reasoningKeys, without Text
}

// reasoningKeys are the members with the chain of thought; OpenClaw sends the first one back. The package
// sidecar/ruleset knows which server takes which.
var reasoningKeys = [...]string{"reasoning_content", "reasoning", "thinking", "reasoning_details"}

const details = len(reasoningKeys) - 1 // an array of objects with a text each

// Part is a text member of a message or delta. Text is "" for anything but text. Present means that the
// member exists, Skipped that its text was not decoded.
type Part struct {
	Key, Value Span
	Text       string
	Present    bool
	Skipped    bool
}

// completionParser fills a Completion while it scans.
type completionParser struct {
	scanner
	c     *Completion
	plain func(raw []byte) bool
}

// Parse reads doc, which must not change while c is in use. It reuses the memory of c and skips unknown
// members and values of wrong types. The error is a *SyntaxError.
func (c *Completion) Parse(doc []byte) error { return c.ParseSkipping(doc, nil) }

// ParseSkipping is Parse without decoding reasoning whose raw JSON string, with quotes, is plain: a third
// of the work for a long reply.
func (c *Completion) ParseSkipping(doc []byte, plain func(raw []byte) bool) error {
	*c = Completion{Doc: doc, Choices: c.Choices[:0], texts: c.texts}
	p := completionParser{scanner: scanner{Scanner: jsontext.Scanner{Doc: doc}}, c: c, plain: plain}
	p.completion()
	return p.End()
}

func (p *completionParser) completion() {
	c := p.c
	flat := false
	p.Peek()
	c.Root.From = p.Pos
	for ok := p.Enter('{'); ok && p.Next('}'); {
		switch key, _ := p.Key(); string(key) {
		case "id":
			c.ID = p.Skip()
		case "model":
			c.Model = p.Skip()
		case "created":
			c.Created = p.Skip()
		case "object":
			var object string
			object, _ = p.word()
			flat = object == "error"
		case "choices":
			c.Choices = c.Choices[:0]
			for ok := p.Enter('['); ok && p.Next(']'); {
				p.choice()
			}
		case "usage":
			c.Usage = p.object()
		case "timings":
			c.Timings = p.object()
		case "error":
			p.Peek()
			from := p.Pos
			if _, isScalar := p.scalar(); isScalar {
				c.Err = Span{From: from, To: p.Pos}
			}
		}
	}
	c.Root.To = p.Pos
	if flat && !c.Err.Present() {
		c.Err = c.Root
	}
}

// object returns the span of an object, zero for other values.
func (p *completionParser) object() Span {
	if p.Peek() != '{' {
		return Span{}
	}
	return p.Skip()
}

// choice reads one entry of choices into the next free Choice.
func (p *completionParser) choice() {
	if p.Peek() != '{' {
		p.Skip()
		return
	}
	c, n := p.c, len(p.c.Choices)
	if n == cap(c.Choices) {
		c.Choices = append(c.Choices, Choice{})
	}
	c.Choices = c.Choices[:n+1]
	ch := &c.Choices[n]
	*ch = Choice{Span: Span{From: p.Pos}, Index: n, Calls: ch.Calls[:0]}
	for ok := p.Enter('{'); ok && p.Next('}'); {
		switch key, _ := p.Key(); string(key) {
		case "index":
			ch.Index = p.int(n)
		case "delta":
			p.body(ch)
			ch.Streamed = true
		case "message":
			p.body(ch)
			ch.Streamed = false
		case "finish_reason":
			ch.Finish, ch.FinishSpan = p.word()
		}
	}
	ch.To = p.Pos
}

// body reads a message or a delta.
func (p *completionParser) body(ch *Choice) {
	if ch.Body.Present() {
		*ch = Choice{Span: ch.Span, Index: ch.Index, Calls: ch.Calls[:0], Finish: ch.Finish,
			FinishSpan: ch.FinishSpan}
	}
	if p.Peek() != '{' {
		return
	}
	ch.Body.From = p.Pos
	refusal := ""
	for ok := p.Enter('{'); ok && p.Next('}'); {
		key, at := p.Key()
		switch string(key) {
		case "role":
			ch.Role, _ = p.word()
		case "content":
			ch.Content = Part{Key: at, Present: true}
			if p.Peek() == '[' {
				p.parts(ch)
			} else {
				ch.Content.Value = p.Skip()
				ch.Content.Text = p.textOf(ch.Content.Value)
			}
		case "refusal": // clients show it to a user as text only
			refusal, _ = p.word()
		case "tool_calls":
			p.calls(ch)
		case "function_call":
			p.legacy(ch)
		default:
			if source := slices.Index(reasoningKeys[:], string(key)); source >= 0 {
				p.reasoning(ch, source, at)
			}
		}
	}
	ch.Body.To = p.Pos
	if refusal != "" && ch.Content.Text == "" {
		ch.Content.Text, ch.Foreign = refusal, true
	}
}

// textOf returns the text of a value that was read; "": it is no string.
func (p *completionParser) textOf(at Span) string {
	if p.Err != nil || p.Doc[at.From] != '"' {
		return ""
	}
	return p.c.texts.Text(p.Doc[at.From+1 : at.To-1])
}

func (p *completionParser) reasoning(ch *Choice, source int, key Span) {
	part := Part{Key: key, Value: p.Skip(), Present: p.Err == nil}
	ch.sources[source] = part
	if !part.Present || ch.Reasoning.Text != "" || ch.Reasoning.Skipped {
		return
	}
	if p.plain != nil && source != details && hasText(p.Doc, part.Value) && p.plain(part.Value.Of(p.Doc)) {
		part.Skipped = true
		ch.Reasoning = part
		return
	}
	if source == details {
		part.Text = detailsText(p.Doc, part.Value)
	} else {
		part.Text = p.textOf(part.Value)
	}
	if part.Text != "" || !ch.Reasoning.Present {
		ch.Reasoning = part
	}
}

// detailsText joins the texts of reasoning_details.
func detailsText(doc []byte, at Span) string {
	var out strings.Builder
	s := scan(doc, at)
	for ok := s.Enter('['); ok && s.Next(']'); {
		for ok := s.Enter('{'); ok && s.Next('}'); {
			if key, _ := s.Key(); string(key) == "text" {
				text, _ := Text(doc, s.Skip())
				out.WriteString(text)
			}
		}
	}
	return out.String()
}

// CallPart is an entry of tool_calls, or a piece of one. Arguments is JSON text or a piece of it, also
// where a server sends an object instead of a string.
//
// Servers and gateways also write calls as function_call, as parts of the content (Anthropic's tool_use),
// with name and arguments side by side, or with input in place of arguments.
type CallPart struct {
	Span
	Index                      int
	Typed                      bool // its type is function
	ID, Name                   string
	Arguments                  []byte // unchanged
	IDSpan, NameSpan, ArgsSpan Span
}

func (p *completionParser) calls(ch *Choice) {
	p.Peek()
	ch.CallsSpan.From = p.Pos
	elsewhere := len(ch.Calls)
	for ok := p.Enter('['); ok && p.Next(']'); {
		p.call(ch, elsewhere)
	}
	if len(ch.Calls) > elsewhere {
		ch.Calls = ch.Calls[:copy(ch.Calls, ch.Calls[elsewhere:])]
	}
	ch.CallsSpan.To = p.Pos
}

// call reads an entry. elsewhere counts the calls found in other members.
func (p *completionParser) call(ch *Choice, elsewhere int) {
	if p.Peek() != '{' {
		p.Skip()
		return
	}
	part, flat := CallPart{Span: Span{From: p.Pos}, Index: len(ch.Calls) - elsewhere}, false
	for ok := p.Enter('{'); ok && p.Next('}'); {
		switch key, _ := p.Key(); string(key) {
		case "index":
			part.Index = p.int(part.Index)
		case "id":
			part.ID, part.IDSpan = p.word()
		case "type":
			kind, _ := p.word()
			part.Typed = kind == "function"
		case "function":
			ch.Foreign = p.function(&part) || ch.Foreign
		default:
			flat = p.member(&part, key) || flat
		}
	}
	part.To = p.Pos
	ch.Calls, ch.Foreign = append(ch.Calls, part), ch.Foreign || flat
}

// function reads a name and arguments. foreign means that these have another key.
func (p *completionParser) function(part *CallPart) (foreign bool) {
	part.Name, part.NameSpan, part.Arguments, part.ArgsSpan = "", Span{}, nil, Span{}
	for ok := p.Enter('{'); ok && p.Next('}'); {
		key, _ := p.Key()
		named := string(key) == "name" || string(key) == "arguments"
		foreign = p.member(part, key) && !named || foreign
	}
	return foreign
}

// member reads a name or arguments; false: the key is another.
func (p *completionParser) member(part *CallPart, key []byte) bool {
	switch string(key) {
	case "name":
		part.Name, part.NameSpan = p.word()
		return true
	case "arguments":
	case "input", "parameters":
		if part.ArgsSpan.Present() {
			return false
		}
	default:
		return false
	}
	first := p.Peek()
	part.ArgsSpan, part.Arguments = p.Skip(), nil
	switch raw := part.ArgsSpan.Of(p.Doc); {
	case p.Err != nil:
	case first == '"':
		part.Arguments = p.c.texts.Bytes(raw[1 : len(raw)-1])
	case first == '{':
		part.Arguments = bytes.Clone(raw)
	}
	return true
}

// legacy reads function_call, which holds one call.
func (p *completionParser) legacy(ch *Choice) {
	if p.Peek() != '{' || len(ch.Calls) > 0 {
		p.Skip()
		return
	}
	part := CallPart{Span: Span{From: p.Pos}}
	p.function(&part)
	part.To = p.Pos
	if part.NameSpan.Present() || part.ArgsSpan.Present() {
		ch.Calls, ch.LegacySpan, ch.Foreign = append(ch.Calls, part), part.Span, true
	}
}

// parts reads a content that is an array of texts, thoughts and calls.
func (p *completionParser) parts(ch *Choice) {
	ch.Foreign = true
	ch.Content.Value.From = p.Pos
	var text, thought strings.Builder
	for ok := p.Enter('['); ok && p.Next(']'); {
		if p.Peek() == '"' {
			word, _ := p.word()
			text.WriteString(word)
			continue
		}
		part, kind := CallPart{Span: Span{From: p.Pos}, Index: len(ch.Calls)}, ""
		for ok := p.Enter('{'); ok && p.Next('}'); {
			switch key, _ := p.Key(); string(key) {
			case "type":
				kind, _ = p.word()
			case "text":
				word, _ := p.word()
				text.WriteString(word)
			case "thinking", "reasoning":
				word, _ := p.word()
				thought.WriteString(word)
			case "id":
				part.ID, part.IDSpan = p.word()
			default:
				p.member(&part, key)
			}
		}
		part.To = p.Pos
		if kind == "tool_use" || kind == "tool_call" || kind == "function_call" {
			ch.Calls = append(ch.Calls, part)
		}
	}
	ch.Content.Value.To = p.Pos
	ch.Content.Text = text.String()
	if thought.Len() > 0 && ch.Reasoning.Text == "" {
		ch.Reasoning = Part{Key: ch.Content.Key, Value: ch.Content.Value, Text: thought.String(),
			Present: true}
	}
}

// ContentFilter is the finish_reason of a reply that a filter of the server cut off.
const ContentFilter = "content_filter"

// Unfinished stands for the missing finish_reason of a reply that ended in good order.
const Unfinished = "unfinished"

// Finishing reads a finish_reason. It returns a word that callers know, and the server's word if something
// other than the token limit cut the reply. Unknown words count as a cut, since servers have one for each
// way to stop early; callers get length for them: OpenClaw then keeps the text and says that it is
// incomplete, while it fails a turn on an unknown word.
func Finishing(reason string) (finish, cut string) {
	if CallsFinish(reason) {
		return "stop", ""
	}
	switch strings.ToLower(reason) {
	case "", "stop", "end", "end_turn", "eos", "eos_token", "stop_sequence":
		return "stop", ""
	case "length", "max_tokens":
		return "length", ""
	case ContentFilter:
		return ContentFilter, ContentFilter
	}
	return "length", shortWord(reason)
}

// CallsFinish reports whether a finish_reason announces calls.
func CallsFinish(reason string) bool {
	return slices.Contains([]string{"tool_calls", "tool_call", "toolcalls", "tool_use", "function_call"},
		strings.ToLower(reason))
}

// shortWord returns a finish_reason that is fit to be shown, or a phrase in its place.
func shortWord(reason string) string {
	odd := func(c rune) bool {
		return c != ' ' && c != '_' && c != '-' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' ||
			c|0x20 > 'z')
	}
	if len(reason) <= 64 && strings.IndexFunc(reason, odd) < 0 {
		return reason
	}
	return "for an unknown reason"
}

// UsageFromTimings returns the usage object for llama.cpp's timings: cache_n and prompt_n tokens went in,
// predicted_n came out. It is nil without the latter.
func UsageFromTimings(doc []byte, timings Span) []byte {
	var cached, fresh, out int
	known := false
	s := scan(doc, timings)
	for ok := s.Enter('{'); ok && s.Next('}'); {
		switch key, _ := s.Key(); string(key) {
		case "cache_n":
			cached = s.int(0)
		case "prompt_n":
			fresh = s.int(0)
		case "predicted_n":
			out, known = s.int(0), true
		}
	}
	if !known || s.Err != nil {
		return nil
	}
	prompt := fresh + cached
	return fmt.Appendf(nil, `{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,`+
		`"prompt_tokens_details":{"cached_tokens":%d},"completion_tokens_details":{"reasoning_tokens":0}}`,
		prompt, out, prompt+out, cached)
}
