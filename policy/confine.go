package policy

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Wrapper is how a command is run by a program that confines it: the words of that program,
// and a shell behind them.
//
//	/usr/bin/gpt-oss-executor confine --ticket FILE -- bash -c 'the command'
type Wrapper struct{ Program, Ticket string }

const (
	wrapConfine = " confine --ticket "
	wrapShell   = " -- bash -c "
)

// maxWrapped is the longest line that is wrapped. The kernel takes no longer words than
// 128 KiB.
const maxWrapped = 120 << 10

// errNoWrap is why a call does not run confined.
var errNoWrap = errors.New("it has no command that can be wrapped")

// shellTools are the tools whose command is a line for a shell of the gateway's machine.
var shellTools = []string{"exec", "bash"}

// Confinable reports whether a call is one line of shell that runs where the gateway
// runs, as its user. What else it says must not change what runs: another machine, more
// rights, variables that a shell takes code from.
func Confinable(c Call) bool {
	text, ok := c.Args[command].(string)
	if !ok || !slices.Contains(shellTools, c.Tool) || len(text) > maxWrapped ||
		strings.ContainsRune(text, 0) {
		return false
	}
	if _, mapping := c.Args["env"].(map[string]any); !mapping && c.Args["env"] != nil {
		return false
	}
	return len(c.lines) == 1 && len(circumstances(c)) == 0 && !slices.ContainsFunc(sets(c),
		takenFromUs)
}

// sets are the names of the variables that a call sets.
func sets(c Call) []string {
	return slices.Collect(maps.Keys(variablesOf(c.Args["env"])))
}

// takenFromUs reports whether a variable changes what the program does that confines, or
// what a shell runs before it.
func takenFromUs(name string) bool {
	name = strings.ToUpper(name)
	return slices.Contains([]string{"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "HOME", "PATH", "PS4"},
		name) ||
		slices.ContainsFunc([]string{"GPTOSS_", "GO", "LD_", "DYLD_", "BASH_FUNC_"},
			func(p string) bool { return strings.HasPrefix(name, p) })
}

// Wrapped gives the arguments with which the command runs inside of the wrapper: of a
// tool_call, those of the call that it carries. All other bytes stay as they are.
func Wrapped(tool string, arguments []byte, w Wrapper) ([]byte, error) {
	return rewritten(tool, arguments, func(text string) (string, bool) { return w.line(text), true })
}

// rewritten are arguments with another command in them.
func rewritten(tool string, arguments []byte, edit func(text string) (now string, ok bool)) ([]byte, error) {
	return inside(tool, arguments, func(_ string, object []byte) ([]byte, error) {
		at, raw := commandOf(object)
		if raw == nil {
			return nil, errNoWrap
		}
		text, _ := jsontext.Text(object, jsontext.Span{From: at.from, To: at.to})
		now, ok := edit(text)
		if !ok {
			return nil, errNoWrap
		}
		return splice(object, at, jsontext.AppendString(nil, now)), nil
	})
}

// line is a command inside of the wrapper.
func (w Wrapper) line(text string) string {
	return quote([]string{w.Program}) + wrapConfine + quote([]string{w.Ticket}) + wrapShell +
		quote([]string{text})
}

// Unwrapped takes back what Wrapped has done. Other arguments are as they were, and wrapped
// is false.
func Unwrapped(tool, arguments string) (was string, wrapped bool) {
	if !strings.Contains(arguments, wrapConfine) { // of most calls
		return arguments, false
	}
	plain, err := rewritten(tool, []byte(arguments), unwrap)
	if err != nil {
		return arguments, false
	}
	return string(plain), true
}

// unwrap is the command in a line that Wrapper.line has made.
func unwrap(line string) (text string, ok bool) {
	program, rest, ok := word(line)
	if !ok {
		return "", false
	}
	rest, confines := strings.CutPrefix(rest, wrapConfine)
	ticket, rest, ok := word(rest)
	rest, shell := strings.CutPrefix(rest, wrapShell)
	text, rest, whole := word(rest)
	w := Wrapper{program, ticket}
	if !ok || !confines || !shell || !whole || rest != "" || w.line(text) != line {
		return "", false
	}
	return text, true
}

// word takes a word from the front of a line, as quote writes it.
func word(line string) (word, rest string, ok bool) {
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
