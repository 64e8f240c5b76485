package policy

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Wrapper runs a command through a program that confines it:
//
//	/usr/bin/gpt-oss-executor confine --ticket FILE -- bash -c 'the command'
type Wrapper struct{ Program, Ticket string }

const (
	wrapConfine = " confine --ticket "
	wrapShell   = " -- bash -c "
)

// maxWrapped is the longest line that is wrapped; the kernel limits an argument to 128 KiB.
const maxWrapped = 120 << 10

var errNoWrap = errors.New("it has no command that can be wrapped")

// shellTools are the tools whose command is a line of shell on the gateway's machine.
var shellTools = []string{"exec", "bash"}

// Confinable reports whether a call is one line of shell that runs on the gateway's machine as its user, and
// sets no variable that a shell takes code from.
func Confinable(c Call) bool {
	text, ok := c.Args[commandArgument].(string)
	if !ok || !slices.Contains(shellTools, c.Tool) || len(text) > maxWrapped ||
		strings.ContainsRune(text, 0) {
		return false
	}
	if _, mapping := c.Args["env"].(map[string]any); !mapping && c.Args["env"] != nil {
		return false
	}
	return len(c.lines) == 1 && len(otherSettings(c)) == 0 && !slices.ContainsFunc(variableNames(c),
		affectsWrapper)
}

func variableNames(c Call) []string {
	return slices.Collect(maps.Keys(parseVariables(c.Args["env"])))
}

// affectsWrapper reports whether a variable changes what the confining program does, or what a shell runs
// first.
func affectsWrapper(name string) bool {
	name = strings.ToUpper(name)
	return slices.Contains([]string{"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "HOME", "PATH", "PS4"},
		name) ||
		slices.ContainsFunc([]string{"GPTOSS_", "GO", "LD_", "DYLD_", "BASH_FUNC_"},
			func(p string) bool { return strings.HasPrefix(name, p) })
}

// Wrapped returns arguments whose command runs inside the wrapper; in a tool_call it edits the call inside.
// It changes no other bytes.
func Wrapped(tool string, arguments []byte, w Wrapper) ([]byte, error) {
	return rewriteCommand(tool, arguments, func(text string) (string, bool) { return w.line(text), true })
}

// rewriteCommand replaces the command in the arguments.
func rewriteCommand(tool string, arguments []byte,
	edit func(text string) (now string, ok bool)) ([]byte, error) {
	return editArguments(tool, arguments, func(_ string, object []byte) ([]byte, error) {
		at, raw := commandOf(object)
		if raw == nil {
			return nil, errNoWrap
		}
		text, _ := jsontext.Text(object, at)
		now, ok := edit(text)
		if !ok {
			return nil, errNoWrap
		}
		return splice(object, at, jsontext.AppendString(nil, now)), nil
	})
}

// line returns the command inside the wrapper.
func (w Wrapper) line(text string) string {
	return quoteWords([]string{w.Program}) + wrapConfine + quoteWords([]string{w.Ticket}) + wrapShell +
		quoteWords([]string{text})
}

// Unwrapped undoes Wrapped. It returns other arguments unchanged and false.
func Unwrapped(tool, arguments string) (was string, wrapped bool) {
	if !strings.Contains(arguments, wrapConfine) { // of most calls
		return arguments, false
	}
	plain, err := rewriteCommand(tool, []byte(arguments), unwrap)
	if err != nil {
		return arguments, false
	}
	return string(plain), true
}

// unwrap returns the command in a line of Wrapper.line.
func unwrap(line string) (text string, ok bool) {
	program, rest, ok := cutQuoted(line)
	if !ok {
		return "", false
	}
	rest, confines := strings.CutPrefix(rest, wrapConfine)
	ticket, rest, ok := cutQuoted(rest)
	rest, shell := strings.CutPrefix(rest, wrapShell)
	text, rest, whole := cutQuoted(rest)
	w := Wrapper{program, ticket}
	if !ok || !confines || !shell || !whole || rest != "" || w.line(text) != line {
		return "", false
	}
	return text, true
}

// cutQuoted splits a word of quoteWords from the front of a line.
func cutQuoted(line string) (word, rest string, ok bool) {
	rest, ok = strings.CutPrefix(line, "'")
	for ok {
		part, behind, closed := strings.Cut(rest, "'")
		word += part
		if !closed {
			return "", "", false
		}
		if rest, ok = strings.CutPrefix(behind, `\''`); !ok {
			return word, behind, true
		}
		word += "'"
	}
	return "", "", false
}
