package tools

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

const (
	sentence = "reads like a sentence"
	noShell  = "is no line of shell"
)

// doubtCommand tells a line of shell from a sentence in any language: it parses, its first word can be
// the name of a program, no word ends like one of a sentence, and runs of plain words are short.
func doubtCommand(text string) string {
	if _, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text),
		""); err != nil {
		return noShell
	}
	if inBrackets(text) {
		return sentence
	}
	line := withoutComments(text)
	if line == "" {
		return "is nothing but a comment"
	}
	if first := doubtProgram(line); first != "" {
		return first
	}
	for _, part := range commands(text) {
		if isSentence(part) {
			return sentence
		}
	}
	return ""
}

// withoutComments drops the comment lines at the start of text.
func withoutComments(text string) string {
	for strings.HasPrefix(text, "#") {
		_, rest, _ := strings.Cut(text, "\n")
		text = strings.TrimSpace(rest)
	}
	return text
}

// isWord reports whether a word is a label that servers and models write before arguments.
func isWord(word string) bool { return slices.Contains(labels[:], strings.ToLower(word)) }

// doubtProgram checks the beginning of a command, behind "(", "!" and assignments.
func doubtProgram(line string) string {
	for {
		line = strings.TrimLeft(line, "(! \t\n")
		n := letters(line)
		if n == 0 || !strings.HasPrefix(line[n:], "=") {
			break
		}
		if word := line[:n]; isWord(word) || word == "command" || word == "cmd" {
			return "begins with " + word + "="
		}
		_, rest, ok := strings.Cut(line, " ")
		if !ok {
			return ""
		}
		line = rest
	}
	if strings.HasPrefix(line, "//") || strings.HasPrefix(line, "/*") {
		return noShell
	}
	for _, begin := range []string{"/", "./", "../", "~/", "$", "[ ", "[[ ", "{ "} {
		if strings.HasPrefix(line, begin) {
			return ""
		}
	}
	if quoted, rest, ok := strings.Cut(strings.TrimPrefix(line, `"`), `"`); ok && line[0] == '"' &&
		strings.ContainsAny(quoted[:min(1, len(quoted))], "$/.~") && !strings.ContainsAny(quoted, " *=") &&
		(rest == "" || rest[0] == ' ') {
		return ""
	}
	name := line
	if end := strings.IndexAny(line, " \t\n;|&<>()"); end >= 0 {
		name = line[:end]
	}
	if name == "." || name == ":" {
		return ""
	}
	for i, r := range name {
		switch {
		case r >= utf8.RuneSelf, i == 0 && !(unicode.IsLower(r) || unicode.IsDigit(r) || r == '_'),
			!unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.+/", r):
			return "does not begin with the name of a program"
		}
	}
	if strings.HasSuffix(name, ".") || strings.HasSuffix(name, "-") {
		return sentence
	}
	return ""
}

// commands returns the words of each simple command in text.
func commands(text string) (out [][]string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if let, ok := n.(*syntax.LetClause); ok { // "let me see" is arithmetic to a shell
			out = append(out, strings.Fields(text[let.Pos().Offset():let.End().Offset()]))
			return true
		}
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		var words []string
		for _, w := range call.Args {
			words = append(words, text[w.Pos().Offset():w.End().Offset()])
		}
		out = append(out, words)
		return true
	})
	return out
}

// isSentence reports whether the words of a command form a sentence: one ends in punctuation or contains
// an apostrophe, or most are letters only.
func isSentence(words []string) bool {
	plain, run, longest, inline := 0, 0, 0, false
	for _, w := range words {
		inline = inline || strings.HasPrefix(w, "`")
		bare := strings.TrimRight(w, ".,?!:…。！？、")
		switch {
		case bare == "" || !onlyLetters(bare):
			run = 0
			if inner := strings.Split(w, "'"); len(inner) > 1 && utf8.RuneCountInString(inner[0]) > 0 &&
				onlyLetters(inner[0]) && inner[1] != "" {
				return true
			}
			continue
		case bare != w && utf8.RuneCountInString(bare) > 1:
			return true
		}
		plain++
		run++
		longest = max(longest, run)
	}
	signs := len(words) - plain
	return plain > 2 && signs == 0 || longest > 3 || plain > 2 && inline || plain > 2*signs+3
}

func onlyLetters(word string) bool {
	return word != "" && strings.IndexFunc(word,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) < 0
}

// jsonCall reports whether s is the rest of a call with a JSON object.
func jsonCall(s string) bool {
	inner, ok := strings.CutPrefix(s, "({")
	inner = strings.TrimLeft(inner, " \n\\")
	return ok && inner != "" && strings.ContainsRune("\"#/", rune(inner[0]))
}

// withoutApostrophe joins a word at its apostrophe: "can't".
func withoutApostrophe(word string) string {
	before, after, ok := strings.Cut(strings.ReplaceAll(word, "’", "'"), "'")
	if ok && onlyLetters(before) && onlyLetters(after) {
		return before + after
	}
	return word
}

// imports matches a line of Python without a sign of code.
var imports = regexp.MustCompile(`^(?:import [\w.]+ as \w+|from [\w.]+ import \w+(?: as \w+)?)$`)

// doubtCode tells code from a sentence: code has signs that sentences lack, and begins differently.
func doubtCode(text string) string {
	if strings.HasPrefix(text, `"`) && strings.Count(text, `"""`) < 2 || text[0] == '`' || text[0] == '\\' {
		return "begins with " + text[:1]
	}
	if strings.Contains(text, "```") {
		return "holds a fence"
	}
	if n := letters(text); n > 0 && strings.HasPrefix(text[n:], ": ") || isWord(text[:n]) &&
		!strings.HasPrefix(text[n:], " =") && strings.HasPrefix(strings.TrimLeft(text[n:], " :=-"), `"`) {
		return "begins with " + text[:n]
	}
	if n := letters(text); isWord(text[:n]) && strings.HasPrefix(text[n:], "=") || jsonCall(text[n:]) ||
		strings.HasPrefix(text[n:], `("{`) {
		return "begins with " + text[:n+1]
	}
	if inBrackets(text) {
		return sentence
	}
	first, _, _ := strings.Cut(text, "\n")
	if imports.MatchString(first) {
		return ""
	}
	words := strings.Fields(first)
	plain, lead := 0, 0
	ends := false
	for i, w := range words {
		bare := strings.TrimRight(w, ".,?!:…。！？、")
		if !onlyLetters(withoutApostrophe(bare)) {
			continue
		}
		plain++
		if plain == i+1 {
			lead++
		}
		ends = ends || bare != w && (i == len(words)-1 && !strings.HasSuffix(w, ":") &&
			!strings.HasSuffix(w, ",") || lead == i+1 && strings.HasSuffix(w, ","))
	}
	capital, _ := utf8.DecodeRuneInString(text)
	title := unicode.IsUpper(capital) && len(words) > 0 && strings.ToUpper(words[0]) != words[0]
	// as SQL is
	shouted := unicode.IsUpper(capital) && len(words[0]) > 1 && strings.ToUpper(words[0]) == words[0]
	signs := shouted || strings.ContainsAny(text, "()=[]{};_<>+*\"/#")
	switch {
	case ends && plain > 0 && (!signs || lead > 1), title && lead > 2, !signs && (plain > 3 || lead > 2 ||
		title || strings.Contains(first, "'") && plain == len(words)),
		capital >= utf8.RuneSelf && !signs:
		return sentence
	}
	return ""
}

// inBrackets reports whether text is words in brackets, such as "(no arguments)".
func inBrackets(text string) bool {
	inner := strings.Trim(text, "()<>")
	return strings.ContainsAny(text[:1], "(<") && len(text) == len(inner)+2 &&
		onlyLetters(strings.ReplaceAll(inner, " ", ""))
}
