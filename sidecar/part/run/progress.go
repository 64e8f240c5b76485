package run

import (
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// subjects are the arguments that say best what a call is about.
var subjects = []string{"command", "path", "url", "query", "pattern", "message", "text", "action", "id"}

// maxSubject is how much of one is shown, in bytes.
const maxSubject = 120

// progress says in a line what a call does: its tool, and what it is about.
func progress(c tools.Call) string {
	for _, name := range subjects {
		if v := gjson.GetBytes(c.Arguments, name); v.Type == gjson.String && v.Str != "" {
			line, _, more := strings.Cut(masked(v.Str), "\n")
			line = strings.Map(plain, line)
			if len(line) > maxSubject {
				line, more = strings.ToValidUTF8(line[:maxSubject], ""), true
			}
			if more {
				line += " …"
			}
			return c.Name + ": " + line
		}
	}
	return c.Name
}

// plain is a character that moves nothing on the screen of who reads it, nor its order.
func plain(c rune) rune {
	if unicode.IsPrint(c) {
		return c
	}
	return ' '
}

// tell shows the caller how far the run is, as thoughts: no program takes them for the answer.
func (r *Run) tell(line string) {
	if !r.sink.Flows() {
		return
	}
	r.telling.Lock()
	defer r.telling.Unlock()
	r.sink.Take(&turn.Piece{Parts: []turn.Part{{Events: []parse.Event{{Kind: parse.Thought,
		Text: "\n" + line + "\n"}}}}})
}
