package openai

import (
	"bytes"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Runtime is what OpenClaw says of a turn. Fields that it does not say are empty.
type Runtime struct {
	Agent   string
	Session string // its key, for example agent:main:main
	Channel string // where the user writes: webchat, telegram …
}

// runtimeLine begins the last line of the first user message, as OpenClaw 2026.9.6 ends
// it: "Runtime: agent=main | session=agent:main:main | sessionId=… | channel=webchat | …".
const runtimeLine = "Runtime: agent="

// maxRuntime is how long that line may be.
const maxRuntime = 4 << 10

// Runtime reads what OpenClaw wrote behind the first message of the user. What stands
// in front of it in that message, and in any other message, is not believed.
func (q *Request) Runtime() (r Runtime) {
	line := q.lastLine()
	if !strings.HasPrefix(line, runtimeLine) {
		return r
	}
	for field := range strings.SplitSeq(strings.TrimPrefix(line, "Runtime: "), " | ") {
		key, value, _ := strings.Cut(field, "=")
		for name, to := range map[string]*string{"agent": &r.Agent, "session": &r.Session, "channel": &r.Channel} {
			if key == name && *to == "" {
				*to = value
			}
		}
	}
	return r
}

// lastLine is the end of the first user message, from its last line break on.
func (q *Request) lastLine() string {
	for i := range q.Messages {
		m := &q.Messages[i]
		if m.Role != "user" || !m.Content.Present() {
			continue
		}
		raw := m.Content.Of(q.Body)
		if raw[0] != '"' {
			text := strings.TrimRight(q.parts(m.Content, maxRuntime), "\n")
			return text[strings.LastIndexByte(text, '\n')+1:]
		}
		raw = raw[1 : len(raw)-1]
		at := bytes.LastIndex(raw, []byte(`\n`+runtimeLine))
		if at < 0 || len(raw)-at > maxRuntime {
			return ""
		}
		line := strings.TrimRight(jsontext.Unquote(raw[at:]), "\n")[1:]
		if strings.ContainsRune(line, '\n') {
			return ""
		}
		return line
	}
	return ""
}
