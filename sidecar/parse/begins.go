package parse

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Begins says whether s begins as a value does that is no JSON: with what is made, with fields, with
// the line of a header, an event, an element, or a list of tokens. JSON is known by its first byte.
func (w *PrintedWords) Begins(s string, eof bool) scan.Verdict {
	short := scan.WaitUnless(eof)
	switch {
	case len(w.Keys) == 0:
		return scan.No
	case s == "":
		return short
	case s[0] == '<':
		return w.beginsTag(s, short)
	case s[0] == '[' || s[0] == '(':
		i := scan.SkipSpace(s, 1)
		if i == len(s) {
			return short
		}
		if s[i] == '\'' || s[i] == '"' && s[0] == '(' {
			return scan.Starts(s[i+1:], "<|", eof)
		}
		return w.beginsMade(s[i:], short)
	}
	is := max(w.beginsHead(s, short), scan.Starts(s, "data: {", eof))
	if is != scan.No {
		return is
	}
	return w.beginsMade(s, short)
}

func (w *PrintedWords) beginsTag(s string, short scan.Verdict) scan.Verdict {
	name := s[1:printedNameEnd(s, 1)]
	switch begins := func(tag string) bool { return strings.HasPrefix(tag, name) }; {
	case len(name)+1 == len(s) && slices.ContainsFunc(w.Tags, begins):
		return short
	case len(name)+1 == len(s), !scan.Among(name, w.Tags), !scan.IsSpace(s[len(name)+1]):
		return scan.No
	}
	return scan.Yes
}

// beginsHead looks for the key of a header's line. It makes no text: it looks at each line of a reply.
func (w *PrintedWords) beginsHead(s string, short scan.Verdict) scan.Verdict {
	s = s[:min(len(s), maxKey+1)]
	i := scan.SkipBytes(s, 0, around)
	is := scan.No
	for _, head := range w.Heads {
		n := 0
		for n < len(head) && i+n < len(s) && headByte(s[i+n]) == head[n] {
			n++
		}
		end := i + n
		if n == len(head) {
			end = scan.SkipBytes(s, end, around)
		}
		switch {
		case n == len(head) && end < len(s) && s[end] == ':':
			return scan.Yes
		case end == len(s) && end <= maxKey:
			is = short
		}
	}
	return is
}

// values are what the value of a field that stands alone begins with.
const values = "'\"[{<NTF-0123456789"

// beginsMade looks for a name and the first field: Message(role=, Message { role:, or for a field alone.
func (w *PrintedWords) beginsMade(s string, short scan.Verdict) scan.Verdict {
	end := printedNameEnd(s, 0)
	name := s[:end]
	switch {
	case name == "":
		return scan.No
	case scan.IsLower(name[0]):
		if is := w.beginsKey(s, '=', short); is != scan.Yes || end+1 < len(s) &&
			strings.IndexByte(values, s[end+1]) >= 0 {
			return is
		} else if end+1 == len(s) {
			return short
		}
		return scan.No
	case !isUpper(name):
		return scan.No
	case end == len(s), end+1 == len(s) && s[end] == ' ':
		return short
	case s[end] == '(' && (name == "Some" || name == "Ok"):
		if s = s[end+1:]; s == "" {
			return short
		}
		return w.beginsMade(s, short)
	case s[end] == '(':
		return w.beginsKey(s[end+1:], '=', short)
	case s[end] == '{', strings.HasPrefix(s[end:], " {"):
		return w.beginsKey(s[end+strings.IndexByte(s[end:], '{')+1:], ':', short)
	}
	return scan.No
}

// beginsKey looks for one of the keys, and the sign behind it.
func (w *PrintedWords) beginsKey(s string, sign byte, short scan.Verdict) scan.Verdict {
	i := scan.SkipSpace(s, 0)
	end := i
	for end < len(s) && scan.IsWord(s[end]) {
		end++
	}
	key := s[i:end]
	switch {
	case end < len(s):
		return scan.When(s[end] == sign && scan.Among(key, w.Keys))
	case key == "":
		return short
	}
	for _, k := range w.Keys { // one look at most of them, since each line of a reply comes here
		if k != "" && k[0] == key[0] && strings.HasPrefix(k, key) {
			return short
		}
	}
	return scan.No
}
