package notation

import (
	"regexp"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

var (
	namedTag = regexp.MustCompile(`^<(?:[\w-]+:)?(parameter|param|arg|argument)(?:=["']?|\s+(?:name|key)\s*=\s*["'])([\w.-]+)["']?(?:\s+[\w-]+="[^"<>]*")*\s*>`)
	callTag  = regexp.MustCompile(`^<(?:[\w-]+:)?(invoke|function)(?:=["']?|\s+name\s*=\s*["'])([\w.-]+)["']?\s*>`)
	attrTag  = regexp.MustCompile(`^<([\w.-]+)((?:\s+[\w-]+="[^"<>&]*")+)\s*/>$`)
	attr     = regexp.MustCompile(`\s([\w-]+)="([^"]*)"`)
	entity   = regexp.MustCompile(`&(?:#\d+|#x[0-9a-fA-F]+|\w+);`)
)

// call reads an element that is a call, of which the arguments are elements or attributes:
// <read><path>a.md</path></read>, <invoke name="read">…</invoke>, <read path="a.md"/>. It becomes
// {"name": …, "arguments": …}.
func call(s string) []string {
	s = strings.TrimSpace(s)
	if m := attrTag.FindStringSubmatch(s); m != nil {
		var members []string
		for _, a := range attr.FindAllStringSubmatch(m[2], -1) {
			members = append(members, a[1], a[2])
		}
		return []string{named(m[1], jsontext.Object(members...))}
	}
	tag, name, inner := "", "", ""
	if m := callTag.FindStringSubmatchIndex(s); m != nil {
		tag, name, inner = s[1:m[3]], s[m[4]:m[5]], s[m[1]:]
	} else if name, rest, ok := openTag(s); ok {
		return callOf(name, name, rest)
	} else {
		return nil
	}
	return callOf(tag, name, inner)
}

func callOf(tag, name, inner string) []string {
	inner, closed := strings.CutSuffix(inner, "</"+tag+">")
	if args := elements(inner); closed && len(args) == 1 {
		return []string{named(name, args[0])}
	}
	return nil
}

func named(name, args string) string {
	return `{"name":` + jsontext.Quote(name) + `,"arguments":` + args + "}"
}

// elements reads arguments that are an element each, and nothing else:
// <parameter name="path">a.md</parameter>, or <path>a.md</path>.
func elements(s string) []string {
	var members []string
	key := "" // of GLM, which has an element for each key, and one for each value
	for rest := strings.TrimSpace(s); rest != ""; {
		name, value, after, ok := element(rest)
		if !ok || len(members) > 2*mostMembers {
			return nil
		}
		switch {
		case name == "arg_key" && key == "" && isWord(value):
			key = value
		case name == "arg_value" && key != "":
			members, key = append(members, key, value), ""
		default:
			members = append(members, name, value)
		}
		rest = strings.TrimSpace(after)
	}
	if len(members) == 0 || key != "" {
		return nil
	}
	return []string{jsontext.Object(members...)}
}

// element reads the element that s begins with. Its text is what it says, unless an entity leaves
// that open, or a tag of its own stands in it.
func element(s string) (name, value, after string, ok bool) {
	tag, name, inner := "", "", ""
	if m := namedTag.FindStringSubmatchIndex(s); m != nil {
		tag, name, inner = s[1:m[3]], s[m[4]:m[5]], s[m[1]:]
	} else if name, inner, ok = openTag(s); ok {
		tag = name
	} else {
		return "", "", "", false
	}
	value, after, ok = strings.Cut(inner, "</"+tag+">")
	if !ok || strings.Contains(value, "<"+tag+">") || strings.Contains(value, "<"+tag+" ") ||
		strings.Contains(value, "<"+tag+"=") {
		return "", "", "", false
	}
	if data, is := strings.CutPrefix(value, "<![CDATA["); is {
		data, is = strings.CutSuffix(data, "]]>")
		return name, data, after, is && !strings.Contains(data, "]]>")
	}
	if strings.HasPrefix(value, "\n") && strings.HasSuffix(value, "\n") && len(value) > 1 {
		value = value[1 : len(value)-1] // as Qwen writes them
	}
	return name, value, after, !entity.MatchString(value)
}
