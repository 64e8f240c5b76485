package notation

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
)

var (
	namedTag = lazyregexp.New(`^<(?:[\w-]+:)?(parameter|param|arg|argument)(?:=["']?|\s+(?:name|key)\s*=\s*["'])([\w.-]+)["']?(?:\s+[\w-]+="[^"<>]*")*\s*>`)
	entity   = lazyregexp.New(`&(?:#\d+|#x[0-9a-fA-F]+|\w+);`)
)

// elements reads arguments that are an element each, and nothing else:
// <parameter name="path">a.md</parameter>, or <path>a.md</path>.
func elements(s string) []string {
	var members []string
	for rest := strings.TrimSpace(s); rest != ""; {
		name, value, after, ok := element(rest)
		if !ok {
			return nil
		}
		members = append(members, name, value)
		rest = strings.TrimSpace(after)
	}
	if len(members) == 0 {
		return nil
	}
	return []string{jsontext.Object(members...)}
}

// element reads the element that s begins with. Its text is what it says, unless an entity leaves
// that open, or a tag of its own stands in it.
func element(s string) (name, value, after string, ok bool) {
	tag, name, inner := "", "", ""
	if m := namedTag().FindStringSubmatchIndex(s); m != nil {
		tag, name, inner = s[1:m[3]], s[m[4]:m[5]], s[m[1]:]
	} else if name, inner, ok = openTag(s); ok {
		tag = name
	} else {
		return "", "", "", false
	}
	value, after, ok = strings.Cut(inner, "</"+tag+">")
	if !ok || strings.Contains(value, "<"+tag+">") || strings.Contains(value, "<"+tag+" ") || strings.Contains(value, "<"+tag+"=") {
		return "", "", "", false
	}
	if data, is := strings.CutPrefix(value, "<![CDATA["); is {
		data, is = strings.CutSuffix(data, "]]>")
		return name, data, after, is && !strings.Contains(data, "]]>")
	}
	if strings.HasPrefix(value, "\n") && strings.HasSuffix(value, "\n") && len(value) > 1 {
		value = value[1 : len(value)-1] // as Qwen writes them
	}
	return name, value, after, !entity().MatchString(value)
}
