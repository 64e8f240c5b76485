package tools

import (
	"slices"
	"strings"
	"unicode"
)

// How servers, and those between, spoil a name that the model wrote rightly.

// oddly returns a name that holds dashes as junk or as its own, such as U+2011 for "-", or
// Markdown's backslashes. Whole, it may be an offered one; nameRun would cut it there.
func (r *Rules) oddly(raw string) (whole string, odd bool) {
	whole, _ = r.stripPrefixes(strings.Map(visible, strings.TrimSpace(unescaped.Replace(addressed(raw)))))
	return whole, strings.Contains(whole, "--") ||
		strings.ContainsFunc(raw, func(r rune) bool { return visible(r) != r || isOddDash(r) })
}

// visible is a character as it looks in a name: full-width ones are ASCII, and invisible ones are gone.
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

// dotted makes a dot of a subscript behind a namespace that rules know: functions["read"]. Behind
// any other name it holds arguments, or is unclear.
func (r *Rules) dotted(raw string) string {
	at := strings.IndexByte(raw, '[')
	if at < 1 || at > maxNameBytes || !r.namespace(addressed(raw[:at])) {
		return raw
	}
	return raw[:at] + "." + strings.TrimLeft(raw[at+1:], " \"'`")
}

// namespace reports whether a name is nothing but a prefix of names.
func (r *Rules) namespace(name string) bool {
	name = strings.TrimSpace(name)
	return name != "" && slices.ContainsFunc(r.Prefixes,
		func(p Word) bool { return strings.EqualFold(strings.TrimRight(p.Text, "."), name) })
}

// Nobody reports whether a name says nothing of a tool: it is empty, the namespace of all, or words
// of a header.
func (c *Catalog) Nobody(name string) bool {
	if c.Exact(name) {
		return false
	}
	_, refusal := c.Name(name)
	return refusal != nil && (refusal.Code == BadName || c.rules.namespace(name))
}

// Parallel begins the name under which OpenAI's larger models make several calls.
const Parallel = "multi_tool_use."

// Wraps reports whether a call may stand in the arguments of a name that is not offered: it is that of
// several, or a word that says nothing ("Golang"). Under a name of two words ("report_injection") a
// call is a text about one.
func (c *Catalog) Wraps(name string) bool {
	short, _ := c.rules.stripPrefixes(cleanName(name))
	return strings.HasPrefix(short, Parallel) || neutral(short) || c.Nobody(name) ||
		!strings.ContainsFunc(short, func(r rune) bool { return !unicode.IsLetter(r) })
}

// byRepetition finds the tool whose name was put together of several chunks, each of which held all
// of it: "readread".
func (c *Catalog) byRepetition(name string) hits {
	return c.all(func(offered string) bool {
		n := len(offered)
		return n > 0 && len(name) > n && len(name)%n == 0 && strings.Repeat(offered, len(name)/n) == name
	})
}

// byCount finds the tool behind whose name calls are counted: "read:0", as Kimi does. A count
// behind "_" may be another tool's name, so it counts for tools that only read, and only if no
// name that is offered goes on like that.
func (c *Catalog) byCount(name string) hits {
	const most = 2 // digits
	stem := strings.TrimRight(name, "0123456789")
	if n := len(name) - len(stem); n < 1 || n > most || len(stem) < 2 {
		return hits{}
	}
	sep := stem[len(stem)-1]
	stem = stem[:len(stem)-1]
	found := c.byName(stem)
	switch {
	case sep == ':':
	case sep != '_' && sep != '-', len(found.tools) != 1, c.rules.Class(found.tools[0].Name) != Read:
		return hits{}
	case len(c.all(func(offered string) bool {
		return strings.HasPrefix(key(offered), key(stem))
	}).tools) > 1:
		return hits{}
	}
	return found
}

// byServer finds a tool behind the name of an MCP server that is written with single
// separators: "mcp_files_read_file". The server's is one word, so that no tool's name is cut. It
// finds one in the namespace of all, too, from which a gateway took signs that names may not have:
// "functions_read", "read__channel__commentary".
func (c *Catalog) byServer(name string) hits {
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
		return hits{}
	}
	rest := name[len(mcp)+1:]
	at := strings.IndexFunc(rest, func(r rune) bool { return r < 0x80 && isSeparator(byte(r)) })
	if at < 1 {
		return hits{}
	}
	return c.byName(rest[at+1:])
}

func isSeparator(b byte) bool { return b == '_' || b == '-' }
