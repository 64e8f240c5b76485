package parse

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/jsonend"
	"github.com/jgavinray/gpt-oss-executor/tools"
	"github.com/jgavinray/gpt-oss-executor/tools/callcode"
)

// nativeCall is one of the server's own calls, put together from its pieces.
type nativeCall struct {
	index int
	name  string
	args  []byte // a single piece is not copied
	taken bool
}

// add adds to the arguments. Room is doubled, so that little is copied often.
func (c *nativeCall) add(args []byte) {
	if len(c.args) == 0 {
		c.args = args[:len(args):len(args)]
		return
	}
	if cap(c.args)-len(c.args) < len(args) {
		c.args = slices.Grow(c.args, max(len(c.args), len(args), 1<<10))
	}
	c.args = append(c.args, args...)
}

// addNative adds a piece. A call is complete when the next one begins.
func (r *Reader) addNative(d CallDelta) {
	i, known := slices.BinarySearchFunc(r.native, d.Index, func(c *nativeCall, index int) int { return c.index - index })
	if !known {
		if i > 0 && i == len(r.native) {
			r.takeNative(r.native[i-1], tools.Ended)
		}
		r.native = slices.Insert(r.native, i, &nativeCall{index: d.Index})
	}
	r.native[i].name += d.Name
	r.native[i].add(d.Arguments)
}

// unfilled is the only one of the server's own calls, if it has no arguments: they may stand
// in the text.
func (r *Reader) unfilled() *nativeCall {
	if len(r.native) != 1 || r.native[0].taken || len(bytes.TrimSpace(r.native[0].args)) > 0 {
		return nil
	}
	return r.native[0]
}

// split says that the arguments of a call may go on in the text: they are not whole, and the text
// ends as an object does.
func (r *Reader) split(args []byte) bool {
	return !json.Valid(args) && strings.HasSuffix(strings.TrimRight(r.shown.String(), " \n"), "}")
}

// withoutTokens are arguments without the control tokens behind them, and what follows those.
func (r *Reader) withoutTokens(args []byte) []byte {
	if r.s.harmony == nil || json.Valid(args) {
		return args
	}
	text := string(args)
	value := jsonend.Scan{At: scan.SkipSpace(text, 0), Tokens: r.s.header.Alphabet}
	value.Run(text, true)
	end := value.Cut(text)
	rest := strings.TrimLeft(text[end:], " \n\r\t")
	if _, is := r.s.header.Alphabet.At(rest, true); is != yes || value.Depth > 0 && value.End == 0 {
		return args
	}
	return args[:end]
}

// takeNative hands a call to the catalog that ended as how says.
func (r *Reader) takeNative(c *nativeCall, how tools.End) {
	st := r.s.native
	if c.taken || st == nil {
		return
	}
	c.taken = true
	if r.split(c.args) {
		how = tools.Cut
	}
	end := tools.Ending{How: how}
	c.args = r.withoutTokens(c.args)
	t := text{r: r, field: "tool_calls", base: c.index}
	if st.When != nil && !t.allowed(st, 0, 1, string(c.args)) {
		return
	}
	if several := t.several(st, callcode.Call{Name: c.name, Args: string(c.args)}, end); len(several) > 0 {
		for _, one := range several {
			t.offer(st, 0, 1, one, tools.Ending{}, nil)
		}
		return
	}
	call, refusal := r.c.Call(c.name, c.args, end)
	if refusal == nil && r.once.Has(call) {
		t.note(st, 0, 1, Dropped, "the same call was found before")
		return
	}
	if refusal == nil && r.c.Class(call.Name) != tools.Read {
		r.once.Changed(r.c)
	}
	t.take(st, 0, 1, call, refusal, nil)
}

func (r *Reader) closeNative() {
	for i := range r.native {
		how := tools.Ended
		if i+1 == len(r.native) {
			how = r.ended
		}
		r.takeNative(r.native[i], how)
	}
}

// echoes says that doc is the arguments of a call that is there already: one of the server's
// own, or the last one that was read.
func (r *Reader) echoes(doc string) bool {
	if n := len(r.result.Calls); n > 0 && tools.SameJSON(r.result.Calls[n-1].Arguments, []byte(doc)) {
		return true
	}
	return slices.ContainsFunc(r.native, func(c *nativeCall) bool { return string(bytes.TrimSpace(c.args)) == doc })
}
