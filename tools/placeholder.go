package tools

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// placeholder matches a value that only marks a place: ..., <path>, {path}, YOUR_COMMAND_HERE.
var placeholder = regexp.MustCompile(`^(?:\.{3,}|…+|<[^<>/\n][^<>\n]*>|\{+\s*[A-Za-z_][\w .-]*\}+|\[[A-Z][A-Z_ ]+\]|YOUR_[A-Z0-9_]+|[A-Z][A-Z0-9_]*_HERE)$`)

// emptyArgument returns why a required argument has nothing to execute: a placeholder, or text that is
// no command.
func (w *shaper) emptyArgument(all []argument) string {
	if w.schema == nil {
		return ""
	}
	const longest = 512 // placeholders are short
	for _, a := range all {
		if a.value[0] != '"' || len(a.value) > longest ||
			!slices.Contains(w.schema.required, string(a.name)) {
			continue
		}
		name := string(a.name)
		text := strings.TrimSpace(jsontext.Unquote(a.value[1 : len(a.value)-1]))
		if placeholder.MatchString(text) {
			return jsontext.Quote(name) + " is a placeholder, " + text + "; send what belongs there"
		}
		switch w.rules.kindOf(w.tool, name).Kind {
		case Command, Code:
			if why := unlikely(name, text); why != "" {
				return jsontext.Quote(name) + " " + why + "; send what is to be executed, or answer in text"
			}
		}
	}
	return ""
}

// unlikely returns why a text is surely nothing to execute: a sentence, an object, a fence, or the name
// of the argument and its value.
func unlikely(param, text string) string {
	switch {
	case strings.HasPrefix(text, "```"):
		return "begins with a fence"
	case strings.HasPrefix(text, "{") && json.Valid([]byte(text)):
		return "is an object of JSON"
	case strings.HasPrefix(text, param+"=") || strings.HasPrefix(text, param+": "):
		return "begins with the name of the argument"
	case isProseSentence(strings.Fields(text)):
		return "is a sentence"
	}
	return ""
}

// isProseSentence reports whether words are a sentence, and nothing else: every one is letters, but for the
// marks that sentences have. It begins as one, too, which programs' names hardly do: with a capital,
// and not in capitals only, or with a word and a comma.
func isProseSentence(words []string) bool {
	lower, marks := 0, 0
	for _, w := range words {
		bare := strings.TrimRight(w, ".,?!:;…")
		if strings.IndexFunc(bare,
			func(r rune) bool {
				return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' && r != '’'
			}) >= 0 {
			return false
		}
		if bare != w {
			marks++
		}
		if first, _ := utf8.DecodeRuneInString(w); unicode.IsLower(first) {
			lower++
		}
	}
	if len(words) < 3 || lower < 2 {
		return false
	}
	first, _ := utf8.DecodeRuneInString(words[0])
	return unicode.IsUpper(first) && (marks > 0 || lower > 2) || strings.HasSuffix(words[0], ",")
}
