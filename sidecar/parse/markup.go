package parse

import (
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// markup looks for control tokens, whole or stripped.
func (t *text) markup(v string, j int, eof bool) (opening, verdict) {
	switch {
	case t.r.s.harmony == nil:
		return opening{}, no
	case t.unmarked:
		return t.plainHeader(v, j, eof)
	}
	if t.grammar.Alphabet.Leads(v[j]) {
		if tok, n, is := t.tokenAt(v[j:], eof); is != no {
			// the rest of a header
			if is == yes && tok == harmony.Constrain && (t.firstAt(v, j) || t.lineStart(v, j)) {
				return opening{markup: true, begin: func(t *text, _ string,
					_ int) {
					t.openHeader(harmony.FromStart)
				}}, yes
			}
			if is == yes {
				switch t.inQuotation(v, j, j+n, eof) {
				case yes:
					return opening{n: n}, no
				case wait:
					is = wait
				}
			}
			return opening{n: n, markup: true, begin: (*text).beginToken}, is
		}
	}
	if t.grammar == t.r.s.header {
		if bare, is := t.grammar.Bracketed(v[j:], eof); is != no {
			return opening{markup: true, begin: func(t *text, _ string,
				_ int) {
				t.grammar, t.ahead.end = bare, -1
			}}, is
		}
	}
	switch {
	case v[j] == '<':
		return t.thinkTag(v, j, eof)
	case t.heads(v, j):
		return t.recipient(v[j:], 0, eof)
	case v[j] == 'a':
		return t.gluedWord(v, j, eof)
	}
	return opening{}, no
}

// heads says that a header may begin at v[j:]: at the start of a word, or behind a letter of another
// script, where gluedWord looks for the word assistant.
func (t *text) heads(v string, j int) bool {
	before := t.before(v, j)
	return (!scan.IsWord(before) || before >= utf8.RuneSelf &&
		!strings.HasPrefix(v[j:], harmony.Assistant)) && t.r.s.header.Heads(v[j:])
}

// plainHeader looks for a header without control tokens in the body of a message.
func (t *text) plainHeader(v string, j int, eof bool) (opening, verdict) {
	if !t.heads(v, j) {
		return opening{}, no
	}
	switch h, is := t.r.s.header.Bare(v[j:], t.r.names.Known, eof); {
	case is == wait:
		return opening{}, wait
	case is == no, h.Tokens, !t.r.names.Known(h.Name):
		return opening{}, no
	}
	return t.recipient(v[j:], 0, eof)
}

// literal looks for the opening literals of blocks.
func (t *text) literal(v string, j int, eof bool) (opening, verdict) {
	again := t.blockAt(j)
	for _, op := range t.r.s.openers[scan.Lower(v[j])] {
		if again && op.st.Priority >= t.tried.Priority {
			continue
		}
		is := scan.StartsFold(v[j:], op.lit, eof)
		if is == yes {
			is = op.begins(t, v, j, eof)
		}
		switch is {
		case yes:
			return opening{n: len(op.lit), begin: op.begin}, yes
		case wait:
			return opening{n: len(op.lit)}, wait
		}
	}
	return opening{}, no
}
