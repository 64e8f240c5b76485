package run

import (
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// subjectArguments are the arguments that best say what a call is about, best first.
var subjectArguments = []string{"command", "path", "url", "query", "pattern", "message", "text",
	"action", "id"}

const maxSubject = 120

// progress describes a call in a line: its tool and its subject.
func progress(c tools.Call) string {
	for _, name := range subjectArguments {
		if v := gjson.GetBytes(c.Arguments, name); v.Type == gjson.String && v.Str != "" {
			line, _, more := strings.Cut(logText(v.Str), "\n")
			line = strings.Map(printable, line)
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

// printable replaces characters that could move or reorder text on a terminal.
func printable(c rune) rune {
	if unicode.IsPrint(c) {
		return c
	}
	return ' '
}

// showProgress sends the caller a line as a thought, which no program takes for the answer.
func (r *Run) showProgress(line string) {
	if !r.sink.Flows() {
		return
	}
	r.sinkMu.Lock()
	defer r.sinkMu.Unlock()
	r.sink.Take(&turn.Piece{Parts: []turn.Part{{Events: []parse.Event{{Kind: parse.Thought,
		Text: "\n" + line + "\n"}}}}})
}
