// Package calltags reads calls that are written in tags, as other model families write them,
// into names and arguments. It knows no tool, and mends no value. Pure.
//
//	<function=NAME><parameter=KEY>value</parameter></function>
//	<invoke name="NAME"><parameter name="KEY">value</parameter></invoke>
//	<function name="NAME"><arguments>{json}</arguments></function>
//	<tool>NAME</tool><tool_input>text</tool_input>
//	<action><tool_name>NAME</tool_name><arguments><arg key="KEY">value</arg></arguments></action>
package calltags

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
	"github.com/jgavinray/gpt-oss-executor/tools/callcode"
)

var (
	callTag  = lazyregexp.New(`(?i)<(?:[\w:]+:)?(?:function|invoke)(?:=|\s+name\s*=\s*)["']?([^"'>\s]+)["']?\s*>`)
	paramTag = lazyregexp.New(`(?is)<(?:[\w:]+:)?parameter(?:=|\s+name\s*=\s*)["']?([^"'>\s]+)["']?[^>]*>(.*?)</(?:[\w:]+:)?parameter>`)
	argsTag  = lazyregexp.New(`(?is)<(?:arguments|tool_input|action_input)>(.*?)</(?:arguments|tool_input|action_input)>`)
	nameTag  = lazyregexp.New(`(?is)<(?:tool|tool_name)>\s*([^<]+?)\s*</(?:tool|tool_name)>`)
	endTag   = lazyregexp.New(`(?i)</(?:[\w:]+:)?(?:function|invoke|action|arguments|tool_input|action_input)>`)
	argsHead = lazyregexp.New(`(?i)<(?:[\w:]+:)?(?:arguments|parameters|args|tool_input|action_input)>`)
	anyParam = lazyregexp.New(`(?i)</?(?:(?:[\w:]+:)?parameter\b|arg[\s>])`)
	anyEnd   = lazyregexp.New(`</[\w:-]+>`)
	argTag   = lazyregexp.New(`(?is)<arg\s+(?:key|name)\s*=\s*["']([^"']+)["']\s*>(.*?)</arg>`)
)

// Calls reads the calls in doc. Where doc may have been cut, a call counts only if something
// closes it. broken says that a call is there which could not be read: those behind it may stand in
// one of its values, and are none.
func Calls(doc string, cut bool) (calls []callcode.Call, broken bool) {
	add := func(name, inside string, last bool) {
		args, ok := arguments(inside)
		if !ok || cut && last && !endTag().MatchString(inside) {
			broken = true
			return
		}
		calls = append(calls, callcode.Call{Name: name, Args: args})
	}
	heads := callTag().FindAllStringSubmatchIndex(doc, -1)
	for i, h := range heads {
		to := len(doc)
		if i+1 < len(heads) {
			to = heads[i+1][0]
		}
		if add(doc[h[2]:h[3]], doc[h[1]:to], i+1 == len(heads)); broken {
			break
		}
	}
	if m := nameTag().FindStringSubmatchIndex(doc); len(heads) == 0 && m != nil {
		add(doc[m[2]:m[3]], doc[m[1]:], true)
	}
	return calls, broken
}

// arguments makes one JSON object of the inside of a call's tag. It is false where a parameter
// cannot be read: a call without it would be another one.
func arguments(s string) (args string, ok bool) {
	tag := paramTag()
	if !tag.MatchString(s) {
		tag = argTag()
	}
	params := tag.FindAllStringSubmatchIndex(s, -1)
	if len(params) == 0 {
		return without(s)
	}
	var members []string
	var between strings.Builder
	from := 0
	for _, p := range params {
		value := s[p[4]:p[5]]
		if anyParam().MatchString(value) {
			return "", false
		}
		between.WriteString(s[from:p[0]])
		members = append(members, s[p[2]:p[3]], strings.Trim(value, "\n"))
		from = p[1]
	}
	return jsontext.Object(members...), apart(between.String(), s[from:])
}

// apart reports whether nothing but blanks and the tag of all parameters stands between them, and
// behind the last what ends the call. Else a tag that seemed to end a parameter stands in its value.
func apart(between, behind string) bool {
	if strings.TrimSpace(argsHead().ReplaceAllString(between, "")) != "" {
		return false
	}
	end := len(behind)
	if at := endTag().FindStringIndex(behind); at != nil {
		end = at[0]
	}
	return !anyParam().MatchString(behind) && strings.TrimSpace(anyEnd().ReplaceAllString(behind[:end], "")) == ""
}

// without finds arguments that are no parameters: an object or text in a tag of their own, or
// an object.
func without(s string) (args string, ok bool) {
	if m := argsTag().FindStringSubmatch(s); m != nil {
		inner := strings.TrimSpace(m[1])
		if strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[") {
			return inner, true
		}
		return jsontext.Quote(inner), true
	}
	if i := strings.IndexByte(s, '{'); i >= 0 {
		if end := callcode.End(s, i, true); end > 0 {
			return s[i:end], true
		}
	}
	return "{}", !strings.Contains(s, "<parameter")
}
