package notation

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
)

// lineMember is a key and its value on a line, as in YAML, TOML and INI; flagMember is one of a command.
var (
	lineMember = lazyregexp.New(`^([A-Za-z_][\w-]*)(?::[ \t]+| ?= ?)(\S.*)$`)
	flagMember = lazyregexp.New(`^--([A-Za-z_][\w-]*)[= ](?:"([^"\\]*)"|'([^'\\]*)'|([^\s"'\\$` + "`" + `;|&<>()*?#-][^\s"'\\$` + "`" + `;|&<>()*?#]*))(?:\s+|$)`)
)

// keyLines reads lines of which each is a key and a value. One such line alone may be a remark, and a
// value that YAML reads in a way of its own is none for sure.
func keyLines(s string) []string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	var members []string
	for _, line := range lines {
		m := lineMember().FindStringSubmatch(strings.TrimRight(line, " \t\r"))
		if m == nil {
			return nil
		}
		value, ok := scalar(m[2])
		if !ok {
			return nil
		}
		members = append(members, m[1], value)
	}
	if len(lines) < 2 {
		return nil
	}
	return []string{jsontext.Object(members...)}
}

// scalar is the text of a value on a line: what stands in quotes, or words that mean only themselves.
func scalar(s string) (string, bool) {
	switch s[0] {
	case '"':
		if stringEnd(s, 0) < len(s) || !valid(s, 1) {
			return "", false
		}
		return jsontext.Unquote([]byte(s[1 : len(s)-1])), true
	case '\'':
		body, ok := strings.CutSuffix(s[1:], "'")
		return body, ok && !strings.ContainsAny(body, `'\`)
	}
	own := strings.ContainsRune("[]{}|>&*!%@`#,?-~:=<", rune(s[0])) || strings.EqualFold(s, "null")
	return s, !own && !strings.Contains(s, " #") && !strings.Contains(s, ": ") && !strings.HasSuffix(s, ":")
}

// flags reads arguments as a command has them: --path a.md --limit=3.
func flags(s string) []string {
	var members []string
	for rest := strings.TrimSpace(s); rest != ""; {
		m := flagMember().FindStringSubmatch(rest)
		if m == nil || len(members) > 2*mostMembers {
			return nil
		}
		members = append(members, m[1], m[2]+m[3]+m[4])
		rest = rest[len(m[0]):]
	}
	if len(members) == 0 {
		return nil
	}
	return []string{jsontext.Object(members...)}
}
