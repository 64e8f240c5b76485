package openai

import (
	"bytes"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// maxInstructed is how many places of one start are given.
const maxInstructed = 8

// Instructed gives what the caller's own instructions say behind a start, which begins a line:
// at most some bytes for each place where it stands, in their order. All says that there
// are no more such places than are given. Its instructions are the system and developer
// messages in front of the first message of the user. What users and tools have said is in
// none of them; files of the agent may be.
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
			out = append(out, behindRaw(raw[1:len(raw)-1], start, most)...)
		} else {
			out = append(out, behind(q.parts(m.Content, len(raw)), start, most)...)
		}
	}
	return out[:min(len(out), maxInstructed)], len(out) <= maxInstructed
}

// behindRaw is behind for the inside of a JSON string, of which only what is asked for is
// decoded: the instructions of OpenClaw have 50 KB.
func behindRaw(raw []byte, start string, most int) (out []string) {
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
		if is && (len(head) == 0 || newline(head)) {
			rest := raw[from:]
			// no escape has more than six bytes for one
			text := jsontext.Unquote(rest[:min(len(rest), 6*most)])
			out = append(out, text[:min(len(text), most)])
		}
	}
	return out
}

// newline says whether the inside of a JSON string ends in a line break.
func newline(raw []byte) bool {
	head, is := bytes.CutSuffix(raw, []byte("n"))
	slashes := len(head) - len(bytes.TrimRight(head, `\`))
	return is && slashes%2 == 1
}

// behind is what stands behind each start that begins a line, for one place more than are
// given at most.
func behind(text, start string, most int) (out []string) {
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
