package draft

import (
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// AliasFile is the rule file that says which names mean which tool.
const AliasFile = "aliases.yaml"

// Unnamed are the names in a reply that no offered tool has, each once, as they are looked up.
func Unnamed(s *replay.Shown) (out []string) {
	for i := range s.Tree.Refused {
		f := &s.Tree.Refused[i]
		if f.Code == tools.NotOffered && f.Name != "" && len(f.Name) <= maxAlias && !slices.Contains(out, f.Name) && len(out) < maxListed {
			out = append(out, f.Name)
		}
	}
	return out
}

// maxAlias is how long a name may be that is offered as an alias, in bytes.
const maxAlias = 64

var (
	plainWord  = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	toolOfList = lazyregexp.New(`^([ \t]+)("[^"]*"|'[^']*'|[^\s:#'"]+):[ \t]*(\[)?`)
)

// Alias is the text of aliases.yaml in which a name means a tool, and the line that says so,
// from 1. It is 0 where the text has no list of tools to say it in. Whether the text then loads,
// Check says.
func Alias(text, tool, name string) (edited string, line int) {
	lines := strings.SplitAfter(text, "\n")
	top := slices.IndexFunc(lines, func(l string) bool { return strings.TrimRight(l, " \t\r\n") == "tools:" })
	if top < 0 {
		return text, 0
	}
	indent, end := "  ", top+1
	for i := top + 1; i < len(lines); i++ {
		l := lines[i]
		if strings.TrimSpace(l) != "" && l[0] != ' ' && l[0] != '\t' && l[0] != '#' {
			break // the next key
		}
		m := toolOfList().FindStringSubmatchIndex(l)
		if m == nil {
			continue
		}
		if end == top+1 {
			indent = l[m[2]:m[3]]
		}
		end = i + 1
		if unquoted(l[m[4]:m[5]]) == tool && m[6] >= 0 {
			rest := l[m[7]:]
			put := word(name)
			if !strings.HasPrefix(strings.TrimLeft(rest, " \t"), "]") {
				put += ", "
			}
			lines[i] = l[:m[7]] + put + rest
			return strings.Join(lines, ""), i + 1
		}
	}
	put := indent + word(tool) + ": [" + word(name) + "]\n"
	if before := lines[end-1]; !strings.HasSuffix(before, "\n") {
		put = "\n" + put
	}
	return strings.Join(slices.Insert(lines, end, put), ""), end + 1
}

// word is a text as YAML writes it in a list: plain, or in quotes.
func word(s string) string {
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
	default:
		if plainWord().MatchString(s) {
			return s
		}
	}
	return strconv.Quote(s)
}

func unquoted(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') {
		return s[1 : len(s)-1]
	}
	return s
}
