package tools

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// maxNameBytes bounds a name: OpenAI allows 64 bytes, and MCP gateways prepend the name of a server.
const maxNameBytes = 128

// cleanName removes from a name what is no part of it: a recipient marker
// ("assistant<|channel|>commentary to=functions.exec"), Harmony tokens with all that follows, quotes,
// and trailing garbage (`exec" parameter="command`, "exec?", "exec––commentary"). Prefixes such as
// "functions." stay.
func cleanName(raw string) string { return nameRun(addressed(raw)) }

// addressed returns a name without a recipient marker and tokens.
func addressed(raw string) string {
	s := raw
	if i := strings.LastIndex(s, "to="); i >= 0 && (i == 0 || !isNameByte(s[i-1])) {
		s = s[i+len("to="):]
	}
	if word, name, ok := strings.Cut(s, "="); ok && name != "" && slices.Contains(assigned[:], word) {
		s = name
	}
	return cutTokens(scan.Head(s, 8*maxNameBytes))
}

// assigned are words that a server takes for a part of the name: call=functions.exec
var assigned = [...]string{"call", "name", "tool", "tool_name", "function", "function_name", "recipient",
	"recipient_name"}

// cutTokens cuts s at its first Harmony token (openai/harmony: <|name|>) behind the name. A token within
// a dotted name is only removed: "browser<|channel|>.search".
func cutTokens(s string) string {
	for {
		from := strings.Index(s, "<|")
		if from < 0 {
			return s
		}
		size := strings.Index(s[from:], "|>")
		if size < 0 {
			return s[:from]
		}
		rest := s[from+size+len("|>"):]
		if from > 0 && !strings.HasPrefix(rest, ".") {
			return s[:from]
		}
		s = s[:from] + rest
	}
}

// anyToken matches a Harmony token as cutTokens does.
var anyToken = regexp.MustCompile(`(?s)<\|.*?\|>`)

// quoteOpeners removes the opening quote behind a namespace: functions."read"
var quoteOpeners = strings.NewReplacer(`."`, ".", ".'", ".", ".`", ".")

// markdownEscapes removes Markdown's backslashes: read\_file
var markdownEscapes = strings.NewReplacer(`\_`, "_", `\-`, "-", `\.`, ".")

// nameRun returns the first run of name characters in s, without blanks and separators around it.
func nameRun(s string) string {
	s = quoteOpeners.Replace(markdownEscapes.Replace(s))
	s = strings.TrimLeftFunc(s, func(r rune) bool { return r != '_' && !isWordRune(r) })
	if end := strings.IndexFunc(s, func(r rune) bool { return !isNameRune(r) }); end >= 0 {
		s = s[:end]
	}
	if end := strings.Index(s, "--"); end > 0 {
		s = s[:end]
	}
	return strings.TrimRight(scan.Head(s, maxNameBytes), " -/:")
}

// isWordRune reports whether r may begin a name. Names come in any script.
func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// isNameRune reports whether r may stand within a name; blanks do in ReAct.
func isNameRune(r rune) bool { return isWordRune(r) || strings.ContainsRune("_-. /:", r) }

func isNameByte(b byte) bool { return b == '_' || b == '-' || isWordRune(rune(b)) }

// stripPrefixes removes all prefixes that rules list, and returns the place of the last such rule.
func (r *Rules) stripPrefixes(name string) (rest, place string) {
	for again := true; again; {
		again = false
		for _, p := range r.Prefixes {
			if n := len(p.Text); n > 0 && len(name) >= n && strings.EqualFold(name[:n], p.Text) {
				name, place, again = name[n:], p.Place, true
			}
		}
	}
	return strings.Trim(name, " .-/:"), place
}

// key is what spellings of one name share: no case, dashes, "_" or blanks.
func key(name string) string { return strings.Map(keyRune, name) }

// keyRune returns a character as it stands in a key, or -1.
func keyRune(r rune) rune {
	if r == '-' || r == '_' || unicode.IsSpace(r) || r >= 0x80 && isOddDash(r) {
		return -1
	}
	return unicode.ToLower(r)
}

// bareKey is key without dots and a final word "tool": ReadFileTool, read_file_tool and read.file are
// one. It may be empty.
func bareKey(name string) string {
	parts := words(name)
	for len(parts) > 0 && parts[len(parts)-1] == "tool" {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, "")
}

// separators stand between the namespaces of a name in Harmony, MCP gateways and frameworks.
var separators = [...]string{".", "/", "__", ":"}

// segments returns every tail of name behind a separator, the longest first: "a.b.c" gives "b.c", "c".
func segments(name string) []string {
	var out []string
	for i := 1; i < len(name); i++ {
		for _, sep := range separators {
			if strings.HasPrefix(name[i:], sep) {
				if tail := name[i+len(sep):]; tail != "" && !strings.HasPrefix(tail, "_") {
					out = append(out, tail)
				}
				break
			}
		}
	}
	return out
}
