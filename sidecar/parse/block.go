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
func (op *opener) begins(t *text, v string, j int) bool {
	if op.done {
		end := j + len(op.lit)
		return (j == 0 && t.bol || j > 0 && v[j-1] == '\n') && (end == len(v) || isSpace(v[end]))
	}
	return !t.r.c.Empty() && !t.r.tired()
}

func (op *opener) begin(t *text, _ string, n int) {
	if op.done {
		t.note(op.st, 0, n, Finished, op.lit)
		t.r.done = true
		return
	}
	t.enter(inBlock)
	t.open, t.retry = op, 0
}

// block is a block that was read: its calls, and where it ends.
type block struct {
	calls     []rawCall
	end       int
	truncated bool
	alone     bool // the rest of its last line must be blank
}

// stepBlock holds a block until its end. v begins with the opening literal.
func (t *text) stepBlock(v string, eof bool) (int, bool) {
	st := t.open.st
	if !eof && len(v) < t.retry {
		return 0, true
	}
	b, is := t.readBlock(v, len(t.open.lit), eof)
	t.retry = len(v) + len(v)/4 // looking again only now and then keeps it linear
	switch {
	case is == wait && len(v) > t.r.maxText:
		return t.release(st, len(t.open.lit), "too long for a call")
	case is == wait:
		return 0, true
	case is == no:
		return t.release(st, len(t.open.lit), "no call between the literals")
	}
	if b.alone {
		i := t.closers(v, b.end)
		for i < len(v) && (v[i] == ' ' || v[i] == '\t') {
			i++
		}
		switch {
		case !eof && (i == len(v) || v[i] == '<' && !strings.Contains(v[i:], ">") && len(v)-i < 32):
			return 0, true
		case i < len(v) && v[i] != '\n' && v[i] != '\r' && v[i] != '<' && v[i] != '[':
			t.release(st, b.end, "text follows on the same line")
			t.at = i // none of it is looked at again
			return 0, false
		}
	}
	if b.truncated {
		t.note(st, 0, b.end, Refused, "the block is cut")
		t.r.refuse(tools.Refusal{Code: tools.Truncated, Text: strings.Clone(v[:min(b.end, 200)]), Why: "the reply ends inside the call"})
	}
	for _, c := range b.calls {
		t.found(st, v, 0, b.end, c.name, c.args, tools.Ending{Terminated: true})
	}
	t.behindCall()
	return b.end, false
}

// closers skips the closing tags of wrappers behind a block.
func (t *text) closers(v string, i int) int {
	for strings.HasPrefix(v[i:], "</") {
		end := strings.IndexByte(v[i:], '>')
		if end < 0 || strings.ContainsAny(v[i:i+end], " \n") {
			break
		}
		i += end + 1
	}
	return i
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
			return block{}, no
		}
		return block{}, wait
	}
	switch {
	case v[i] == '{' || v[i] == '[' && !t.codeList(v, i):
		return t.readJSONBlock(v, i, eof)
	case v[i] == '<':
		return t.readXML(v, eof)
	}
	return t.readCode(v, i, eof)
}

// codeList says whether a list holds calls in code form: [f(a=1)].
func (t *text) codeList(v string, i int) bool {
	j := skipSpace(v, i+1)
	return j < len(v) && isWord(v[j]) && !(v[j] >= '0' && v[j] <= '9')
}

// readJSONBlock reads a call object or a list of them at v[i:].
func (t *text) readJSONBlock(v string, i int, eof bool) (block, verdict) {
	t.scan.at = max(t.scan.at, i)
	if !t.scan.run(v, false, eof) {
		if !eof {
			if at, _ := t.closing(v, i); at < 0 {
				return block{}, wait
			}
		}
		t.scan.end = len(v)
		if at, _ := t.closing(v, i); at >= 0 {
			t.scan.end = at
		}
	}
	end := t.scan.end
	j := skipSpace(v, end)
	for j < len(v) && (v[j] == '}' || v[j] == ']') {
		j++
	}
	rest := v[j:]
	for _, c := range t.open.st.Close {
		k := skipSpace(rest, 0)
		is, more := hasFold(rest[k:], c)
		if more && !eof {
			return block{}, wait
		}
		if is {
			j += k + len(c)
			break
		}
	}
	calls, _, _, ok := t.unwrap(t.open.st, v[i:end])
	if !ok {
		return block{end: max(j, end), truncated: true, alone: true}, yes
	}
	return block{calls: calls, end: max(j, end), alone: true}, yes
}

// closing finds the first closing literal at or behind from.
func (t *text) closing(v string, from int) (at, n int) {
	at = -1
	for _, c := range t.open.st.Close {
		if i := indexFold(v[from:], c); i >= 0 && (at < 0 || from+i < at) {
			at, n = from+i, len(c)
		}
	}
	return at, n
}

// indexFold is strings.Index without regard to ASCII case.
func indexFold(s, lit string) int {
	for i := 0; i+len(lit) <= len(s); i++ {
		j := strings.IndexByte(s[i:], lit[0])
		if j < 0 {
			return -1
		}
		i += j
		if is, _ := hasFold(s[i:], lit); is {
			return i
		}
	}
	return -1
}
