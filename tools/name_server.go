package tools

import (
	"slices"
	"strings"
	"unicode"
)

// The functions below undo what servers and gateways do to a correct name.

// oddSpelling returns a name with dashes that may be junk or its own, such as U+2011 for "-", or with
// Markdown's backslashes. nameRun would cut it there, but it may be offered as a whole.
func (r *Rules) oddSpelling(raw string) (whole string, odd bool) {
	plain := strings.TrimSpace(markdownEscapes.Replace(addressed(raw)))
	whole, _ = r.stripPrefixes(strings.Map(visible, plain))
	return whole, strings.Contains(whole, "--") ||
		strings.ContainsFunc(raw, func(r rune) bool { return visible(r) != r || isOddDash(r) })
}

// visible returns a character as it looks: full-width ones become ASCII, invisible ones -1.
func visible(r rune) rune {
	const wide, narrow = '！', '!'
	switch {
	case unicode.Is(unicode.Cf, r):
		return -1
	case r >= wide && r <= '～':
		return r - wide + narrow
	}
	return r
}

func isOddDash(r rune) bool { return r != '-' && unicode.Is(unicode.Pd, r) }

// subscriptToDot replaces a subscript behind a known namespace by a dot: functions["read"]. Behind any
// other name it is unclear.
func (r *Rules) subscriptToDot(raw string) string {
	at := strings.IndexByte(raw, '[')
	if at < 1 || at > maxNameBytes || !r.namespace(addressed(raw[:at])) {
		return raw
	}
	return raw[:at] + "." + strings.TrimLeft(raw[at+1:], " \"'`")
}

// namespace reports whether a name is only a prefix of names.
func (r *Rules) namespace(name string) bool {
	name = strings.TrimSpace(name)
	return name != "" && slices.ContainsFunc(r.Prefixes,
		func(p Word) bool { return strings.EqualFold(strings.TrimRight(p.Text, "."), name) })
}

// NamesNoTool reports whether a name is empty, the namespace of all tools, or words of a header.
func (c *Catalog) NamesNoTool(name string) bool {
	if c.Exact(name) {
		return false
	}
	_, refusal := c.Name(name)
	return refusal != nil && (refusal.Code == BadName || c.rules.namespace(name))
}

// Parallel begins the name under which OpenAI's larger models make several calls.
const Parallel = "multi_tool_use."

// Wraps reports whether a call may stand in the arguments of a name that is not offered: a wrapper of
// several, or one neutral word ("Golang"). Under a name of two words ("report_injection") a call is a
// text about one.
func (c *Catalog) Wraps(name string) bool {
	short, _ := c.rules.stripPrefixes(cleanName(name))
	return strings.HasPrefix(short, Parallel) || neutral(short) || c.NamesNoTool(name) ||
		!strings.ContainsFunc(short, func(r rune) bool { return !unicode.IsLetter(r) })
}

// byRepetition finds the tool whose name was joined from chunks that each had all of it: "readread".
func (c *Catalog) byRepetition(name string) nameMatches {
	return c.all(func(offered string) bool {
		n := len(offered)
		return n > 0 && len(name) > n && len(name)%n == 0 && strings.Repeat(offered, len(name)/n) == name
	})
}

// byCount finds the tool whose calls are numbered: "read:0", as Kimi does. A number behind "_" may be
// part of a name, so it counts for tools that read only, and if no offered name continues like that.
func (c *Catalog) byCount(name string) nameMatches {
	const most = 2 // digits
	stem := strings.TrimRight(name, "0123456789")
	if n := len(name) - len(stem); n < 1 || n > most || len(stem) < 2 {
		return nameMatches{}
	}
	sep := stem[len(stem)-1]
	stem = stem[:len(stem)-1]
	found := c.byName(stem)
	switch {
	case sep == ':':
	case sep != '_' && sep != '-', len(found.tools) != 1, c.rules.Class(found.tools[0].Name) != Read:
		return nameMatches{}
	case len(c.all(func(offered string) bool {
		return strings.HasPrefix(key(offered), key(stem))
	}).tools) > 1:
		return nameMatches{}
	}
	return found
}

// byServer finds a tool behind the one-word name of an MCP server with single separators:
// "mcp_files_read_file"; also in the namespace of all tools, with its signs replaced by a gateway:
// "functions_read", "read__channel__commentary".
func (c *Catalog) byServer(name string) nameMatches {
	for _, token := range [...]string{"__channel__", "__constrain__", "__message__"} {
		if at := strings.Index(name, token); at > 0 {
			name = name[:at]
		}
	}
	for _, p := range c.rules.Prefixes {
		if n := len(p.Text); n > 0 && p.Text[n-1] == '.' && len(name) > n && strings.EqualFold(name[:n-1],
			p.Text[:n-1]) && isSeparator(name[n-1]) {
			return c.byName(name[n:])
		}
	}
	if found := c.byName(name); len(found.tools) > 0 {
		return found
	}
	const mcp = "mcp"
	if len(name) <= len(mcp) || !strings.EqualFold(name[:len(mcp)], mcp) || !isSeparator(name[len(mcp)]) {
		return nameMatches{}
	}
	rest := name[len(mcp)+1:]
	at := strings.IndexFunc(rest, func(r rune) bool { return r < 0x80 && isSeparator(byte(r)) })
	if at < 1 {
		return nameMatches{}
	}
	return c.byName(rest[at+1:])
}

func isSeparator(b byte) bool { return b == '_' || b == '-' }
