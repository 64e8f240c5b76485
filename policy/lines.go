package policy

import (
	"fmt"
	"slices"
	"strings"
)

// commandKeys are the arguments that hold shell lines, of any tool, in the order in which
// conditions see them.
var commandKeys = []string{command, "cmd", "script", "shell_command", "code"}

// programKeys are names of programs if arguments for them stand beside them.
var programKeys = []string{"program", "executable", "binary", "bin"}

// typedKeys are the arguments of OpenClaw's process, which types into a program that
// runs: that may be a shell. Those of hex are bytes, which count as code.
var typedKeys = []string{"data", "literal", "text", "keys", "hex"}

// line is one of the commands in the arguments of a call.
type line struct {
	text  string         // as conditions see it
	words []string       // of a list of words
	code  string         // the name of an argument that may hold code of any language
	in    map[string]any // the arguments beside it
	top   bool           // it stands in no other argument
}

// lines are those of the call itself, then those inside of other arguments: texts, or lists of words.
func lines(tool string, args map[string]any, all []argument) (out []line) {
	keys := commandKeys
	if tool == "process" {
		keys = append(keys[:len(keys):len(keys)], typedKeys...)
	}
	for _, key := range keys {
		out = append(out, linesOf(argument{name: key, path: key, kind: meaning(key), value: args[key],
			in: args})...)
	}
	for _, a := range all {
		if text, is := a.value.(string); is && slices.Contains(programKeys, a.name) {
			if more := wordsBeside(a.in); len(more) > 0 {
				words := append([]string{text}, more...)
				out = append(out, line{text: strings.Join(words, " "), words: words, in: a.in, top: a.top()})
			}
		}
		if words := wordsBeside(map[string]any{a.name: a.value}); a.name == "argv" && len(words) > 0 &&
			!commanded(a.in) {
			out = append(out, line{text: quote(words), in: a.in, top: a.top()})
		}
		if k := a.kind; (k == shellText || k == codeText) &&
			!(a.top() && slices.Contains(commandKeys, a.name)) {
			out = append(out, linesOf(a)...)
		}
	}
	return out
}

// commanded reports whether a program stands beside an argument, which then holds only what that
// one is given.
func commanded(in map[string]any) bool {
	for name := range in {
		if k := meaning(name); k == shellText || k == codeText || slices.Contains(programKeys, name) {
			return true
		}
	}
	return false
}

// linesOf are the lines in one argument. A list of commands holds one in each text, a list
// of words is one; a list that may be either is both.
func linesOf(a argument) (out []line) {
	add := func(l line) {
		if a.kind == codeText || a.name == "hex" ||
			!a.top() && strings.HasSuffix(strings.ToLower(a.name), "script") {
			l.code = a.name
		}
		l.in, l.top = a.in, a.top()
		out = append(out, l)
	}
	switch v := a.value.(type) {
	case string:
		add(line{text: v})
		if more, is := v, wordsBeside(a.in); len(is) > 0 {
			words := append(strings.Fields(more), is...)
			add(line{text: strings.Join(words, " "), words: words})
		}
	case []any:
		words := make([]string, len(v))
		for i := range v {
			words[i] = fmt.Sprint(v[i])
		}
		several := !slices.Contains(commandKeys, a.name) && !slices.Contains(typedKeys, a.name)
		for _, w := range words {
			if several {
				add(line{text: w})
			}
		}
		if !several || !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, " ") }) {
			add(line{text: strings.Join(words, " "), words: words})
		}
	}
	return out
}

// wordsBeside are the arguments of a program whose name stands beside them:
// {"command": "rm", "args": ["-rf", "x"]}.
func wordsBeside(in map[string]any) (words []string) {
	for _, name := range []string{"args", "arguments", "argv"} {
		list, _ := in[name].([]any)
		for _, v := range list {
			words = append(words, fmt.Sprint(v))
		}
	}
	return words
}
