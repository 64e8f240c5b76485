// Package notation reads arguments that are whole, but written in another notation than JSON: with
// the signs of another script, the marks of a tokenizer, as a form, as XML. It says what they are as
// JSON only where the notation leaves one answer. Where a text ends is never guessed. Whether the
// object is one that a tool takes, the caller must judge. It knows no tool. Pure.
package notation

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Reading is an object that a text may mean.
type Reading struct {
	JSON  string // strictly valid, an object
	Steps []Step // what was done, in order
	Open  bool   // the text has no end of its own: more may have been to come
}

// Step is a notation that was read.
type Step struct{ Kind, From, To string }

// notation makes JSON of a text, or something closer to it: nothing where the text is not written
// so, and several texts where it may mean each of them.
type notation struct {
	kind string
	read func(text string) []string
	open bool
}

// The kinds that a caller must know: a program can look so.
const (
	Lines   = "args.lines"
	Program = "args.literal"
	Numbers = "args.numbers"
	frame   = "args.frame"
)

func (r Reading) did(kind string) bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Kind == kind })
}

// chain is the notations, the outermost first. Each is tried once on each of
// the few readings that are followed, so that time is linear.
func chain() []notation {
	return []notation{
		{kind: "args.utf16", read: wide},
		{kind: "args.transport", read: beats},
		{kind: "args.tokens", read: around},
		{kind: "args.encoded", read: encoded},
		{kind: Lines, read: quotedLines},
		{kind: "args.form", read: form, open: true},
		{kind: Lines, read: keyLines, open: true},
		{kind: "args.flags", read: flags, open: true},
		{kind: "args.xml", read: call},
		{kind: "args.xml", read: elements, open: true},
		{kind: frame, read: opened},
		{kind: "args.signs", read: signs}, // from here on a text stands in quotes of JSON, or nowhere
		{kind: "args.terminal", read: coloured},
		{kind: "args.marks", read: blankMarks},
		{kind: "args.marks", read: byteMarks},
		{kind: "args.marks", read: byteTokens},
		{kind: "args.tokens", read: around},
		{kind: "args.tokens", read: between},
		{kind: Numbers, read: numbers},
		{kind: "args.escapes", read: escapes},
		{kind: frame, read: shut, open: true},
	}
}

const (
	most        = 8  // readings that are followed
	mostMembers = 64 // that are found with a regular expression each: it may look at all that follows
)

// Of returns the objects that a text may mean, each once. Text that is valid JSON means itself, and
// has no other reading.
func Of(text string, depth int) (out []Reading) {
	if valid(text, depth) {
		return nil
	}
	open := []Reading{{JSON: text}}
	for _, n := range chain() {
		var next []Reading
		for _, r := range open {
			texts := n.read(r.JSON)
			if n.kind == frame && n.open && !r.did(frame) {
				texts = nil // an object that was begun here, and nothing else, is ended here
			}
			read := 0
			for _, t := range texts {
				step := Reading{t, append(slices.Clone(r.Steps), Step{n.kind, r.JSON, t}), r.Open || n.open}
				switch isObject := strings.HasPrefix(strings.TrimSpace(t), "{"); {
				case !isObject || !valid(t, depth):
					next, read = append(next, step), read+1
				case !slices.ContainsFunc(out,
					func(o Reading) bool { return strings.TrimSpace(o.JSON) == strings.TrimSpace(t) }):
					out = append(out, step)
				}
			}
			if read == 0 { // it may still be read otherwise
				next = append(next, r)
			}
		}
		if open = next; len(open)+len(out) > most {
			return nil
		}
	}
	return out
}

// valid reports whether text is one JSON value.
func valid(text string, depth int) bool {
	s := jsontext.Scanner{Doc: []byte(text), Depth: depth}
	s.Skip()
	return s.End() == nil
}

// stringEnd is the offset behind the JSON string that begins at s[i], or -1.
func stringEnd(s string, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// split calls outside for what stands between the JSON strings of s, and inside for each of them with
// its quotes, and joins what they return. It is false where a string does not end, or one of them fails.
func split(s string, outside, inside func(part string) (string, bool)) (string, bool) {
	var b strings.Builder
	for from := 0; from < len(s); {
		at := strings.IndexByte(s[from:], '"')
		if at < 0 {
			at = len(s) - from
		}
		part, ok := outside(s[from : from+at])
		if b.WriteString(part); !ok {
			return "", false
		}
		if from += at; from == len(s) {
			break
		}
		end := stringEnd(s, from)
		if end < 0 {
			return "", false
		}
		part, ok = inside(s[from:end])
		if b.WriteString(part); !ok {
			return "", false
		}
		from = end
	}
	return b.String(), true
}

func same(part string) (string, bool) { return part, true }

// only is text as the one reading, if it is another than before.
func only(text, before string, ok bool) []string {
	if !ok || text == before {
		return nil
	}
	return []string{text}
}
