package parse

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// opener is a literal that may open a block anywhere in prose.
type opener struct {
	lit   string
	named bool   // the name of an offered tool follows lit
	rest  string // follows the name
	st    *Strategy
	done  bool // a line of its own that ends the turn
	drop  bool // only the literal is removed
	first bool // only as the first line of the reply
}

// begins reports whether the literal at v[j:] opens its block.
func (op *opener) begins(t *text, v string, j int, eof bool) verdict {
	switch end := j + len(op.lit); {
	case scan.IsWord(v[j]) && v[j] < 0x80 && scan.IsWord(t.prevByte(v, j)):
		return no // the end of a longer word
	case op.first && end == len(v) && !eof:
		return wait
	case op.drop:
		return scan.When(!op.first || t.firstAt(v, j) && strings.HasPrefix(v[end:]+"\n", "\n"))
	case op.st.Kind == Thinks:
		front := t.front
		front.Add(v[:j])
		return scan.When(front.Ends() != InSentence)
	case !op.done && (t.r.c.Empty() || t.r.exhausted()):
		return no
	case op.named:
		return op.names(t, v[end:], eof)
	case !op.done:
		return yes
	case !t.lineStart(v, j):
		return no
	case end == len(v) && !eof:
		return wait
	case end == len(v) || scan.IsSpace(v[end]):
		return yes
	}
	return no
}

// cut reports whether a reply ends with s within a mark that is dropped.
func (op *opener) cut(s string) bool {
	return op.drop && op.st.Own && len(s) > 1 && strings.ContainsAny(s, "<[") &&
		scan.StartsFold(op.lit, s, true) == yes
}

func (op *opener) begin(t *text, v string, n int) {
	if op.done {
		t.note(op.st, 0, n, Finished, op.lit)
		t.r.done = true
		return
	}
	if op.drop {
		t.note(op.st, 0, n, Dropped, op.lit)
		return
	}
	t.enter(inBlock)
	t.open, t.closers, t.named = op, op.st.Close, ""
	if op.named {
		t.named = strings.Clone(v[len(op.lit):scan.NameEnd(v, len(op.lit))])
		t.closers = make([]string, len(op.st.Close))
		for i, lit := range op.st.Close {
			t.closers[i] = strings.ReplaceAll(lit, ToolName, t.named)
		}
	}
}

// names reports whether s begins with the name of an offered tool and op.rest.
func (op *opener) names(t *text, s string, eof bool) verdict {
	n := scan.NameEnd(s, 0)
	switch c := t.r.c; {
	case n > longestName:
		return no
	case n == len(s) && !eof:
		if c.HasPrefix(s) {
			return wait
		}
		return no
	case n == 0 || !c.Open() && !c.Exact(s[:n]):
		return no
	}
	return scan.StartsFold(s[n:], op.rest, eof)
}

// block is what was read of a block.
type block struct {
	calls        []Call
	end          int // its end, or without calls the bytes that were looked at
	truncated    bool
	ending       tools.Ending // Cut if the reply ended within the block
	wrapsMessage bool         // it contains a Harmony message: the literal is a wrapper
}

// stepBlock holds a block until its end. v begins with the opening literal.
func (t *text) stepBlock(v string, eof bool) (int, bool) {
	if t.tooEarly(v, eof) {
		return 0, true
	}
	st := t.open.st
	if st.Kind == Thinks {
		return t.stepLaterThought(v, eof)
	}
	b, is := t.readBlock(v, len(t.open.lit), eof)
	unknown := func(c Call) bool { return !t.r.names.Known(c.Name) }
	if st.Foreign && (b.truncated || slices.ContainsFunc(b.calls, unknown)) {
		is = no // it may be whole in the frame of a third family
	}
	switch is {
	case wait:
		return 0, true
	case no:
		if !st.Foreign {
			t.unread = st
		}
		return t.release(st, max(b.end, len(t.open.lit)), "no call between the literals")
	}
	if b.wrapsMessage {
		t.note(st, 0, b.end, Dropped, "a wrapper")
		t.awaitMessage()
		return b.end, false
	}
	switch a, is := t.around(v, b.end, eof); {
	case is == wait:
		return 0, true
	case !t.accepts(st.form(), a, b.calls...):
		t.release(st, b.end, quotedBecause(a))
		t.at = b.end // none of it is looked at again
		return 0, false
	}
	t.r.torn = t.r.torn || t.unread == st // it may stand in what the unread block holds
	for _, c := range b.calls {
		t.addCandidate(st, v, 0, b.end, c, b.ending)
	}
	if b.truncated {
		t.refuseTruncated(st, v[:b.end], 0, "")
	}
	if st.Own && !b.truncated {
		return t.afterOwnCall(b.end)
	}
	return t.afterCall(b.end)
}

// stepLaterThought holds a thought behind text until its end. Without one, or with a call in it, it is text.
func (t *text) stepLaterThought(v string, eof bool) (int, bool) {
	from := len(t.open.lit)
	at, n := scan.FindAnyFold(v, from, slices.Concat(t.closers, t.r.s.calls), eof)
	switch {
	case at < 0 && !eof:
		return 0, true
	case at < 0 || !scan.AmongFold(v[at:at+n], t.closers):
		return t.release(t.open.st, from, "nothing ends the thought")
	}
	t.note(t.open.st, 0, at+n, Thinking, "behind text")
	t.emit(Thought, v[from:at])
	t.resumeProse(0)
	t.startLine()
	return at + n, false
}

func (st *Strategy) form() Form {
	switch {
	case st.Own:
		return Owned
	case st.Foreign && st.Frame.reads("object"):
		return Object
	case st.Foreign:
		return Borrowed
	}
	return Framed
}

// maxQuote is how much of a broken block a refusal quotes.
const maxQuote = 200

// readBlock reads the block in v. from is the end of the opening literal, or of the name in it.
func (t *text) readBlock(v string, from int, eof bool) (block, verdict) {
	f := &t.open.st.Frame
	if t.open.st.Own { // a literal that is written twice
		again := scan.SkipSpace(v, from)
		switch scan.StartsFold(v[again:], t.open.lit, eof) {
		case wait:
			return block{}, wait
		case yes:
			from = again + len(t.open.lit)
		}
	}
	switch f.Calls[0].whole() {
	case "":
		return t.readFrame(v, from, eof)
	case "pairs":
		return t.readBracket(v, from, eof)
	case "tags":
		return t.readXML(v, eof)
	}
	i := scan.SkipSpace(v, from)
	if i == len(v) {
		if eof {
			return block{end: i}, no
		}
		return block{}, wait
	}
	// or a thought that is glued to the literal
	is := scan.When(t.first && i == from && v[i] >= 'A' && v[i] <= 'Z')
	if t.grammar.Alphabet.Leads(v[i]) {
		_, _, is = t.tokenAt(v[i:], eof)
	}
	if is != no { // a message stands in the block
		return block{end: i, wrapsMessage: true}, is
	}
	switch object, code := f.reads("object"), f.reads("code"); {
	case object && (v[i] == '{' || v[i] == '[' && !code):
		return t.readJSONBlock(v, i, eof)
	case v[i] == '<' && f.reads("tags"):
		return t.readXML(v, eof)
	case !code:
		return block{end: i}, no
	case object && v[i] == '[':
		switch j := scan.SkipSpace(v, i+1); {
		case j == len(v) && !eof:
			return block{}, wait
		case j == len(v) || !scan.IsWord(v[j]) || v[j] >= '0' && v[j] <= '9':
			return t.readJSONBlock(v, i, eof)
		}
	}
	return t.readCode(v, i, eof)
}

// readXML reads calls in tags. v begins with the opening literal.
func (t *text) readXML(v string, eof bool) (block, verdict) {
	at, n := t.closing(v, 0, eof)
	for _, a := range tagArguments(v) {
		if at >= a.From && at < a.To && (!a.Open || !eof || beginsTag(v[a.From:])) {
			at, n = t.closing(v, a.To, eof)
		}
	}
	if at < 0 {
		if !eof {
			return block{}, wait
		}
		at = len(v)
	}
	b := block{end: at + n}
	if doc := strings.Clone(v[:b.end]); n > 0 || strings.Contains(doc, "</") {
		b.calls, b.truncated = TagCalls(doc, n == 0 && t.r.cut())
	}
	b.truncated = b.truncated || len(b.calls) == 0
	return b, yes
}

// readJSONBlock reads a call object or a list of them at v[i:].
func (t *text) readJSONBlock(v string, i int, eof bool) (block, verdict) {
	t.scan.At, t.scan.Stops = max(t.scan.At, i), t.closers
	if !t.scan.Run(v, eof) && !eof {
		return block{}, wait
	}
	end := t.scan.Cut(v)
	if t.scan.End == 0 && t.scan.Stop == 0 { // a string that never ends holds what closes the block
		if at, _ := t.closing(v, i, eof); at >= 0 {
			end = at
		}
	}
	behind, is := t.closed(v, scan.SkipBytes(v, end, "}]"), eof) // closers too many are noise
	next := scan.SkipBytes(v, behind, " \t\r\n,;")
	if is == no && next > behind { // another may follow
		if is = scan.WaitUnless(eof || next < len(v)); next < len(v) && v[next] == '{' {
			behind = next
		}
	}
	switch {
	case is == wait:
		return block{}, wait
	case t.open.st.Own && t.scan.End == 0 && t.scan.Stop == 0: // it lacks its end, and the block does
		return block{end: len(v), truncated: true}, yes
	}
	found, ok := t.unwrap(t.open.st, v[i:end], t.ending().How == tools.Cut)
	if !ok && t.scan.End == 0 && t.scan.Stop == 0 {
		torn, _, _ := t.envelopeOf(t.open.st).Torn(t.r.c, strings.Clone(v[i:end]), t.r.facts.MaxDepth,
			t.first)
		found.List = torn.List
	}
	return block{calls: found.List, end: behind, truncated: !ok}, yes
}

// closed returns the offset behind the literal that closes the block, or end if none follows v[:end].
func (t *text) closed(v string, end int, eof bool, more ...string) (int, verdict) {
	i := scan.SkipSpace(v, end)
	n, is := scan.StartsAnyFold(v[i:], t.closers, eof)
	if is == no {
		n, is = scan.StartsAnyFold(v[i:], more, eof)
	}
	if is == no {
		return end, no
	}
	return i + n, is
}

// closing finds the first closing literal at or after from, or -1.
func (t *text) closing(v string, from int, eof bool) (at, n int) {
	return scan.FindAnyFold(v, from, t.closers, eof)
}

// longestName bounds a name in brackets, as in OpenClaw.
const longestName = 120

// endRequest closes a named call in OpenClaw's grammar.
const endRequest = "[END_TOOL_REQUEST]"

// namedStart looks for [NAME], a line break and an object at the start of a line. OpenClaw runs such
// text by itself; read here, it is checked as any other call.
func (t *text) namedStart(v string, j int, eof bool) (opening, verdict) {
	named := t.r.s.bracketed
	if named == nil || v[j] != '[' || !t.lineStart(v, j) {
		return opening{}, no
	}
	short := scan.WaitUnless(eof)
	i := scan.NameEnd(v, j+1)
	switch {
	case i == len(v):
		return opening{}, short
	case v[i] != ']' || !t.r.c.Exact(v[j+1:i]):
		return opening{}, no
	}
	line := scan.SkipBlanks(v, i+1)
	brace := scan.SkipSpace(v, line)
	switch {
	case line < len(v) && v[line] != '\n' && v[line] != '\r':
		return opening{}, no
	case brace == len(v):
		return opening{}, short
	case v[brace] != '{':
		return opening{}, no
	}
	return opening{n: 1, begin: named.begin}, yes
}

// readBracket reads NAME], NAME|key=value|…] or NAME] {json}. from is the end of the opening literal.
func (t *text) readBracket(v string, from int, eof bool) (block, verdict) {
	head := v[from:min(len(v), from+longestName+1)]
	i := strings.IndexAny(head, "|]\n")
	if i < 0 {
		switch {
		case len(head) > longestName:
			return block{end: from + len(head)}, no
		case eof:
			return block{end: len(v), truncated: true}, yes
		}
		return block{}, wait
	}
	name := strings.TrimSpace(head[:i])
	switch i += from; {
	case v[i] == '\n' || name == "":
		return block{end: i}, no
	case v[i] == '|':
		return t.readPairs(v, name, i+1, eof)
	}
	j := scan.SkipSpace(v, i+1)
	switch {
	case j == len(v) && !eof:
		return block{}, wait
	case j == len(v) || v[j] != '{':
		return block{calls: []Call{{Name: name, Args: "{}"}}, end: i + 1}, yes
	}
	t.scan.At = max(t.scan.At, j)
	switch {
	case t.scan.Run(v, eof):
	case eof:
		return block{end: len(v), truncated: true}, yes
	default:
		return block{}, wait
	}
	args := strings.Clone(v[j:t.scan.End])
	end, is := t.closed(v, t.scan.End, eof, endRequest, "[/"+name+"]")
	if is == wait {
		return block{}, wait
	}
	return block{calls: []Call{{Name: name, Args: args}}, end: end}, yes
}

// readPairs reads key=value|key=value up to the bracket that closes the block.
func (t *text) readPairs(v, name string, from int, eof bool) (block, verdict) {
	end := pairsEnd(v, from)
	if end < 0 {
		if !eof {
			return block{}, wait
		}
		// A quote or bracket that never closes: the last bracket ends the block.
		if end = strings.LastIndexByte(v, ']'); end < from {
			return block{end: len(v), truncated: true}, yes
		}
	}
	args, unsure := splitPairs(v[from:end], func(key string) bool { return t.r.c.Param(name, key) })
	return block{calls: []Call{{Name: name, Args: args, Unsure: unsure}}, end: end + 1}, yes
}

// pairsEnd returns the offset of the bracket that closes a block, or -1. Quotes and inner brackets are
// skipped.
func pairsEnd(v string, from int) int {
	depth := 0
	quote := byte(0)
	for i := from; i < len(v); i++ {
		switch b := v[i]; {
		case quote != 0 && b == '\\':
			i++
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case (b == '"' || b == '\'') && v[i-1] == '=':
			quote = b
		case b == '[':
			depth++
		case b == ']':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// splitPairs turns key=value|key=value into arguments. A bar without a key behind it belongs to the
// value; text before the first key makes all of s one text. unsure reports that a value may contain what
// was read as the next pair: its bar is spaced unlike the first one, as in a pipe or a table, or stands
// in quotes; or that the meaning of quotes was guessed.
func splitPairs(s string, param func(key string) bool) (args string, unsure bool) {
	apart := strings.HasPrefix(s, " ") // behind the first bar
	var pairs []string
	from := 0 // the last value begins there
	close := func(to int) (open bool) {
		text := strings.TrimSpace(s[from:to])
		value, guessed := unquote(text)
		pairs[len(pairs)-1], unsure = value, unsure || guessed
		return value == text && text != "" && isQuote(text[0])
	}
	at, before := 0, ""
	for part := range strings.SplitSeq(s, "|") {
		key, value, ok := strings.Cut(part, "=")
		own := strings.HasPrefix(key, " ") || strings.HasSuffix(before, " ")
		key = strings.TrimSpace(key)
		first := len(pairs) == 0
		switch {
		case ok && key != "" && strings.IndexFunc(key,
			func(r rune) bool { return r >= 0x80 || !scan.IsName(byte(r)) }) < 0 && (first || param(key)):
			if !first {
				unsure = close(at-1) || unsure || own != apart
			}
			pairs = append(pairs, key, "")
			from = at + len(part) - len(value)
		case first && strings.TrimSpace(part) != "":
			return jsontext.Quote(strings.TrimSpace(s)), true
		}
		at, before = at+len(part)+1, part
	}
	if len(pairs) > 0 {
		close(len(s))
	}
	return jsontext.Object(pairs...), unsure
}

func isQuote(b byte) bool { return b == '"' || b == '\'' }

// unquote returns the text in quotes that enclose all of s, decoded as JSON if it is. guessed reports
// that escapes may belong to the text, or that such quotes stand in it; those are all kept.
func unquote(s string) (text string, guessed bool) {
	if n := len(s); n < 2 || !isQuote(s[0]) || s[n-1] != s[0] {
		return s, false
	}
	body := s[1 : len(s)-1]
	guessed = strings.Contains(strings.ReplaceAll(body, `\"`, ""), `\`)
	switch {
	case s[0] == '"' && json.Unmarshal([]byte(s), &text) == nil:
		return text, guessed
	case strings.IndexByte(body, s[0]) >= 0:
		return s, true
	}
	return body, guessed
}

// plainInput turns plain input into arguments: a text, or if named an object that holds it. guessed is
// that of unquote.
func plainInput(s string, named bool) (args string, guessed bool) {
	if strings.HasPrefix(s, `"`) {
		s, guessed = unquote(s)
	}
	if named {
		return jsontext.Object("input", s), guessed
	}
	return jsontext.Quote(s), guessed
}
