package parse

import (
	"regexp"
	"strings"
)

// Calls in tags, as other model families write them:
//
//	<function=NAME><parameter=KEY>value</parameter></function>
//	<invoke name="NAME"><parameter name="KEY">value</parameter></invoke>
//	<function name="NAME"><arguments>{json}</arguments></function>
//	<tool>NAME</tool><tool_input>text</tool_input>
//	<action><tool_name>NAME</tool_name><arguments><arg key="KEY">value</arg></arguments></action>
var (
	callTag  = regexp.MustCompile(`(?i)<(?:[\w:]+:)?(?:function|invoke)(?:=|\s+name\s*=\s*)["']?([^"'>\s]+)["']?\s*>`)
	paramTag = regexp.MustCompile(`(?is)<(?:[\w:]+:)?parameter(?:=|\s+name\s*=\s*)["']?([^"'>\s]+)["']?[^>]*>(.*?)</(?:[\w:]+:)?parameter>`)
	argsTag  = regexp.MustCompile(`(?is)<(?:arguments|tool_input|action_input)>(.*?)</(?:arguments|tool_input|action_input)>`)
	nameTag  = regexp.MustCompile(`(?is)<(?:tool|tool_name)>\s*([^<]+?)\s*</(?:tool|tool_name)>`)
	argTag   = regexp.MustCompile(`(?is)<arg\s+(?:key|name)\s*=\s*["']([^"']+)["']\s*>(.*?)</arg>`)
)

// readXML reads the calls of a block in tags. v begins with the opening literal.
func (t *text) readXML(v string, eof bool) (block, verdict) {
	at, n := t.closing(v, 0)
	if at < 0 {
		if !eof {
			return block{}, wait
		}
		at = len(v)
	}
	doc := strings.Clone(v[:at+n])
	b := block{end: at + n, alone: true}
	heads := callTag.FindAllStringSubmatchIndex(doc, -1)
	for i, h := range heads {
		to := len(doc)
		if i+1 < len(heads) {
			to = heads[i+1][0]
		}
		b.calls = append(b.calls, rawCall{doc[h[2]:h[3]], xmlArgs(doc[h[1]:to])})
	}
	if m := nameTag.FindStringSubmatchIndex(doc); len(heads) == 0 && m != nil {
		b.calls = append(b.calls, rawCall{doc[m[2]:m[3]], xmlArgs(doc[m[1]:])})
		return b, yes
	}
	if len(heads) == 0 || n == 0 && !strings.Contains(doc, "</") {
		return block{end: b.end, truncated: true, alone: true}, yes
	}
	return b, yes
}

// xmlArgs makes one JSON object of the inside of a call's tag.
func xmlArgs(s string) string {
	params := append(paramTag.FindAllStringSubmatch(s, -1), argTag.FindAllStringSubmatch(s, -1)...)
	if m := argsTag.FindStringSubmatch(s); m != nil && len(params) == 0 {
		if inner := strings.TrimSpace(m[1]); strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[") {
			return inner
		}
		return string(appendQuoted(nil, strings.TrimSpace(m[1])))
	}
	if len(params) == 0 {
		if i := strings.IndexByte(s, '{'); i >= 0 {
			scan := valueScan{at: i}
			if scan.run(s, false, true) {
				return s[i:scan.end]
			}
		}
		return "{}"
	}
	args := []byte{'{'}
	for i, p := range params {
		if i > 0 {
			args = append(args, ',')
		}
		args = appendQuoted(args, p[1])
		args = append(args, ':')
		args = appendQuoted(args, strings.Trim(p[2], "\n"))
	}
	return string(append(args, '}'))
}
