package policy

import (
	"fmt"
	"slices"
	"strings"
)

// commandKeys are the arguments of any tool that hold lines of shell, in the order in which conditions see
// them.
var commandKeys = []string{commandArgument, "cmd", "script", "shell_command", "code"}

// programKeys name a program if its arguments stand beside them.
var programKeys = []string{"program", "executable", "binary", "bin"}

// typedKeys are what OpenClaw's process types into a running program, which may be a shell. hex holds bytes,
// which count as code.
var typedKeys = []string{"data", "literal", "text", "keys", "hex"}

// line is one command line in the arguments of a call.
type line struct {
	text     string         // as conditions see it
	words    []string       // if the argument is a list of words
	code     string         // the name of the argument, if that may hold code of any language
	siblings map[string]any // the arguments beside it
	topLevel bool           // it is not nested in another argument
}

// callLines returns the lines of the call itself, then those of nested arguments.
func callLines(tool string, args map[string]any, all []argument) (out []line) {
	keys := commandKeys
	if tool == "process" {
		keys = append(keys[:len(keys):len(keys)], typedKeys...)
	}
	for _, key := range keys {
		out = append(out, argumentLines(argument{name: key, path: key, kind: kindOf(key), value: args[key],
			siblings: args})...)
	}
	for _, a := range all {
		if text, is := a.value.(string); is && slices.Contains(programKeys, a.name) {
			if more := programArguments(a.siblings); len(more) > 0 {
				words := append([]string{text}, more...)
				out = append(out, line{text: strings.Join(words, " "), words: words, siblings: a.siblings,
					topLevel: a.topLevel()})
			}
		}
		if words := programArguments(map[string]any{a.name: a.value}); a.name == "argv" && len(words) > 0 &&
			!hasProgram(a.siblings) {
			out = append(out, line{text: quoteWords(words), siblings: a.siblings, topLevel: a.topLevel()})
		}
		if k := a.kind; (k == shellText || k == codeText) &&
			!(a.topLevel() && slices.Contains(commandKeys, a.name)) {
			out = append(out, argumentLines(a)...)
		}
	}
	return out
}

// hasProgram reports whether a program stands beside an argument, which then only holds the program's
// arguments.
func hasProgram(in map[string]any) bool {
	for name := range in {
		if k := kindOf(name); k == shellText || k == codeText || slices.Contains(programKeys, name) {
			return true
		}
	}
	return false
}

// argumentLines returns the lines in one argument. Each text in a list of commands is one; a list of words is
// one; a list that may be either gives both.
func argumentLines(a argument) (out []line) {
	add := func(l line) {
		if a.kind == codeText || a.name == "hex" ||
			!a.topLevel() && strings.HasSuffix(strings.ToLower(a.name), "script") {
			l.code = a.name
		}
		l.siblings, l.topLevel = a.siblings, a.topLevel()
		out = append(out, l)
	}
	switch v := a.value.(type) {
	case string:
		add(line{text: v})
		if more, is := v, programArguments(a.siblings); len(is) > 0 {
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

// programArguments returns the arguments of a program whose name stands beside them: {"command": "rm",
// "args": ["-rf", "x"]}.
func programArguments(in map[string]any) (words []string) {
	for _, name := range []string{"args", "arguments", "argv"} {
		list, _ := in[name].([]any)
		for _, v := range list {
			words = append(words, fmt.Sprint(v))
		}
	}
	return words
}
