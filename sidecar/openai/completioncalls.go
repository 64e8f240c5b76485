package openai

import (
	"bytes"
	"strings"
)

// Servers and gateways in front of them write calls in other forms, too: as function_call, as
// parts of the content (Anthropic's tool_use), with name and arguments beside each other, or
// with input in place of arguments.

// CallPart is one entry of tool_calls, whole or a piece of it. Arguments is JSON
// text, or a piece of it; a server that sends an object instead of a string is
// understood.
type CallPart struct {
	Span
	Index                      int
	Typed                      bool // its type is function
	ID, Name                   string
	Arguments                  []byte // they stay as they are
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

// call reads one entry; so many calls stand elsewhere in the message.
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

// function reads what names a tool and its arguments. Foreign says that these have another key.
func (p *completionParser) function(part *CallPart) (foreign bool) {
	part.Name, part.NameSpan, part.Arguments, part.ArgsSpan = "", Span{}, nil, Span{}
	for ok := p.Enter('{'); ok && p.Next('}'); {
		key, _ := p.Key()
		named := string(key) == "name" || string(key) == "arguments"
		foreign = p.member(part, key) && !named || foreign
	}
	return foreign
}

// member reads a name or arguments. It is false for any other key.
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

// parts reads a content that is a list: texts, thoughts and calls.
func (p *completionParser) parts(ch *Choice) {
	ch.Foreign = true
	ch.Content.Value.From = p.Pos
	var text, thought strings.Builder
	for ok := p.Enter('['); ok && p.Next(']'); {
		if p.Peek() == '"' {
			said, _ := p.word()
			text.WriteString(said)
			continue
		}
		part, kind := CallPart{Span: Span{From: p.Pos}, Index: len(ch.Calls)}, ""
		for ok := p.Enter('{'); ok && p.Next('}'); {
			switch key, _ := p.Key(); string(key) {
			case "type":
				kind, _ = p.word()
			case "text":
				said, _ := p.word()
				text.WriteString(said)
			case "thinking", "reasoning":
				said, _ := p.word()
				thought.WriteString(said)
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
