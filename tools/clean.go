package tools

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// maxNameBytes is the longest name that is looked at: OpenAI allows 64 bytes, MCP
// gateways join a server's name to that.
const maxNameBytes = 128

// cleanName cuts from a name what is no part of it: a recipient marker in front
// ("assistant<|channel|>commentary to=functions.exec"), Harmony tokens with all
// that follows, quotes, and trailing garbage (`exec" parameter="command`, "exec?",
// "exec––commentary"). Prefixes such as "functions." stay.
func cleanName(raw string) string { return nameRun(addressed(raw)) }

// addressed is a name without a recipient marker in front and without tokens.
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

// assigned are the words that a server takes for a part of the name: call=functions.exec
var assigned = [...]string{"call", "name", "tool", "tool_name", "function", "function_name", "recipient",
	"recipient_name"}

// cutTokens cuts s at its first Harmony token (openai/harmony: <|name|>) behind the name. A token
// inside a dotted name is only taken out: "browser<|channel|>.search".
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

// anyToken is a Harmony token, as cutTokens sees one.
var anyToken = regexp.MustCompile(`(?s)<\|.*?\|>`)

// unquoted takes out the mark that opens a name behind its namespace: functions."read"
var unquoted = strings.NewReplacer(`."`, ".", ".'", ".", ".`", ".")

// unescaped takes out what Markdown puts in front of signs: read\_file
var unescaped = strings.NewReplacer(`\_`, "_", `\-`, "-", `\.`, ".")

// nameRun returns the first run of name characters in s, without the blanks and
// separators around it that no name begins or ends with.
func nameRun(s string) string {
	s = unquoted.Replace(unescaped.Replace(s))
	s = strings.TrimLeftFunc(s, func(r rune) bool { return r != '_' && !isWordRune(r) })
	if end := strings.IndexFunc(s, func(r rune) bool { return !isNameRune(r) }); end >= 0 {
		s = s[:end]
	}
	if end := strings.Index(s, "--"); end > 0 {
		s = s[:end]
	}
	return strings.TrimRight(scan.Head(s, maxNameBytes), " -/:")
}

// isWordRune reports whether r may begin a name. Tool names come in any script.
func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// isNameRune reports whether r may stand inside a name; blanks do in ReAct.
func isNameRune(r rune) bool { return isWordRune(r) || strings.ContainsRune("_-. /:", r) }

func isNameByte(b byte) bool { return b == '_' || b == '-' || isWordRune(rune(b)) }

// stripPrefixes drops the prefixes that rules list, as often as there is one, and
// says which rule did it.
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

// key is what two spellings of one name have in common: no case, dashes, "_", blanks.
func key(name string) string { return strings.Map(keyRune, name) }

// keyRune is a character as it stands in a key; negative: it does not.
func keyRune(r rune) rune {
	if r == '-' || r == '_' || unicode.IsSpace(r) || r >= 0x80 && isOddDash(r) {
		return -1
	}
	return unicode.ToLower(r)
}

// bareKey is key without dots and without the word "tool" at the end: ReadFileTool,
// read_file_tool and read.file are one. It is empty where nothing else remains.
func bareKey(name string) string {
	parts := words(name)
	for len(parts) > 0 && parts[len(parts)-1] == "tool" {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, "")
}

// separators are what stands between the namespaces of a name, as Harmony, MCP
// gateways and frameworks write it.
var separators = [...]string{".", "/", "__", ":"}

// segments returns every tail of name that follows a separator, the longest first:
// "a.b.c" gives "b.c", "c".
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
