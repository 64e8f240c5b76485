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

// maxLastUser is how much of the last user message conditions see, in bytes.
const maxLastUser = 4 << 10

// RuntimeContext begins the user message that OpenClaw appends to every conversation. No user wrote it.
const RuntimeContext = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"

// Request is a chat completion request. Body holds the caller's bytes; all else is read from it or points
// into it.
type Request struct {
	Body        []byte
	Root        Span   // the object itself, for Insert and Remove
	Model       string // "" when absent
	Stream      bool
	UsageWanted bool         // stream_options.include_usage
	Messages    []Message    // never empty
	Tools       []tools.Tool // function tools only
	ToolsSpan   Span
	ToolChoice  string // "", none, auto, required, or the type of an object: function, allowed_tools, …
	ToolName    string // the function in a tool_choice object
	N           int    // at least 1
	LastUser    string // last message that the user wrote, at most 4 KiB
	Runtime     Runtime

	allowed *allowed // of a tool_choice of that type, else nil
	fields  []field
}

// allowed are the tools that a tool_choice allows.
type allowed struct {
	mode  string // auto or required
	names []string
}

// field is a top-level member.
type field struct {
	name     []byte
	key, val Span
}

// Message is an entry of messages. Spans of absent members are zero.
type Message struct {
	Span
	Role     string
	RoleSpan Span
	Content  Span // string, null or array of parts
	// Reasoning is the chain of thought of an assistant message with text: a string, or the list
	// reasoning_details.
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

// MessageCall is an entry of a message's tool_calls. Name is "" for other calls than of functions. ArgsSpan
// is usually a string.
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

// Narrowed returns the request with only those tools that its tool_choice allows. If one of these does not
// exist, the error is an *Error with status 400.
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

// Field returns the value of a top-level member; of duplicates the last.
func (q *Request) Field(name string) (Span, bool) {
	f, ok := q.field(name)
	return f.val, ok
}

// FieldKey returns the key of a top-level member with its quotes.
func (q *Request) FieldKey(name string) (Span, bool) {
	f, ok := q.field(name)
	return f.key, ok
}

// Set returns the edit that sets a top-level member to a JSON value.
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

// Text returns the text of a message: its content, or the text parts of it, a line each. limit is in bytes;
// the cut falls between characters.
func (q *Request) Text(m *Message, limit int) string {
	if m.Content.Present() && q.Body[m.Content.From] == '[' {
		return cutText(q.parts(m.Content, limit), limit)
	}
	return cutText(limitedText(q.Body, m.Content, limit), limit)
}

// Reasoning returns the chain of thought of a message; "": none.
func (q *Request) Reasoning(m *Message) string {
	if m.Reasoning.Present() && q.Body[m.Reasoning.From] == '[' {
		return detailsText(q.Body, m.Reasoning)
	}
	text, _ := Text(q.Body, m.Reasoning)
	return text
}

// Texts returns the strings of a message and their places: one, or that of each text part.
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

// limitedText decodes enough of a string for limit bytes: escapes have at most six bytes for one.
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

// Task identifies what the user asked for last; empty: nothing.
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

// lastUser returns the text of the last message that a user wrote.
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

// Stops reports whether the request names texts that end the reply.
func (q *Request) Stops() bool {
	at, ok := q.Field("stop")
	return ok && len(at.Of(q.Body)) > len("[]") && string(at.Of(q.Body)) != "null"
}

// Formatted reports whether the answer must be JSON.
func (q *Request) Formatted() bool {
	at, ok := q.Field("response_format")
	kind := gjson.GetBytes(at.Of(q.Body), "type").Str
	return ok && kind != "" && kind != "text"
}

// maxInstructed bounds the places that Instructed returns.
const maxInstructed = 8

// Instructed returns what follows a start at the beginning of a line in the caller's instructions, at most
// most bytes for each place, in order. all means that there are no further places. Instructions are the
// system and developer messages before the first message of the user; they hold no words of users and
// tools, but maybe files of the agent.
func (q *Request) Instructed(start string, most int) (out []string, all bool) {
	for i := range q.Messages {
		m := &q.Messages[i]
		if m.Role != "system" && m.Role != "developer" {
			break
		}
		if !m.Content.Present() {
			continue
		}
		if raw := m.Content.Of(q.Body); raw[0] == '"' {
			out = append(out, afterStartRaw(raw[1:len(raw)-1], start, most)...)
		} else {
			out = append(out, afterStart(q.parts(m.Content, len(raw)), start, most)...)
		}
	}
	return out[:min(len(out), maxInstructed)], len(out) <= maxInstructed
}

// afterStartRaw is afterStart for the inside of a JSON string. It decodes only what it returns, since
// OpenClaw's instructions have 50 KB.
func afterStartRaw(raw []byte, start string, most int) (out []string) {
	quoted := AppendString(nil, start)
	quoted = quoted[1 : len(quoted)-1]
	line := quoted[bytes.LastIndex(quoted, []byte(`\n`))+1:] // is looked for: headings begin alike, and often
	for from := 0; len(out) <= maxInstructed; {
		at := bytes.Index(raw[from:], line)
		if at < 0 {
			break
		}
		from += at + len(line)
		head, is := bytes.CutSuffix(raw[:from], quoted)
		if is && (len(head) == 0 || endsInNewline(head)) {
			rest := raw[from:]
			// no escape has more than six bytes for one
			text := jsontext.Unquote(rest[:min(len(rest), 6*most)])
			out = append(out, text[:min(len(text), most)])
		}
	}
	return out
}

// endsInNewline reports whether the inside of a JSON string ends in a line break.
func endsInNewline(raw []byte) bool {
	head, is := bytes.CutSuffix(raw, []byte("n"))
	slashes := len(head) - len(bytes.TrimRight(head, `\`))
	return is && slashes%2 == 1
}

// afterStart returns what follows each start at the beginning of a line, for one place more than
// maxInstructed.
func afterStart(text, start string, most int) (out []string) {
	for from := 0; len(out) <= maxInstructed; {
		at := strings.Index(text[from:], start)
		if at < 0 {
			break
		}
		at += from
		from = at + len(start)
		if at == 0 || text[at-1] == '\n' {
			rest := text[from:]
			out = append(out, rest[:min(len(rest), most)])
		}
	}
	return out
}

// Mentions reports whether a role other than the model and its tools wrote a tag such as <reasoning>, plain
// or with its first character escaped. It compares lower case only.
func (q *Request) Mentions(tag string) bool {
	name := []byte(tag[1:])
	for i := range q.Messages {
		m := &q.Messages[i]
		if m.Role == "assistant" || m.Role == "tool" || !m.Content.Present() {
			continue
		}
		for raw := m.Content.Of(q.Body); ; {
			at := bytes.Index(raw, name)
			if at < 0 {
				break
			}
			if front := raw[:at]; bytes.HasSuffix(front, []byte("<")) ||
				bytes.HasSuffix(bytes.ToLower(front[max(0, at-6):]), []byte(`\u003c`)) {
				return true
			}
			raw = raw[at+len(name):]
		}
	}
	return false
}

// Runtime is what OpenClaw says about a turn. Absent fields are empty.
type Runtime struct {
	Agent   string
	Session string // its key, for example agent:main:main
	Channel string // where the user writes: webchat, telegram …
}

// runtimeLine begins the last line of OpenClaw 2026.9.6: "Runtime: agent=main | session=agent:main:main |
// sessionId=… | channel=webchat | …".
const runtimeLine = "Runtime: agent="

// runtimeEnd follows that line where the gateway speaks the Responses API: there the line ends the
// instructions, elsewhere the first message of the user.
const runtimeEnd = "\n<!-- /openclaw:attempt:DYNAMIC -->"

// maxRuntime bounds the length of that line.
const maxRuntime = 4 << 10

// runtime reads what OpenClaw wrote at the end of its instructions or of the user's first message. Text
// before it, and other messages, are not trusted.
func (q *Request) runtime() (r Runtime) {
	line := q.runtimeLine()
	for field := range strings.SplitSeq(strings.TrimPrefix(line, "Runtime: "), " | ") {
		key, value, _ := strings.Cut(field, "=")
		switch key { // a clone, and not the whole message
		case "agent":
			r.Agent = cmp.Or(r.Agent, strings.Clone(value))
		case "session":
			r.Session = cmp.Or(r.Session, strings.Clone(value))
		case "channel":
			r.Channel = cmp.Or(r.Channel, strings.Clone(value))
		}
	}
	return r
}

// runtimeLine returns that line; "": none.
func (q *Request) runtimeLine() string {
	if m := &q.Messages[0]; m.Role == "system" || m.Role == "developer" {
		if line := q.lastLine(m, runtimeEnd); line != "" {
			return line
		}
	}
	for i := range q.Messages {
		if m := &q.Messages[i]; m.Role == "user" && m.Content.Present() {
			return q.lastLine(m, "")
		}
	}
	return ""
}

// lastLine returns the last line of a message before suffix, if it is a runtime line.
func (q *Request) lastLine(m *Message, suffix string) string {
	if !m.Content.Present() {
		return ""
	}
	raw := m.Content.Of(q.Body)
	text := ""
	switch {
	case raw[0] != '"':
		text = q.parts(m.Content, len(raw))
	default: // only its end is searched and decoded: the instructions of OpenClaw have 50 KB
		raw = raw[max(0, len(raw)-maxRuntime):]
		if at := bytes.Index(raw, []byte(`\n`+runtimeLine)); at >= 0 { // a search from the end is slow
			text = jsontext.Unquote(raw[at : len(raw)-1])
		}
	}
	text, ended := strings.CutSuffix(strings.TrimRight(text, "\n"), suffix)
	line := text[strings.LastIndexByte(text, '\n')+1:]
	if !ended || !strings.HasPrefix(line, runtimeLine) || len(line) > maxRuntime {
		return ""
	}
	return line
}
