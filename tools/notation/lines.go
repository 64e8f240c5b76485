package notation

import (
	"regexp"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// lineMember is a key and its value on a line, as in YAML, TOML and INI; flagMember is one of a command.
var (
	lineMember = regexp.MustCompile(`^([A-Za-z_][\w-]*)(?::[ \t]+| ?= ?)(\S.*)$`)
	flagMember = regexp.MustCompile(`^--([A-Za-z_][\w-]*)[= ](?:"([^"\\]*)"|'([^'\\]*)'|([^\s"'\\$` + "`" +
		`;|&<>()*?#-][^\s"'\\$` + "`" + `;|&<>()*?#]*))(?:\s+|$)`)
)

// keyLines reads lines of which each is a key and a value, or a key and a block of YAML. One such line
// alone may be a remark, and a value that YAML reads in a way of its own is none for sure.
func keyLines(s string) []string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) < 2 {
		return nil
	}
	var members []string
	for len(lines) > 0 {
		m := lineMember.FindStringSubmatch(strings.TrimRight(lines[0], " \t\r"))
		if m == nil {
			return nil
		}
		value, n, ok := block(m[2], lines[1:])
		if n == 0 {
			value, ok = scalar(m[2])
		}
		if !ok {
			return nil
		}
		members = append(members, m[1], value)
		lines = lines[1+n:]
	}
	return []string{jsontext.Object(members...)}
}

// block is the text of the indented lines behind | or |-, and how many they are; 0 where none begin.
func block(sign string, lines []string) (text string, n int, ok bool) {
	if sign != "|" && sign != "|-" {
		return "", 0, false
	}
	var b strings.Builder
	indent := ""
	for ; n < len(lines); n++ {
		line := lines[n]
		body := strings.TrimLeft(line, " ")
		if strings.TrimRight(body, "\t\r") != body || strings.HasPrefix(body, "\t") {
			return "", n, false // a tab is no indent, and who ends lines otherwise may mean that
		}
		switch {
		case body == "" && len(line) <= len(indent):
			line = ""
		case indent == "" && body != "":
			indent = line[:len(line)-len(body)]
		}
		if rest, in := strings.CutPrefix(line, indent); in && (indent != "" || body == "") {
			b.WriteString(rest + "\n")
		} else if line != "" {
			break
		} else {
			b.WriteByte('\n')
		}
	}
	text = strings.TrimRight(b.String(), "\n")
	if sign == "|" {
		text += "\n"
	}
	return text, n, indent != ""
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
		m := flagMember.FindStringSubmatch(rest)
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
