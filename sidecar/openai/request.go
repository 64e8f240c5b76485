package openai

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// maxLastUser is how much of the last user message conditions get to see.
const maxLastUser = 4 << 10

// RuntimeContext begins the user message that OpenClaw puts behind every conversation,
// tool results included; no user wrote it.
const RuntimeContext = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"

// Request is a chat completion request. Body is what the caller sent, byte for
// byte; everything else is read from it or points into it.
type Request struct {
	Body        []byte
	Root        Span   // the object itself, for Insert and Remove
	Model       string // "" when absent
	Stream      bool
	UsageWanted bool         // stream_options.include_usage
	Messages    []Message    // never empty
	Tools       []tools.Tool // the function tools; others stay in Body only
	ToolsSpan   Span
	ToolChoice  string // "", none, auto, required, or the type of an object: function, allowed_tools, …
	ToolName    string // the function that a tool_choice object names
	N           int    // at least 1
	LastUser    string // text of the last message the user wrote, at most 4 KiB
	Runtime     Runtime

	allowed *allowed // of a tool_choice of that type; nil: of another one
	fields  []field
}

// allowed is what a tool_choice says of which tools may be called.
type allowed struct {
	mode  string // auto or required
	names []string
}

// field is a top-level member.
type field struct {
	name     []byte
	key, val Span
}

// Message is one entry of messages. Spans of absent fields are zero.
type Message struct {
	Span
	Role     string
	RoleSpan Span
	Content  Span // string, null or array of parts
	// the chain of thought of an assistant message, when it has text: a string, or the list reasoning_details
	Reasoning    Span
	ReasoningKey Span   // its key with quotes
	ReasoningIn  string // its name, such as reasoning_content
	CallsSpan    Span   // tool_calls, null too
	Calls        []MessageCall
	CallID       string // tool_call_id of a tool message
	CallIDSpan   Span
	Name         string
	NameSpan     Span
}

// MessageCall is one entry of an assistant message's tool_calls. Name is "" for
// a call that is none of a function. ArgsSpan is usually a string.
type MessageCall struct {
	Span
	ID, Name                   string
	IDSpan, NameSpan, ArgsSpan Span
}

// Forced reports whether a call must be made.
func (q *Request) Forced() bool { return q.ToolChoice == "required" || q.ToolName != "" }

// Single reports whether a choice may hold one call at most.
func (q *Request) Single() bool {
	at, ok := q.Field("parallel_tool_calls")
	return ok && string(at.Of(q.Body)) == "false"
}

// Narrowed is the request with those tools alone that its tool_choice lets be called. What it says of tools
// that are not there is an *Error with status 400.
func (q *Request) Narrowed() (*Request, error) {
	may := q.allowed
	if q.ToolName != "" {
		may = &allowed{names: []string{q.ToolName}}
	}
	if may == nil {
		if q.ToolChoice == "required" && !gjson.GetBytes(q.ToolsSpan.Of(q.Body), "0").Exists() {
			return nil, InvalidRequest("tool_choice",
				"tool_choice is required, and no tool is offered: send tools, or leave tool_choice out.")
		}
		return q, nil
	}
	for _, name := range may.names {
		if !slices.ContainsFunc(q.Tools, func(t tools.Tool) bool { return t.Name == name }) {
			var offered []string
			for _, t := range q.Tools {
				offered = append(offered, t.Name)
			}
			return nil, InvalidRequest("tool_choice",
				fmt.Sprintf("tool_choice names %q, and no tool that is offered has this name; there are: %s.",
					name, cmp.Or(strings.Join(offered, ", "), "none")))
		}
	}
	var kept [][]byte
	all := 0
	// ParseRequest has read the tools: there are no errors.
	_ = Elements(q.Body, q.ToolsSpan, func(tool Span) {
		raw := tool.Of(q.Body)
		if all++; slices.Contains(may.names, gjson.GetBytes(raw, "function.name").String()) {
			kept = append(kept, raw)
		}
	})
	var edits []Edit
	if len(kept) < all {
		edits = append(edits, Edit{Span: q.ToolsSpan, With: slices.Concat([]byte("["),
			bytes.Join(kept, []byte(",")), []byte("]"))})
	}
	if may.mode != "" {
		edits = append(edits, q.Set("tool_choice", AppendString(nil, may.mode)))
	}
	if len(edits) == 0 {
		return q, nil
	}
	return ParseRequest(Apply(q.Body, edits))
}

// Field is the value of a top-level member; of duplicates the last.
func (q *Request) Field(name string) (Span, bool) {
	f, ok := q.field(name)
	return f.val, ok
}

// FieldKey is the key of a top-level member with its quotes, for renaming it.
func (q *Request) FieldKey(name string) (Span, bool) {
	f, ok := q.field(name)
	return f.key, ok
}

// Set is the edit that gives a top-level member this JSON value, inserting it
// where the request has none.
func (q *Request) Set(name string, value []byte) Edit {
	was, _ := q.Field(name)
	return Set(q.Body, q.Root, was, name, value)
}

func (q *Request) field(name string) (f field, ok bool) {
	for _, f = range slices.Backward(q.fields) {
		if string(f.name) == name {
			return f, true
		}
	}
	return field{}, false
}

// Text is what a message says: its content, or the text parts of it, a line
// each. limit is in bytes; the cut falls between characters.
func (q *Request) Text(m *Message, limit int) string {
	if m.Content.Present() && q.Body[m.Content.From] == '[' {
		return cutText(q.parts(m.Content, limit), limit)
	}
	return cutText(limitedText(q.Body, m.Content, limit), limit)
}

// Reasoning is the chain of thought of a message; "" without one.
func (q *Request) Reasoning(m *Message) string {
	if m.Reasoning.Present() && q.Body[m.Reasoning.From] == '[' {
		return detailsText(q.Body, m.Reasoning)
	}
	text, _ := Text(q.Body, m.Reasoning)
	return text
}

// Texts are the strings that a message says, and where they stand: one, or one for each part
// that is text.
func (q *Request) Texts(m *Message) (spans []Span, texts []string) {
	take := func(val Span) {
		if text, ok := Text(q.Body, val); ok {
			spans, texts = append(spans, val), append(texts, text)
		}
	}
	switch {
	case !m.Content.Present():
		return nil, nil
	case q.Body[m.Content.From] == '"':
		take(m.Content)
		return spans, texts
	}
	// ParseRequest has read the content: there are no errors.
	_ = Elements(q.Body, m.Content, func(part Span) {
		if q.Body[part.From] == '"' {
			take(part)
		}
		_ = Members(q.Body, part, func(key []byte, _, val Span) {
			if string(key) == "text" {
				take(val)
			}
		})
	})
	return spans, texts
}

// parts joins the text parts of an array of content parts.
func (q *Request) parts(at Span, limit int) string {
	var out strings.Builder
	s := scan(q.Body, at)
	for ok := s.Enter('['); ok && out.Len() <= limit && s.Next(']'); {
		for ok := s.Enter('{'); ok && s.Next('}'); {
			if key, _ := s.Key(); string(key) == "text" {
				if out.Len() > 0 {
					out.WriteByte('\n')
				}
				out.WriteString(limitedText(q.Body, s.Skip(), limit))
			}
		}
	}
	return out.String()
}

// limitedText decodes enough of a string for limit bytes: no escape has more
// than six bytes for one.
func limitedText(doc []byte, at Span, limit int) string {
	if at.To-at.From > 6*limit+2 && doc[at.From] == '"' {
		return jsontext.Unquote(doc[at.From+1 : at.From+1+6*limit])
	}
	text, _ := Text(doc, at)
	return text
}

func cutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// Task tells what a user has asked for last from what was asked before; empty: nothing was.
func (q *Request) Task() string {
	if q.LastUser == "" {
		return ""
	}
	n := 0
	for i := range q.Messages {
		if q.Messages[i].Role == "user" {
			n++
		}
	}
	sum := sha256.Sum256([]byte(q.LastUser))
	return strconv.Itoa(n) + " " + hex.EncodeToString(sum[:])
}

// lastUser finds the text of the last message that a user wrote.
func (q *Request) lastUser() string {
	for i := range slices.Backward(q.Messages) {
		m := &q.Messages[i]
		if m.Role != "user" {
			continue
		}
		text := q.Text(m, maxLastUser)
		if text != "" && !strings.HasPrefix(text, RuntimeContext) {
			return text
		}
	}
	return ""
}

// Stops says that the request names texts that end the reply.
func (q *Request) Stops() bool {
	at, ok := q.Field("stop")
	return ok && len(at.Of(q.Body)) > len("[]") && string(at.Of(q.Body)) != "null"
}

// Formatted says that the request asks for JSON as the answer.
func (q *Request) Formatted() bool {
	at, ok := q.Field("response_format")
	kind := gjson.GetBytes(at.Of(q.Body), "type").Str
	return ok && kind != "" && kind != "text"
}
