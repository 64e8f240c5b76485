package openai

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Runtime is what OpenClaw says of a turn. Fields that it does not say are empty.
type Runtime struct {
	Agent   string
	Session string // its key, for example agent:main:main
	Channel string // where the user writes: webchat, telegram …
}

// runtimeLine begins the line that OpenClaw 2026.9.6 writes last: "Runtime: agent=main |
// session=agent:main:main | sessionId=… | channel=webchat | …".
const runtimeLine = "Runtime: agent="

// runtimeEnd stands behind it where the gateway speaks the Responses API: the line ends the
// instructions there, and the first message of the user elsewhere.
const runtimeEnd = "\n<!-- /openclaw:attempt:DYNAMIC -->"

// maxRuntime is how long that line may be.
const maxRuntime = 4 << 10

// runtime reads what OpenClaw wrote at the very end of its instructions, or behind the first
// message of the user. What stands in front of it there, and in any other message, is not believed.
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

// runtimeLine is that line; "" where there is none.
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

// lastLine is the line of a message that ends it, but for the text behind it, if it is such a line.
func (q *Request) lastLine(m *Message, behind string) string {
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
	text, ended := strings.CutSuffix(strings.TrimRight(text, "\n"), behind)
	line := text[strings.LastIndexByte(text, '\n')+1:]
	if !ended || !strings.HasPrefix(line, runtimeLine) || len(line) > maxRuntime {
		return ""
	}
	return line
}
