package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
	"github.com/jgavinray/gpt-oss-executor/tools/callcode"
)

// Calls in tags, as other model families write them:
//
//	<function=NAME><parameter=KEY>value</parameter></function>
//	<invoke name="NAME"><parameter name="KEY">value</parameter></invoke>
//	<function name="NAME"><arguments>{json}</arguments></function>
//	<tool>NAME</tool><tool_input>text</tool_input>
//	<action><tool_name>NAME</tool_name><arguments><arg key="KEY">value</arg></arguments></action>
var (
	callTag  = lazyregexp.New(`(?i)<(?:[\w:]+:)?(?:function|invoke)(?:=|\s+name\s*=\s*)["']?([^"'>\s]+)["']?\s*>`)
	paramTag = lazyregexp.New(`(?is)<(?:[\w:]+:)?parameter(?:=|\s+name\s*=\s*)["']?([^"'>\s]+)["']?[^>]*>(.*?)</(?:[\w:]+:)?parameter>`)
	argsTag  = lazyregexp.New(`(?is)<(?:arguments|tool_input|action_input)>(.*?)</(?:arguments|tool_input|action_input)>`)
	nameTag  = lazyregexp.New(`(?is)<(?:tool|tool_name)>\s*([^<]+?)\s*</(?:tool|tool_name)>`)
	endTag   = lazyregexp.New(`(?i)</(?:[\w:]+:)?(?:function|invoke|action|arguments|tool_input|action_input)>`)
	argTag   = lazyregexp.New(`(?is)<arg\s+(?:key|name)\s*=\s*["']([^"']+)["']\s*>(.*?)</arg>`)
)

// readXML reads the calls of a block in tags. v begins with the opening literal.
func (t *text) readXML(v string, eof bool) (block, verdict) {
	at, n := t.closing(v, 0, eof)
	if at < 0 {
		if !eof {
			return block{}, wait
		}
		at = len(v)
	}
	doc := strings.Clone(v[:at+n])
	b := block{end: at + n}
	heads := callTag().FindAllStringSubmatchIndex(doc, -1)
	for i, h := range heads {
		to := len(doc)
		if i+1 < len(heads) {
			to = heads[i+1][0]
		}
		b.add(doc[h[2]:h[3]], doc[h[1]:to], n > 0 || !t.r.length || i+1 < len(heads) || endTag().MatchString(doc[h[1]:to]))
	}
	if m := nameTag().FindStringSubmatchIndex(doc); len(heads) == 0 && m != nil {
		b.add(doc[m[2]:m[3]], doc[m[1]:], n > 0 || !t.r.length || endTag().MatchString(doc[m[1]:]))
	}
	if len(b.calls) == 0 || n == 0 && !strings.Contains(doc, "</") {
		return block{end: b.end, truncated: true}, yes
	}
	return b, yes
}

// add takes a call whose arguments are the tags in inside, if it is known to be whole.
func (b *block) add(name, inside string, whole bool) {
	if args, ok := xmlArgs(inside); ok && whole {
		b.calls = append(b.calls, callcode.Call{Name: name, Args: args})
	} else {
		b.truncated = true
	}
}

// xmlArgs makes one JSON object of the inside of a call's tag. It is false where
// a parameter cannot be read: a call without it would be another one.
func xmlArgs(s string) (args string, ok bool) {
	params := append(paramTag().FindAllStringSubmatch(s, -1), argTag().FindAllStringSubmatch(s, -1)...)
	if len(params) == 0 {
		return argsInside(s)
	}
	var members []string
	for _, p := range params {
		members = append(members, p[1], strings.Trim(p[2], "\n"))
	}
	return jsontext.Object(members...), true
}

// argsInside finds arguments that are no parameters: an object or text in a tag
// of their own, or an object.
func argsInside(s string) (args string, ok bool) {
	if m := argsTag().FindStringSubmatch(s); m != nil {
		inner := strings.TrimSpace(m[1])
		if strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[") {
			return inner, true
		}
		return jsontext.Quote(inner), true
	}
	if i := strings.IndexByte(s, '{'); i >= 0 {
		value := valueScan{at: i}
		if value.run(s, true) {
			return s[i:value.end], true
		}
	}
	return "{}", !strings.Contains(s, "<parameter")
}
