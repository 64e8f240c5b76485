package parse

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// addNative adds a piece of one of the server's calls. A whole call is complete when the next one
// begins.
func (r *Reader) addNative(d CallDelta) {
	all, i := NativeCalls(r.native).Add(NativeCall{Index: d.Index, ID: d.ID, Name: d.Name, Args: d.Arguments})
	r.native = all
	if i+1 == len(all) && all.BeginsCall(i) {
		r.takeNatives(all.Whole(i))
	}
}

// takeNatives takes the calls in front of call n.
func (r *Reader) takeNatives(n int) {
	for c, how := range NativeCalls(r.native).Take(n, r.ended) {
		if r.s.native != nil {
			r.takeNative(r.s.native, c, how)
		}
	}
}

// takeNative takes a call that ended as how, and the text that the server left in it. If the arguments
// are not whole and the shown text ends like an object or a form, they continued there and the call
// counts as cut. So it does if a stop text of the request may have ended the reply: some servers then
// say tool_calls.
func (r *Reader) takeNative(st *Strategy, c *NativeCall, how tools.End) {
	if !r.c.Exact(c.Name) {
		c.SplitName()
	}
	ended, leftover := how, Leftover{}
	if r.s.harmony != nil {
		leftover = c.Clean(r.s.header.Alphabet, r.c.NamesNoTool(c.Name))
	}
	switch {
	case (r.facts.Stops || EndsArguments(r.shown.String())) && !jsontext.Valid(c.Args):
		how = tools.Cut
	case leftover.Closed:
		how = tools.Ended
	}
	t := text{r: r, field: native, base: c.Index}
	if st.When != nil && !t.allowed(st, 0, 1, string(c.Args)+leftover.Behind) {
		return
	}
	if !leftover.All {
		t.takeOwn(st, c, how)
	}
	r.readLeftover(leftover.Behind, ended, false)
}

// takeOwn takes a call, or those in the arguments of a wrapper or of the bare namespace.
func (t *text) takeOwn(st *Strategy, c *NativeCall, how tools.End) {
	var several []Call
	if !t.r.c.Exact(c.Name) {
		several = t.several(st, Call{Name: c.Name, Args: string(c.Args)}, tools.Ending{How: how})
	}
	if t.r.c.NamesNoTool(c.Name) {
		found, _ := t.unwrap(st, string(c.Args), how == tools.Cut)
		if several = found.List; several == nil {
			several = t.keyed(string(c.Args))
		}
	}
	if len(several) > 0 {
		for i, one := range several {
			if i+1 < len(several) || !t.refuseCutChange(st, one.Name, []byte(one.Args), how) {
				t.addCall(st, 0, 1, one, tools.Ending{}, nil)
			}
		}
		return
	}
	call, refusal := t.r.c.Call(c.Name, c.Args, tools.Ending{How: how})
	if class, _ := t.r.c.ClassOf(c.Name); refusal != nil && class == tools.Read {
		all := objects(string(c.Args))
		for _, args := range all {
			t.addCall(st, 0, 1, Call{Name: c.Name, Args: args}, tools.Ending{}, nil)
		}
		if len(all) > 0 {
			return
		}
	}
	switch {
	case refusal == nil && !t.r.made.Has(call) && t.refuseCutChange(st, call.Name, c.Args, how):
	default:
		fitted := func(r tools.Repair) bool { return r.Kind == "name.fit" }
		if refusal == nil && slices.ContainsFunc(call.Repairs, fitted) &&
			t.r.c.Class(call.Name) != tools.Read && t.r.wantsData() {
			if refusal = unsureRefusal(call); t.r.facts.Asked { // said again: it is the answer
				refusal.Code = tools.Answer
			}
		}
		t.record(st, 0, 1, call, refusal, nil)
	}
}

// keyed returns the call in {"read": {"path": "a"}}, however the name is misspelt.
func (t *text) keyed(args string) (calls []Call) {
	if !gjson.Valid(args) {
		return nil
	}
	gjson.Parse(args).ForEach(func(key, value gjson.Result) bool {
		if calls == nil && value.IsObject() && t.r.names.Known(key.Str) {
			calls = []Call{{Name: key.Str, Args: value.Raw}}
			return true
		}
		calls = nil
		return false
	})
	return calls
}

// refuseCutChange refuses a call that changes something in a cut reply. Its arguments may be whole
// because the server closed them.
func (t *text) refuseCutChange(st *Strategy, name string, args []byte, how tools.End) bool {
	if how == tools.Cut {
		if class, _ := t.r.c.ClassOf(name); class != tools.Read {
			t.refuseTruncated(st, string(args), 0, strings.Clone(name))
			return true
		}
	}
	return false
}

// readLeftover reads the text that a server left in one of its calls, as content. If it was shown, it
// may not call a tool that writes or executes.
func (r *Reader) readLeftover(text string, how tools.End, shown bool) {
	if scan.Blank(text) {
		return
	}
	probe := r.s.Reader(r.c, r.facts)
	probe.content.held, probe.content.field = false, native
	probe.content.awaitMessage()
	probe.ended, probe.calls, probe.made, probe.torn = how, r.calls, r.made, r.torn
	probe.result.Refused = slices.Clip(r.result.Refused)
	probe.content.feed(text, false)
	probe.closeContent()
	for _, e := range probe.events {
		switch {
		case e.Kind != ToolCall:
			r.emit(e.Kind, e.Text)
		case shown && r.c.Class(e.Call.Name) != tools.Read:
			probe.refuse(*unsureRefusal(*e.Call))
		default:
			r.call(*e.Call)
		}
	}
	r.made, r.torn = probe.made, probe.torn
	r.result.Repeated += probe.result.Repeated
	r.result.Refused = probe.result.Refused
	r.result.Steps = append(r.result.Steps, probe.result.Steps...)
}

// repeatsArguments reports whether doc is the arguments of a known call: one of the server's own, or the
// last one read.
func (r *Reader) repeatsArguments(doc string) bool {
	if n := len(r.result.Calls); n > 0 && tools.SameJSON(r.result.Calls[n-1].Arguments, []byte(doc)) {
		return true
	}
	return NativeCalls(r.native).HasArguments(doc)
}

// NativeCall is one of the server's own calls, joined from its pieces.
type NativeCall struct {
	Index    int
	ID, Name string
	Args     []byte // a single piece is not copied
	Taken    bool
	again    bool // another call has its index

	value harmony.Scan // of Args, as far as seen
	seen  int
	end   int  // behind the value and blanks; 0: it continues
	valid bool // the value is JSON, and nothing else follows
}

// NativeCalls are a server's own calls in order.
type NativeCalls []*NativeCall

// Add adds a piece and returns the index of its call. Index joins pieces. Some servers give each call
// the same one: another id and a name behind whole arguments then begin the next call.
func (all NativeCalls) Add(piece NativeCall) (NativeCalls, int) {
	i, known := slices.BinarySearchFunc(all, piece.Index,
		func(c *NativeCall, index int) int { return c.Index - index })
	for known && i+1 < len(all) && all[i+1].Index == piece.Index {
		i++
	}
	again := known && all[i].endsAt(piece)
	if again {
		i++
	}
	if again || !known {
		all = slices.Insert(all, i, &NativeCall{Index: piece.Index, again: again})
	}
	c := all[i]
	if c.ID == "" {
		c.ID = piece.ID
	}
	c.Name += piece.Name
	c.add(piece.Args)
	return all, i
}

// endsAt reports whether a piece of the same index is another call.
func (c *NativeCall) endsAt(piece NativeCall) bool {
	return piece.Name != "" && c.ID != "" && piece.ID != "" && c.ID != piece.ID &&
		(c.Taken || startsObject(c.Args) && c.whole())
}

// repeatsName reports an entry without a call: a server that changes ids repeats its name.
func (c *NativeCall) repeatsName() bool { return c.again && len(bytes.TrimSpace(c.Args)) == 0 }

func startsObject(args []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(args), []byte("{")) }

// add appends to the arguments. The capacity is doubled, so that little is copied.
func (c *NativeCall) add(args []byte) {
	if len(c.Args) == 0 {
		c.Args = args[:len(args):len(args)]
		return
	}
	if cap(c.Args)-len(c.Args) < len(args) {
		c.Args = slices.Grow(c.Args, max(len(c.Args), len(args), 1<<10))
	}
	c.Args = append(c.Args, args...)
}

// BeginsCall reports whether call i is surely a call of its own, not the rest of the one before.
func (all NativeCalls) BeginsCall(i int) bool {
	return i > 0 && strings.TrimSpace(all[i].Name) != "" && !all[i].continues(all[i-1])
}

// continues reports whether c may be the rest of a call that a server split in two: it has no name, or
// the id and name of before.
func (c *NativeCall) continues(before *NativeCall) bool {
	return strings.TrimSpace(c.Name) == "" || c.ID != "" && c.ID == before.ID && c.Name == before.Name
}

// join appends the entries behind call i that are its rest, if that makes its arguments valid JSON, and
// reports whether other calls follow. Empty entries are joined, too.
func (all NativeCalls) join(i int) (followed bool) {
	const most = 8 // bounds the pieces that are tried
	c := all[i]
	args, to := slices.Clip(c.Args), i
	for j := i + 1; j < min(len(all), i+most) && !all[j].Taken && all[j].continues(c); j++ {
		args = append(args, all[j].Args...)
		if jsontext.Valid(args) || len(bytes.TrimSpace(all[j].Args)) == 0 {
			to = j
		}
	}
	for _, rest := range all[i+1 : to+1] {
		c.add(rest.Args)
		rest.Taken = true
	}
	return to+1 < len(all)
}

// Whole returns how many calls in front of call n are whole. Pieces of earlier ones may still come from
// servers that send several calls at once.
func (all NativeCalls) Whole(n int) int {
	for i, c := range all[:n] {
		if !c.Taken && !c.repeatsName() && !c.whole() {
			return i
		}
	}
	return n
}

// whole reports whether the arguments are exactly an object or a list. Each byte is looked at once.
func (c *NativeCall) whole() bool {
	if c.end == 0 {
		piece := string(c.Args[c.seen:])
		c.value.At = 0
		if c.value.Run(piece, false) {
			c.end = c.seen + c.value.End
			c.valid = jsontext.Valid(c.Args[:c.end])
		}
		c.seen += c.value.At
	}
	if c.valid {
		c.valid = len(bytes.TrimSpace(c.Args[c.end:])) == 0
		c.end = len(c.Args)
	}
	return c.valid
}

// Take yields the calls in front of call n that were not taken, and how each ended; last applies to the
// last of all. A call is cut if it ends within a text and another follows, or if its rest fits nowhere.
func (all NativeCalls) Take(n int, last tools.End) iter.Seq2[*NativeCall, tools.End] {
	return func(yield func(*NativeCall, tools.End) bool) {
		for i, c := range all[:n] {
			if c.Taken || c.repeatsName() {
				continue
			}
			how := tools.Ended
			if followed := all.join(i); !followed {
				how = last
			} else if inText(c.Args) || !c.whole() && all[i+1].isRest() {
				how = tools.Cut
			}
			if c.Taken = true; !yield(c, how) {
				return
			}
		}
	}
}

// isRest reports whether c is the rest of another call: no name, no opening brace, and more than
// closers.
func (c *NativeCall) isRest() bool {
	args := bytes.TrimLeft(c.Args, " \t\r\n]}")
	return !c.Taken && strings.TrimSpace(c.Name) == "" && len(args) > 0 && args[0] != '{'
}

// inText reports whether arguments end within a text. A stream that was resumed ends like its object,
// whatever quotes precede that.
func inText(args []byte) bool {
	if jsontext.Valid(args) {
		return false
	}
	text := string(args)
	if _, resumed := jsonrepair.Resumed(text, 0); resumed {
		return false
	}
	value := harmony.Scan{At: scan.SkipSpace(text, 0)}
	return !value.Run(text, true) && value.InString
}

// Unfilled returns the only call, if it has no arguments.
func (all NativeCalls) Unfilled() *NativeCall {
	if len(all) != 1 || all[0].Taken || len(bytes.TrimSpace(all[0].Args)) > 0 {
		return nil
	}
	return all[0]
}

// HasTool reports whether one of them calls a tool.
func (all NativeCalls) HasTool(tool string) bool {
	return slices.ContainsFunc(all,
		func(c *NativeCall) bool { return strings.TrimPrefix(c.Name, harmony.Namespace) == tool })
}

// HasArguments reports whether doc is the arguments of one of them.
func (all NativeCalls) HasArguments(doc string) bool {
	return slices.ContainsFunc(all,
		func(c *NativeCall) bool { return string(bytes.TrimSpace(c.Args)) == doc })
}

// SplitName moves arguments out of a name that they arrived in: read{"path":"a"}, read({"path":"a"}),
// read(path="a"), read"{\"path\":\"a\"}". They must be closed, and the call have no others.
func (c *NativeCall) SplitName() {
	own := string(bytes.TrimSpace(c.Args))
	at := strings.IndexAny(c.Name, `{("`)
	if at < 1 || own != "" && own != "{}" && own != "null" {
		return
	}
	name, args := c.Name[:at], strings.TrimSpace(c.Name[at:])
	if args[0] == '(' {
		called, ok := codeCalls("f" + args)
		if !ok || len(called) != 1 || called[0].Name != "f" {
			return
		}
		args = called[0].Args
	}
	if args[0] == '"' {
		if strings.Contains(args, "{") && json.Valid([]byte(args)) {
			c.Name, c.Args = strings.TrimSpace(name), []byte(args)
		}
		return
	}
	value := harmony.Scan{}
	value.Run(args, true)
	if rest := strings.TrimSpace(args[value.End:]); args[0] == '{' && value.End > 0 &&
		(rest == "" || strings.HasPrefix(rest, "<|")) {
		c.Name, c.Args = name, []byte(args[:value.End])
	}
}

// Leftover is what a server left of the model's text in one of its calls.
type Leftover struct {
	Behind string // the text behind the call's end
	Closed bool   // a control token ends it
	All    bool   // Behind is a message with its own header, and all there is
}

// Clean removes the rest of a header in front of the arguments, and the control token that ends them.
// unknown reports that the name is that of no tool: a header may then stand in the arguments.
func (c *NativeCall) Clean(tokens *harmony.Alphabet, unknown bool) (l Leftover) {
	if jsontext.Valid(c.Args) {
		return l
	}
	text := string(c.Args)
	if l.Behind = headedMessage(text); l.Behind != "" && unknown {
		l.All = true
		return l
	}
	at := headerEnd(tokens, text)
	value := harmony.Scan{At: at, Tokens: tokens}
	value.Run(text, true)
	end := scan.SkipBytes(text, value.Cut(text), " \n\r\t}]`") // surplus closers, or a fence
	token, is := tokens.At(text[end:], true)
	if is != yes {
		token.N = 0
	}
	switch behind := strings.TrimSpace(text[end+token.N:]); {
	case value.End > 0 && beginsGluedHeader(text[end:]) && json.Valid(c.Args[at:value.End]):
		l = Leftover{Behind: text[end:], Closed: true}
	case is != yes, value.Depth > 0 && value.End == 0 && behind != "" &&
		!strings.HasPrefix(behind, "<|"):
		c.Args = c.Args[at:] // a token in quotes that lack their backslash
		return Leftover{}
	case token.Token.Opens():
		l = Leftover{Behind: text[end:], Closed: true}
	case token.Token.Closes():
		l = Leftover{Behind: text[end+token.N:], Closed: true}
	default:
		l = Leftover{Closed: true}
	}
	c.Args = bytes.TrimRight(c.Args[at:end], " \n\r\t")
	return l
}

// beginsGluedHeader reports whether s begins with a header without its tokens.
func beginsGluedHeader(s string) bool {
	behind, speaks := strings.CutPrefix(s, harmony.Assistant)
	begins := func(word string) bool { return strings.HasPrefix(behind, word) }
	words := []string{harmony.Analysis, harmony.Commentary, harmony.Final, " to=", "<|"}
	return speaks && slices.ContainsFunc(words, begins) ||
		begins(harmony.Commentary+" to=")
}

// headerEnd returns where arguments begin behind the rest of a header, such as
// <|constrain|>json<|message|>, or behind blanks.
func headerEnd(tokens *harmony.Alphabet, text string) int {
	const most = 64
	blanks := len(text) - len(strings.TrimLeft(text, " \n\r\t\ufeff"))
	for at := blanks; at < min(len(text), blanks+most) && strings.IndexByte("{[\"", text[at]) < 0; {
		token, is := tokens.At(text[at:], true)
		switch {
		case is != yes:
			at++
		case token.Token != harmony.Message:
			at += token.N
		default:
			if at = scan.SkipSpace(text, at+token.N); at < len(text) && (text[at] == '{' || text[at] == '[') {
				return at
			}
			return blanks
		}
	}
	return blanks
}

// headedMessage returns the message whose header a server read half: the name is missing, and the
// arguments begin with the rest of the header. It is empty for other arguments.
func headedMessage(args string) string {
	args = strings.TrimSpace(args)
	head, _, whole := strings.Cut(args, "{")
	switch {
	case !whole || head == "":
		return ""
	case strings.HasPrefix(head, "<"), strings.Contains(head, "to="):
		return args
	}
	return harmony.Start.String() + harmony.Assistant + harmony.Channel.String() + harmony.Commentary +
		" to=" + args
}
