package parse

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Frame describes calls between the literals of a strategy of kind frame.
type Frame struct {
	// ways to write a call; the first that fits counts, single slots first
	Calls    []Template
	Argument Template // one argument; empty: all of them as JSON
	Quote    string   // replaces the quotes of JSON in arguments; empty: none does
}

// Template is a text with slots: <function={name}>{arguments}</function>. A blank matches any white
// space.
type Template []segment

// segment is a slot or a literal; an empty literal is white space.
type segment struct{ slot, lit string }

// slots are the names of all slots.
var slots = []string{"name", "arguments", "key", "value", "type", "any", "object", "tags", "code", "pairs"}

// wholeSlots must be the only slot of a template. They are read to their own end.
var wholeSlots = []string{"object", "tags", "code", "pairs"}

// whole returns the slot of a template that is one of wholeSlots, or "".
func (t Template) whole() string {
	if len(t) == 1 && slices.Contains(wholeSlots, t[0].slot) {
		return t[0].slot
	}
	return ""
}

// reads reports whether a call may be written as the slot.
func (f *Frame) reads(slot string) bool {
	return slices.ContainsFunc(f.Calls, func(t Template) bool { return t.whole() == slot })
}

// NewTemplate parses a template.
func NewTemplate(s string) (t Template, err error) {
	for s != "" {
		open := strings.IndexAny(s, "{ ")
		switch {
		case open < 0:
			return append(t, segment{lit: s}), nil
		case open > 0:
			t = append(t, segment{lit: s[:open]})
		case s[0] == ' ':
			t, open = append(t, segment{}), len(s)-len(strings.TrimLeft(s, " "))
		default:
			slot, _, closed := strings.Cut(s[1:], "}")
			if !closed || !slices.Contains(slots, slot) {
				t, open = append(t, segment{lit: "{"}), 1
				break
			}
			if n := len(t); n > 0 && t[n-1].slot != "" && t[n-1].slot != "name" { // which ends by itself
				return nil, fmt.Errorf("{%s} stands right behind {%s}; a literal must part them", slot, t[n-1].slot)
			}
			t, open = append(t, segment{slot: slot}), len(slot)+2
		}
		s = s[open:]
	}
	return t, nil
}

// String returns the template as it is written.
func (t Template) String() string {
	var b strings.Builder
	for _, s := range t {
		if s.slot != "" {
			b.WriteString("{" + s.slot + "}")
		} else {
			b.WriteString(cmp.Or(s.lit, " "))
		}
	}
	return b.String()
}

// has reports whether the template has a slot.
func (t Template) has(slot string) bool {
	return slices.ContainsFunc(t, func(s segment) bool { return s.slot == slot })
}

// prefix returns the segments in front of the first slot: literals and white space.
func (t Template) prefix() Template {
	if n := slices.IndexFunc(t, func(s segment) bool { return s.slot != "" }); n >= 0 {
		return t[:n]
	}
	return t
}

// opening returns the prefix as text, with a blank for white space.
func (t Template) opening() string { return t.prefix().String() }

// closing returns the prefix for a known key: </{key}> closes <path>.
func (t Template) closing(key string) Template {
	if t.has("key") {
		t = slices.Clone(t)
		for i, s := range t {
			if s.slot == "key" {
				t[i] = segment{lit: key}
			}
		}
	}
	return t.prefix()
}

// begins reports whether a way to write a call begins with lit.
func (f *Frame) begins(lit string) bool {
	return slices.ContainsFunc(f.Calls, func(t Template) bool { return strings.HasPrefix(t.opening(), lit) })
}

// Check reports the first mistake in a frame.
func (f *Frame) Check() error {
	if len(f.Calls) == 0 {
		return errors.New("needs call: how a call is written")
	}
	for _, c := range f.Calls {
		switch {
		case c.whole() != "":
		case !c.has("name"):
			return errors.New("call needs {name}")
		case slices.ContainsFunc(wholeSlots, c.has):
			return fmt.Errorf("a slot such as {%s} is all of a call", wholeSlots[0])
		}
	}
	if a := f.Argument; len(a) > 0 && (!a.has("key") || !a.has("value") || a[0].lit == "") {
		return errors.New("argument needs {key} and {value}, and begins with a literal")
	}
	return nil
}

// maxCalls bounds the calls of one candidate, and the arguments of one call.
const maxCalls = 128

// framing reads the calls of one frame from a text that may still grow.
type framing struct {
	*Frame
	c       *tools.Catalog
	tool    string // of the call that is read
	v       string
	openers []string
	closers []string
	eof     bool
	whole   bool // the text is: the reply has ended, and was not cut
	own     bool // in the model's own format, which may be damaged
	cut     bool // the text ends within a call
	depth   int  // of the object or list in an argument that is read; 0: none
	base    int  // offset of v in the field
	open    openValues
}

// openValues maps what closes a value to the offset in the field from which on nothing closes it, so
// that a text full of open values is searched once.
type openValues map[closing]int

type closing struct {
	*Frame
	literals string // what closes the value, follows it, or closes the frame
}

func (f *framing) closing(value, behind Template) closing {
	literals := append([]string{value.opening(), behind.opening()}, f.closers...)
	return closing{f.Frame, strings.Join(literals, "\x00")}
}

// readFrame reads the calls in v. from is the end of the opening literal.
func (t *text) readFrame(v string, from int, eof bool) (block, verdict) {
	if t.openValues == nil {
		t.openValues = openValues{}
	}
	f := framing{Frame: &t.open.st.Frame, c: t.r.c, v: v, openers: t.open.st.Open, closers: t.closers,
		eof: eof, whole: eof && t.r.ended == tools.Ended, base: t.base, open: t.openValues,
		own: t.open.st.Own}
	b := block{}
	first := f.Calls[0]
	if f.begins(t.open.lit) { // it is part of the call itself
		from = 0
	}
	bare := first[0].slot != "" && len(f.closers) > 0 // one call fills the frame
	for i := from; len(b.calls) < maxCalls; {
		at := scan.SkipSpace(v, i)
		n, is := scan.StartsAnyFold(v[at:], f.closers, eof)
		switch {
		case is == yes:
			b.end = at + n
			return b, scan.When(len(b.calls) > 0)
		case is == wait, at == len(v) && !eof:
			return block{}, wait
		case at == len(v):
			b.end = at
			return b, scan.When(len(b.calls) > 0)
		}
		if f.own && len(b.calls) > 0 && len(f.closers) > 0 { // a tag too many, or a wrong one, says nothing
			if end, is := closingTag(v, at, eof); is == wait || !eof && v[at:] == "<" {
				return block{}, wait
			} else if is == yes {
				i = end
				continue
			}
		}
		c, end, is := f.call(at)
		switch {
		case bare && len(b.calls) > 0 && f.opens(at) == no:
			return block{end: at}, no
		case is == wait:
			return block{}, wait
		case f.cut:
			b.truncated, b.end = true, len(v)
			return b, yes
		case is == no && len(b.calls) > 0 && (len(f.closers) == 0 || f.own && f.opens(at) != no):
			b.end = i
			return b, scan.WaitOr(len(f.closers) == 0 || f.opens(at) == yes)
		case is == no && f.own && len(b.calls) == 0 && from > 0 && first[0].lit != "":
			if i, _, is = f.find(first.prefix(), at+1); is != yes { // words in front of the calls say nothing
				return block{end: at}, is
			}
			continue
		case is == no:
			return block{end: at}, no
		}
		b.calls, i = append(b.calls, c), end
		b.end = i
	}
	return b, yes
}

// opens reports whether the frame opens at v[i:], once more or in place of its end.
func (f *framing) opens(i int) verdict {
	_, is := scan.StartsAnyFold(f.v[i:], f.openers, f.eof)
	return is
}

// goesOn reports whether the frame goes on at v[i:], with its end, another call or another frame.
func (f *framing) goesOn(i int) verdict {
	i = scan.SkipSpace(f.v, i)
	_, is := scan.StartsAnyFold(f.v[i:], f.closers, f.eof)
	if is == no {
		is = f.opens(i)
	}
	if is == no {
		_, is = closingTag(f.v, i, f.eof)
	}
	for _, t := range f.Calls {
		if is == no {
			_, is = f.starts(t.prefix(), i)
		}
	}
	return is
}

// call reads a call at v[i:] in the first way that fits.
func (f *framing) call(i int) (c Call, end int, is verdict) {
	for _, t := range f.Calls {
		if c, end, is = f.match(t, i); is != no || f.cut {
			return c, end, is
		}
	}
	return c, end, no
}

func (f *framing) match(t Template, i int) (c Call, end int, is verdict) {
	c.Args = "{}"
	tail := -1 // where what ends the call begins
	for n := 0; n < len(t); n++ {
		s, at := t[n], i
		if tail < 0 && len(t[n:].prefix()) == len(t[n:]) {
			tail = i
		}
		switch s.slot {
		case "":
			if i, is = f.literal(s.lit, i); is == no && f.own && c.Name != "" {
				if skip := len(t[n:].prefix()); n+skip < len(t) && t[n+skip].slot == "arguments" {
					if i, is = f.damaged(t[n:n+skip], at); is == yes {
						n += skip - 1
					}
				} else if tail >= 0 { // signs in front of what ends the call
					i, is = f.literal(s.lit, f.skip(at, ")]}>, \n"))
				}
			}
		case "name":
			i, is = f.name(t[n+1:].prefix(), i)
			c.Name = f.tool
		case "arguments":
			if c.Args, i, is = f.arguments(t[n+1:].prefix(), i); is == yes && n+1 == len(t) {
				i = f.skip(i, "}])") // closers too many
			}
		default:
			_, i, is = f.upTo(t[n+1:].prefix(), i)
		}
		if is == no && f.own && !f.cut && tail >= 0 { // what ends the call is missing
			if f.whole && tail == len(f.v) && gjson.Valid(c.Args) {
				return c, tail, yes
			}
			return c, tail, f.goesOn(tail)
		}
		if is != yes {
			return c, i, is
		}
	}
	return c, i, yes
}

// name reads the name of the tool at v[i:], in front of the template next. In the model's own format it may
// stand in quotes or in a line of its own.
func (f *framing) name(next Template, i int) (end int, is verdict) {
	const around = "\"' \r\n"
	from := f.skip(i, around)
	quoted := from > i && isQuote(f.v[from-1])
	size := len(scan.Name(f.v[from:min(len(f.v), from+longestName+1)]))
	end = from + size
	f.tool = strings.Clone(f.v[from:end])
	switch {
	case size > longestName:
		return end, no
	case end == len(f.v) && !f.eof:
		return end, wait
	}
	for f.own && end < len(f.v) && strings.IndexByte(around, f.v[end]) >= 0 {
		_, begins := f.starts(next, end)
		ofName := quoted && len(next) > 0 && next[0].lit == "" && isQuote(f.v[end])
		if begins != no && !ofName {
			break
		}
		end++
	}
	return end, scan.When(size > 0)
}

// literal reads a literal at v[i:], in any case and with any quotes, or white space.
func (f *framing) literal(lit string, i int) (int, verdict) {
	if lit == "" {
		return f.blank(i)
	}
	is := scan.StartsFold(f.v[i:], lit, f.eof)
	if is == no && f.own && strings.Contains(lit, `"`) {
		is = scan.StartsFold(f.v[i:], strings.ReplaceAll(lit, `"`, "'"), f.eof)
	}
	return i + len(lit), is
}

// skip returns the offset behind those of some signs at v[i:] that a model may write too many of.
func (f *framing) skip(i int, signs string) int {
	if !f.own {
		return i
	}
	return scan.SkipBytes(f.v, i, signs)
}

// damaged returns where the arguments begin behind v[i:], if only the beginning of literals and signs stand
// in front: <function=read={"path":"a"}, <function=read <parameter=path>.
func (f *framing) damaged(lits Template, i int) (int, verdict) {
	const most = 64
	for _, r := range lits.opening() {
		if n, is := utf8.RuneLen(r), scan.StartsFold(f.v[i:], string(r), f.eof); is == yes {
			i += n
		} else if r != ' ' {
			break
		}
	}
	i = scan.SkipBytes(f.v[:min(len(f.v), i+most)], i, " \t\r\n=:,>([")
	if i == len(f.v) {
		return i, scan.WaitUnless(f.eof)
	}
	_, is := f.starts(f.Argument.prefix(), i)
	if f.v[i] == '{' {
		is = yes
	}
	return i, is
}

// blank returns the end of the white space at v[i:]. Some models write a line break there as an escape.
func (f *framing) blank(i int) (int, verdict) {
	const escaped = `\n`
	for {
		i = scan.SkipSpace(f.v, i)
		switch scan.Starts(f.v[i:], escaped, f.eof || i == len(f.v)) {
		case wait:
			return i, wait
		case no:
			return i, yes
		}
		i += len(escaped)
	}
}

// starts reports whether v[i:] begins with the prefix of a template.
func (f *framing) starts(fixed Template, i int) (end int, is verdict) {
	is = scan.When(len(fixed) > 0)
	for _, s := range fixed {
		if i, is = f.literal(s.lit, i); is != yes {
			break
		}
	}
	return i, is
}

// find returns where prefix first stands at or after from, and its end; -1 if it does not, or wait if it
// still may.
func (f *framing) find(fixed Template, from int) (at, end int, is verdict) {
	for at = from; at < len(f.v); at++ {
		if len(fixed) > 0 && fixed[0].lit != "" && !scan.IsWord(fixed[0].lit[0]) { // a letter has two cases
			n := strings.IndexByte(f.v[at:], fixed[0].lit[0])
			if n < 0 {
				break
			}
			at += n
		}
		if end, is = f.starts(fixed, at); is != no {
			return at, end, is
		}
	}
	return -1, -1, scan.WaitUnless(f.eof)
}

// upTo returns the short text at v[i:] in front of the first literal of prefix.
func (f *framing) upTo(fixed Template, i int) (string, int, verdict) {
	const most = 256
	if n := slices.IndexFunc(fixed, func(s segment) bool { return s.lit != "" }); n >= 0 {
		fixed = fixed[:n+1]
	}
	at, _, is := f.find(fixed, i)
	if is == yes && at-i < most {
		return f.v[i:at], at, yes
	}
	f.cut = f.eof && is != yes && len(f.v)-i < most
	return "", i, scan.WaitUnless(f.eof || len(f.v)-i >= most)
}

// arguments reads the arguments at v[i:], in front of the template behind.
func (f *framing) arguments(behind Template, i int) (args string, end int, is verdict) {
	if len(f.Argument) > 0 && !strings.HasPrefix(f.v[scan.SkipSpace(f.v, i):], "{") {
		return f.keyed(behind, i)
	}
	i = scan.SkipSpace(f.v, i)
	switch {
	case i == len(f.v):
		return "{}", i, scan.WaitUnless(f.eof)
	case f.v[i] == '"' && f.own: // the object is a text of JSON
		text := jsontext.Scanner{Doc: []byte(f.v[i:])}
		if at := text.Skip(); text.Err == nil {
			if end, is = f.notation(behind, i+at.To); is == no {
				is = yes
			}
			if end > i+at.To || !strings.HasPrefix(f.v[scan.SkipSpace(f.v, end):], ":") {
				return strings.Clone(f.v[i:end]), end, is
			} // else it is a key, and the braces are lost
		}
		f.cut = f.eof
		return "", i, scan.WaitOr(f.eof)
	case f.v[i] == '&': // an entity of HTML stands for the first quote
		if end, _, is = f.find(behind, i); is != yes {
			f.cut = f.eof
			return "", i, is
		}
		return strings.Clone(f.v[i:end]), end, yes
	case f.v[i] != '{':
		if end, is = f.notation(behind, i); is != no {
			return strings.Clone(f.v[i:end]), end, is
		}
		return "{}", i, scan.When(len(behind) > 0) // and a literal must follow
	case f.Quote != "":
		return f.quoted(i)
	}
	value := harmony.Scan{At: i}
	if !value.Run(f.v, f.eof) {
		f.cut = f.eof
		return "", i, scan.WaitOr(f.eof)
	}
	if end, is = f.notation(behind, value.End); is == no {
		is = yes
	}
	return strings.Clone(f.v[i:end]), end, is
}

// notation returns where a mark ends arguments that are written in another way than as an object, or go on
// behind one at v[i:]; i if none does. The tool is an offered one, and no other call begins in between.
func (f *framing) notation(behind Template, i int) (end int, is verdict) {
	marks := f.closers
	isMark := func(m string) bool { return m[0] == '<' || m[0] == '`' }
	if list := strings.Fields(behind.opening()); len(list) > 0 && isMark(list[0]) {
		marks = append(list[:1], marks...)
	} else if len(list) > 0 {
		return i, no
	}
	marks = slices.DeleteFunc(slices.Clone(marks), func(m string) bool { return !isMark(m) })
	if _, ends := scan.StartsAnyFold(f.v[f.skip(i, ")]}>, \n"):], marks, f.eof); !f.own || len(marks) == 0 ||
		!f.c.Exact(f.tool) || ends != no || f.goesOn(i) != no {
		return i, no
	}
	end, _ = scan.FindAnyFold(f.v, i, marks, f.eof)
	if end < 0 {
		return i, scan.WaitUnless(f.eof)
	}
	if at, _ := scan.FindAnyFold(f.v[:end], i, f.openers, true); at >= 0 {
		return i, no
	}
	return end, yes
}

// quoted reads an object at v[i:] with strings in f.Quote and bare keys.
func (f *framing) quoted(i int) (args string, end int, is verdict) {
	var out []byte
	var open []byte // the brackets that are open
	for i < len(f.v) {
		switch scan.Starts(f.v[i:], f.Quote, f.eof) {
		case wait:
			return "", i, wait
		case yes:
			from := i + len(f.Quote)
			n := strings.Index(f.v[from:], f.Quote)
			if n < 0 {
				i = len(f.v)
				continue
			}
			out = jsontext.AppendString(out, f.v[from:from+n])
			i = from + n + len(f.Quote)
			continue
		}
		b := f.v[i]
		text := b == '"'
		if b == '\'' { // of another notation, where a text may begin
			front := bytes.TrimRight(out, " \n")
			text = len(front) > 0 && strings.IndexByte(":,{[", front[len(front)-1]) >= 0
		}
		if text {
			from := i
			for i++; i < len(f.v) && f.v[i] != b; i++ {
				if f.v[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(f.v))
			out = append(out, f.v[from:i]...)
			continue
		}
		out = append(out, b)
		i++
		switch b {
		case '{', '[':
			open = append(open, b)
		case '}', ']':
			if open = open[:len(open)-1]; len(open) == 0 {
				return string(out), i, yes
			}
		}
		if b == '{' || b == ',' && open[len(open)-1] == '{' {
			n := strings.IndexAny(f.v[i:], ":}\"")
			if n < 0 || f.v[i+n] != ':' || strings.HasPrefix(strings.TrimSpace(f.v[i:]), f.Quote) ||
				strings.ContainsAny(f.v[i:i+n], "'‘’“”") { // the repair of the arguments reads other quotes
				continue
			}
			out = jsontext.AppendString(out, strings.TrimSpace(f.v[i:i+n]))
			i += n
		}
	}
	f.cut = f.eof
	return "", i, scan.WaitOr(f.eof)
}

// keyed reads arguments that are written one by one.
func (f *framing) keyed(behind Template, i int) (args string, end int, is verdict) {
	var all []keyedArgument
	for range maxCalls {
		at, is := f.blank(i)
		if is == wait || at == len(f.v) && !f.eof {
			return "", at, wait
		}
		_, is = f.starts(behind, at)
		if is == no && f.own {
			_, is = scan.StartsAnyFold(f.v[at:], f.closers, f.eof)
		}
		if is != no {
			return f.object(all), at, is
		}
		a, next, is := f.argument(behind, at)
		switch {
		case is == wait || f.cut:
			return "", at, is
		case is == no:
			f.cut = f.eof && at == len(f.v) && (f.own || len(f.closers) > 0) // it may lack arguments
			return f.object(all), at, scan.When(!f.cut)
		}
		all, i = append(all, a), next
	}
	return "", i, no
}

// keyedArgument is one of these. Its kind tells whether the value is a text; "": unknown.
type keyedArgument struct{ key, value, kind string }

// object returns the arguments as JSON. If a line of a text, or a text of one line, goes on with another
// parameter that the call lacks, the text lacks its closing tag and ends there.
func (f *framing) object(all []keyedArgument) string {
	has := func(key string) bool {
		return slices.ContainsFunc(all, func(a keyedArgument) bool { return a.key == key })
	}
	for i := 0; i < len(all); i++ {
		text := framing{Frame: f.Frame, v: all[i].value, eof: true}
		for at, is := 0, yes; is == yes; {
			if at, _, is = text.find(f.Argument.prefix(), at+1); is != yes {
				break
			}
			key, from, begins := text.argumentAt(at)
			if begins == yes && f.c.Takes(f.tool, key) && !has(key) &&
				(text.v[at-1] == '\n' || !strings.Contains(text.v[:at], "\n")) {
				all[i].value = strings.TrimSuffix(text.v[:at], "\n")
				rest := strings.TrimPrefix(text.v[from:], "\n")
				all = slices.Insert(all, i+1, keyedArgument{key, rest, all[i].kind})
				break
			}
		}
	}
	for i := range all {
		all[i].value = f.unspoilt(all[i].value)
	}
	list := f.depth > 0 && !slices.ContainsFunc(all, func(a keyedArgument) bool { return a.key != listItem })
	members, end := []byte{'{'}, byte('}')
	if list {
		members, end = []byte{'['}, ']'
	}
	for i, a := range all {
		if i > 0 {
			members = append(members, ',')
		}
		if !list {
			members = append(jsontext.AppendString(members, a.key), ':')
		}
		members = append(members, f.json(a)...)
	}
	return string(append(members, end))
}

// unspoilt returns a value without a closing tag at its end that is spelt wrongly: </parameter/>.
func (f *framing) unspoilt(value string) string {
	n := slices.IndexFunc(f.Argument, func(s segment) bool { return s.slot == "value" })
	if !f.own || n+1 >= len(f.Argument) || !strings.HasPrefix(f.Argument[n+1].lit, "</") {
		return value
	}
	stem := strings.TrimSuffix(f.Argument[n+1].lit, ">")
	at := strings.LastIndex(value, stem)
	if at < 0 || len(stem) < len("</x") || at > 0 && value[at-1] != '\n' {
		return value
	}
	rest := strings.TrimLeft(value[at+len(stem):], "/_abcdefghijklmnopqrstuvwxyz0123456789")
	if own := value[at:] == stem+">"; own || rest != "" && rest != ">" {
		return value
	}
	return strings.TrimSuffix(value[:at], "\n")
}

// listItem is the key of each item of a list that is written like arguments.
const listItem = "item"

// nested reads an object or a list at v[i:] that is written like arguments, where the tool's schema wants
// one, up to what closes it. Only tags that are named after what they hold can nest.
func (f *framing) nested(key string, tail Template, i int) (value string, end int, is verdict) {
	if !tail.has("key") || f.depth == maxNested || f.depth == 0 && !f.c.Nests(f.tool, key) {
		return "", i, no
	}
	if end, is = f.blank(i); is == yes {
		_, is = f.starts(f.Argument.prefix(), end)
	}
	closing := tail.closing(key)
	if is == yes {
		if _, empty := f.starts(closing, end); empty != no {
			return "", end, empty
		}
		f.depth++
		value, end, is = f.keyed(closing, end)
		f.depth--
	}
	if is == yes {
		_, is = f.starts(closing, end)
	}
	f.cut = f.cut && is != no
	return value, end, is
}

// maxNested bounds how deep objects and lists may nest.
const maxNested = 32

// json returns the value of an argument as JSON.
func (f *framing) json(a keyedArgument) string {
	switch {
	case a.kind == "" && f.depth == 0:
		return f.c.Value(f.tool, a.key, a.value)
	case a.kind == "" || a.kind == "string" || a.kind == "true" || !gjson.Valid(a.value):
		return jsontext.Quote(a.value)
	}
	return a.value
}

// argument reads an argument at v[i:].
func (f *framing) argument(behind Template, i int) (a keyedArgument, end int, is verdict) {
	open := false
	for n, s := range f.Argument {
		if open { // the closing tag of the value is missing
			break
		}
		switch s.slot {
		case "":
			begun := n > 0 && f.eof && scan.StartsFold(f.v[i:], s.lit, false) == wait
			if i, is = f.literal(s.lit, i); is == no {
				f.cut = begun
			}
		case "value":
			closing := f.Argument[n+1:].closing(a.key)
			value, end, inner := f.nested(a.key, f.Argument[n+1:], i)
			switch inner {
			case wait:
				return a, i, wait
			case yes:
				a.value, a.kind, i, is = value, "json", end, yes
				continue
			}
			if a.value, i, is = f.value(closing, behind, i); is == yes && len(closing) > 0 {
				_, closed := f.starts(closing, i)
				open = closed == no
			}
		case "key":
			if a.key != "" { // the key again, in the closing tag
				i, is = f.literal(a.key, i)
				break
			}
			a.key, i, is = f.upTo(f.Argument[n+1:].prefix(), i)
			a.key = strings.TrimSpace(a.key)
		case "type":
			a.kind, i, is = f.upTo(f.Argument[n+1:].prefix(), i)
		default:
			_, i, is = f.upTo(f.Argument[n+1:].prefix(), i)
		}
		if is != yes {
			return a, i, is
		}
	}
	return a, i, yes
}

// value returns the text at v[i:] in front of the literal that closes it. The frame must continue behind
// it, with another argument, with behind or with its end, so a text may contain that literal. Without
// one, the text ends where the frame continues.
func (f *framing) value(closing, behind Template, i int) (text string, end int, is verdict) {
	if f.eof && len(closing) > 0 && len(f.open) > 0 {
		if from, is := f.open[f.closing(closing, behind)]; is && from <= f.base+i {
			closing = nil
		}
	}
	for at := i; at <= len(f.v); at++ {
		next := at
		if len(closing) > 0 {
			if at, next, is = f.find(closing, at); is == wait {
				return "", i, wait
			} else if is == no {
				break
			}
			if next, is = f.blank(next); is == wait {
				return "", i, wait
			}
		} else if at == len(f.v) {
			break
		}
		switch f.continues(behind, next) {
		case wait:
			return "", i, wait
		case yes:
			at = f.frameEnd(i, at)
			text = f.v[i:at]
			if data, is := strings.CutPrefix(text, "<![CDATA["); is {
				if data, is = strings.CutSuffix(data, "]]>"); is { // of XML
					return strings.Clone(data), at, yes
				}
			}
			if own, is := strings.CutPrefix(text, "\n"); is { // it stands in lines of its own
				text = strings.TrimSuffix(own, "\n")
			} else if len(closing) == 0 {
				text = strings.TrimSpace(text)
			}
			return strings.Clone(text), at, yes
		}
	}
	if f.eof && len(closing) > 0 { // nothing closes it, or any value behind it
		f.open[f.closing(closing, behind)] = f.base + i
		return f.value(nil, behind, i)
	}
	f.cut = f.eof
	return "", i, scan.WaitOr(f.eof)
}

// frameEnd returns where the frame ends within v[i:to] and another begins: there the value lacks what closes
// it. Without such a place it returns to.
func (f *framing) frameEnd(i, to int) int {
	if !f.own || len(f.closers) == 0 {
		return to
	}
	at, n := scan.FindAnyFold(f.v[:to], i, f.closers, true)
	if at >= 0 && f.opens(scan.SkipSpace(f.v, at+n)) == yes {
		return at
	}
	return to
}

// continues reports whether the frame continues behind an argument at v[i:].
func (f *framing) continues(behind Template, i int) verdict {
	if i == len(f.v) {
		return scan.WaitOr(f.eof)
	}
	_, is := scan.StartsAnyFold(f.v[i:], f.closers, f.eof)
	if is == no && f.own {
		is = f.opens(i)
	}
	if is == no {
		_, _, is = f.argumentAt(i)
	}
	if is == no {
		_, is = f.starts(behind, i)
	}
	return is
}

// argumentAt reports whether an argument begins at v[i:], and where its value does. A sign alone may
// stand in a text, too.
func (f *framing) argumentAt(i int) (key string, value int, is verdict) {
	for n, s := range f.Argument {
		switch s.slot {
		case "":
			i, is = f.literal(s.lit, i)
		case "key":
			end := scan.NameEnd(f.v, i)
			key = f.v[i:end]
			if is, i = scan.When(end > i), end; i == len(f.v) {
				is = scan.WaitUnless(f.eof)
			}
		case "value":
			return key, i, yes
		default:
			_, i, is = f.upTo(f.Argument[n+1:].prefix(), i)
		}
		if is != yes {
			return key, i, is
		}
	}
	return key, i, no
}
