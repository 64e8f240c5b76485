package tools

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TextKind is the intended kind of a text.
type TextKind string

// The kinds of text.
const (
	Command TextKind = "command" // a line of shell
	Code    TextKind = "code"    // a program in another language
	Patch   TextKind = "patch"   // changes of files
	Prose   TextKind = "prose"   // words in any language
	Path    TextKind = "path"
	URL     TextKind = "url"
	Text    TextKind = "text" // anything
)

// TextKinds returns all kinds.
func TextKinds() []string {
	return []string{string(Command), string(Code), string(Patch), string(Prose), string(Path), string(URL),
		string(Text)}
}

// TextKindOf returns the kind of a parameter by its name, in any spelling.
func TextKindOf(param string) TextKind {
	switch strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(param), "_", ""), "-", "") {
	case "command", "cmd", "shellcommand", "commandline", "commands", "cmds":
		return Command
	case "code", "script", "source":
		return Code
	case "patch", "diff":
		return Patch
	case "query", "q", "question", "searchquery", "searchterm":
		return Prose
	case "path", "filepath", "file", "filename":
		return Path
	case "url", "link", "href", "uri":
		return URL
	}
	return Text
}

// Doubt returns why text cannot be of a kind, in words that follow "what came", or "".
func (k TextKind) Doubt(text string) string {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "is empty"
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }):
		return "holds control characters"
	case jsonLike(text), encoded(text):
		return "looks like JSON"
	case strings.HasPrefix(text, "- "), strings.HasPrefix(text, "* "):
		return "reads like a list"
	case k != Text && k != Patch && strings.ContainsRune(",;:=?!)]}%&|>", rune(text[0])):
		return "begins with " + text[:1]
	}
	switch k {
	case Command:
		return doubtCommand(text)
	case Code:
		return doubtCode(text)
	case Patch:
		return doubtPatch(text)
	case Path:
		return cmp.Or(doubtName(text), doubtWords(text, 4))
	case URL:
		return cmp.Or(doubtName(text), doubtWords(text, 1))
	}
	return ""
}

// jsonLike reports whether text is, begins or is part of a JSON container.
func jsonLike(text string) bool {
	rest := strings.TrimLeft(text[1:], " \t\r\n")
	switch text[0] {
	case '{':
		return rest == "" || strings.ContainsRune("\"'}{\\/#", rune(rest[0])) || json.Valid([]byte(text)) ||
			isKey(rest)
	case '[':
		return strings.Contains(rest, `{"`) || strings.Contains(rest, `"{`) ||
			strings.HasPrefix(rest, "%7B") || strings.HasPrefix(rest, "{") || json.Valid([]byte(text))
	case '"':
		key := strings.IndexByte(rest, '"')
		return key >= 0 && strings.HasPrefix(strings.TrimLeft(rest[key+1:], " "), ":")
	}
	return strings.HasPrefix(text, "&quot;") || strings.HasPrefix(text, "eyJ") && letters(text) == len(text)
}

// encoded reports whether text is one word of readable base64, or contains a URL-encoded object.
func encoded(text string) bool {
	if strings.Contains(text, "%7B%22") || strings.Contains(text, "%22:") ||
		strings.Contains(text, "%22%3A") || strings.Contains(text, "&#34;") {
		return true
	}
	if !strings.ContainsAny(text, " \n") {
		if plain, err := url.PathUnescape(text); err == nil && plain != text ||
			strings.Contains(headOf(text), "eyJ") {
			return true
		}
	}
	for _, word := range strings.Fields(text) {
		if strings.HasPrefix(word, "eyJ") && len(word) > 12 {
			return true
		}
	}
	out, err := base64.StdEncoding.DecodeString(text)
	return err == nil && len(text) >= 8 && utf8.Valid(out) && !strings.ContainsRune(string(out), 0)
}

// headOf returns the beginning of a text, where an encoded object may begin behind a word.
func headOf(text string) string { return text[:min(len(text), 16)] }

// isKey reports whether s begins with a name and a colon.
func isKey(s string) bool {
	n := letters(s)
	return n > 0 && strings.HasPrefix(strings.TrimLeft(s[n:], " "), ":")
}

// letters returns the length of the ASCII letters, digits and _ at the start of s.
func letters(s string) int {
	n := strings.IndexFunc(s, func(r rune) bool {
		return r >= utf8.RuneSelf || r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if n < 0 {
		return len(s)
	}
	return n
}

func doubtPatch(text string) string {
	for line := range strings.Lines(text) {
		for _, mark := range []string{"*** ", "--- ", "+++ ", "diff ", "@@", "Index: "} {
			if strings.HasPrefix(line, mark) {
				return ""
			}
		}
	}
	return "holds no line that a patch has"
}

// doubtName doubts what no path or URL contains: quotes, tags, lines, an option, a call.
func doubtName(text string) string {
	switch n := letters(text); {
	case strings.ContainsAny(text, "\"<>\n"), strings.HasPrefix(text, "--"), n > 0 &&
		strings.HasPrefix(text[n:], "(") && strings.HasSuffix(text, ")"):
		return "has signs that do not belong there"
	}
	return ""
}

func doubtWords(text string, most int) string {
	if strings.Contains(text, "`") || len(strings.Fields(text)) > most {
		return "reads like a sentence"
	}
	return ""
}
