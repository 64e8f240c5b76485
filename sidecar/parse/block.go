package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// opener is a literal that may open a block anywhere in prose.
type opener struct {
	lit  string
	st   *Strategy
	done bool // a line of its own that says the model is done
}

// begins says whether the literal at v[j:] may open its block there.
func (op *opener) begins(t *text, v string, j int, eof bool) verdict {
	switch end := j + len(op.lit); {
	case isWord(v[j]) && v[j] < 0x80 && isWord(t.before(v, j)):
		return no // the end of a longer word
	case !op.done && (t.r.c.Empty() || t.r.tired()):
		return no
	case !op.done:
		return yes
	case !t.lineStart(v, j):
		return no
	case end == len(v) && !eof:
		return wait
	case end == len(v) || isSpace(v[end]):
		return yes
	}
	return no
}

func (op *opener) begin(t *text, _ string, n int) {
	if op.done {
		t.note(op.st, 0, n, Finished, op.lit)
		t.r.done = true
		return
	}
	t.enter(inBlock)
	t.open = op
}

// block is a block that was read: its calls, and where it ends.
type block struct {
	calls     []rawCall
	end       int // where it ends; for none, how far it was looked at
	truncated bool
	alone     bool // the rest of its last line must be blank
}

// stepBlock holds a block until its end. v begins with the opening literal.
func (t *text) stepBlock(v string, eof bool) (int, bool) {
	if t.early(v, eof) {
		return 0, true
	}
	st := t.open.st
	b, is := t.readBlock(v, len(t.open.lit), eof)
	switch is {
	case wait:
		return 0, true
	case no:
		return t.release(st, max(b.end, len(t.open.lit)), "no call between the literals")
	}
	if b.alone {
		i, is := t.restOfLine(v, b.end, eof)
		switch is {
		case wait:
			return 0, true
		case no:
			t.release(st, i, "text follows on the same line")
			t.at = i // none of it is looked at again
			return 0, false
		}
	}
	if b.truncated {
		t.note(st, 0, b.end, Refused, "the block is cut")
		t.r.refuse(tools.Refusal{Code: tools.Truncated, Text: strings.Clone(v[:min(b.end, maxQuote)]), Why: "the reply ends inside the call"})
	}
	for _, c := range b.calls {
		t.found(st, v, 0, b.end, c, tools.Ending{Terminated: true})
	}
	t.behindCall()
	return b.end, false
}

// maxQuote is how much of a broken block a refusal quotes.
const maxQuote = 200

// restOfLine says whether nothing but closing tags of wrappers, blanks and more
// markup stands behind a block.
func (t *text) restOfLine(v string, i int, eof bool) (int, verdict) {
	const longest = 32 // closing tag of a wrapper
	for strings.HasPrefix(v[i:], "</") {
		n := strings.IndexAny(v[i:min(len(v), i+longest)], "> \n")
		switch {
		case n < 0 && len(v)-i < longest && !eof:
			return i, wait
		case n < 0 || v[i+n] != '>':
			return i, yes
		}
		i += n + 1
	}
	i = skipBlanks(v, i)
	switch {
	case i == len(v) || v[i] == '<' && i+1 == len(v):
		if eof {
			return i, yes
		}
		return i, wait
	case strings.IndexByte("\n\r<[", v[i]) >= 0:
		return i, yes
	}
	return i, no
}

// readBlock reads the block in v; its inside begins at from.
func (t *text) readBlock(v string, from int, eof bool) (block, verdict) {
	switch t.open.st.Body {
	case BodyPairs, BodyNamed:
		return t.readBracket(v, from, eof)
	case BodyXML:
		return t.readXML(v, eof)
	}
	i := skipSpace(v, from)
	if i == len(v) {
		if eof {
			return block{end: i}, no
		}
		return block{}, wait
	}
	switch v[i] {
	case '{':
		return t.readJSONBlock(v, i, eof)
	case '<':
		return t.readXML(v, eof)
	case '[':
		switch j := skipSpace(v, i+1); {
		case j == len(v) && !eof:
			return block{}, wait
		case j == len(v) || !isWord(v[j]) || v[j] >= '0' && v[j] <= '9':
			return t.readJSONBlock(v, i, eof)
		}
	}
	return t.readCode(v, i, eof)
}

// readJSONBlock reads a call object or a list of them at v[i:].
func (t *text) readJSONBlock(v string, i int, eof bool) (block, verdict) {
	t.scan.at, t.scan.stops = max(t.scan.at, i), t.open.st.Close
	if !t.scan.run(v, eof) && !eof {
		return block{}, wait
	}
	end := t.scan.cut(v)
	if end == len(v) { // a string that never ends holds what closes the block
		if at, _ := t.closing(v, i, eof); at >= 0 {
			end = at
		}
	}
	behind := end
	for behind < len(v) && (v[behind] == '}' || v[behind] == ']') {
		behind++ // closers too many are noise
	}
	behind, is := t.closed(v, behind, eof)
	if is == wait {
		return block{}, wait
	}
	calls, ok := t.unwrap(t.open.st, v[i:end], t.cutShort())
	return block{calls: calls.list, end: behind, truncated: !ok, alone: true}, yes
}

// closed is the offset behind the literal that closes the block, or end where none
// follows v[:end].
func (t *text) closed(v string, end int, eof bool, more ...string) (int, verdict) {
	i := skipSpace(v, end)
	for _, list := range [][]string{t.open.st.Close, more} {
		for _, lit := range list {
			switch startsFold(v[i:], lit, eof) {
			case yes:
				return i + len(lit), yes
			case wait:
				return 0, wait
			}
		}
	}
	return end, no
}

// closing finds the first closing literal at or behind from, or -1. It looks no
// further than that: text full of blocks must not be searched to its end at each.
func (t *text) closing(v string, from int, eof bool) (at, n int) {
	st := t.open.st
	for at = from; at < len(v); at++ {
		for _, lit := range st.Close {
			if lower(v[at]) != lower(lit[0]) || startsFold(v[at:], lit, true) == no {
				continue
			}
			if !eof && at+st.longestClose() > len(v) {
				return -1, 0 // a longer one may begin here
			}
			return at, len(lit)
		}
	}
	return -1, 0
}

func (st *Strategy) longestClose() (n int) {
	for _, c := range st.Close {
		n = max(n, len(c))
	}
	return n
}
