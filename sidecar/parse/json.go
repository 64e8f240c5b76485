package parse

import (
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// jsonStart looks at {, [ or ( in prose. A call object may stand at the start of the reply or a line,
// behind an offered name, or anywhere if it names an offered tool.
func (t *text) jsonStart(v string, j int, eof bool) (opening, verdict) {
	if t.r.exhausted() {
		return opening{}, no
	}
	if o, is := t.namedStart(v, j, eof); is != no {
		return o, is
	}
	value := opening{begin: func(t *text, _ string, _ int) { t.enter(inJSON) }}
	switch first := v[j] != '(' && t.firstAt(v, j); {
	case t.r.s.json == nil, t.r.c.Empty() && !first:
		return opening{}, no
	case t.r.c.Empty():
		return value, t.r.s.json.Envelope.Headed(t.grammar.Alphabet, v[j:], eof)
	case first:
		return value, yes
	}
	if !t.r.c.Open() && v[j] != '[' {
		if o, is := t.namedCallAt(v, j, eof); is != no || v[j] == '(' {
			return o, is
		}
	} else if v[j] == '(' {
		return opening{}, no
	}
	if t.r.c.Open() && !t.lineStart(v, j) {
		return opening{}, no
	}
	is := t.r.s.json.Envelope.Starts(t.r.c, v[j:], eof)
	if is == no {
		is = t.argumentsStart(v, j, eof)
	}
	return value, is
}

// argumentsStart reports whether the object at v[j:] may be the arguments of a call whose name was lost
// and which the text in front announces.
func (t *text) argumentsStart(v string, j int, eof bool) verdict {
	i := scan.SkipSpace(v, j+1)
	if v[j] == '[' && i < len(v) && v[i] == '{' {
		i = scan.SkipSpace(v, i+1)
	}
	switch {
	case t.field != Content || t.r.c.Open():
		return no
	case i == len(v):
		return scan.WaitUnless(eof)
	case v[i] != '"':
		return no
	}
	p := t.front
	p.Add(v[:j])
	return scan.When(p.EndsInWords() && !t.introduces(&p))
}

const noCall = "JSON that is no call"

// stepJSON holds a value until it is known to be a call or not.
func (t *text) stepJSON(v string, eof bool) (int, bool) {
	st := t.r.s.json
	if !t.scan.Run(v, eof) {
		switch {
		case !eof:
			return 0, true
		case t.r.ended == tools.Ended && t.takeEnvelope(st, v, 0, len(v), tools.Ending{}, t.atEnd(v)),
			t.takeTruncated(st, v, 0):
			return t.afterCall(len(v))
		}
		return t.release(st, len(v), noCall)
	}
	end := t.scan.End
	if t.at == 0 {
		if n, is := t.takeAddressed(v, end, eof); is != no {
			return n, is == wait
		}
		a, is := t.around(v, end, eof)
		if is == wait {
			return 0, true
		}
		within := !t.first && !t.lineStart(v, 0)
		if (!within || t.allKnown(st, v[:end])) && t.takeEnvelope(st, v, 0, end, tools.Ending{}, a) {
			return t.afterCall(end)
		}
		if a.Has(Quoted) {
			return t.releaseValue(end, quotedBecause(Quoted))
		}
		t.at = end
	}
	t.at = scan.SkipBytes(v, t.at, " \n\t\r}]") // surplus closers
	switch {
	case t.at < len(v) && t.continuesDump(v, end):
		t.enter(inDump)
		return 0, false
	case t.at < len(v):
		return t.releaseValue(end, noCall)
	case !eof:
		return 0, true
	}
	return t.endJSON(v, end)
}

// endJSON handles a final value that is no call object: a message of an API, or the arguments of a call
// whose name was lost, if they fit exactly one tool and text in front announces it.
func (t *text) endJSON(v string, end int) (int, bool) {
	st, doc := t.r.s.json, v[:end]
	switch {
	case t.first && t.r.repeatsArguments(doc):
		t.note(st, 0, end, Dropped, "repeats the arguments of another call")
		t.resumeProse(0)
		return len(v), false
	case t.fillNative(doc):
		return len(v), false
	case !t.first && t.field != Content:
		return t.releaseValue(end, noCall)
	}
	if found, ok := st.Envelope.Whole(t.r.c, doc, t.r.facts.MaxDepth); ok && t.takeDump(found, doc) {
		return len(v), false
	}
	switch call, ok := t.r.c.Fit(strings.Clone(doc), t.ending()); {
	case !ok, !t.first && (t.r.cut() || LastObject(doc) != 0 || t.front.EndsInToolName() ||
		t.atEnd(doc) != 0):
	case t.first && t.repeated(st, 0, end, call):
		t.resumeProse(0)
		return len(v), false
	case t.acceptsNameless(call, t.first) && t.takeInferred(st, v, 0, end, call):
		return t.afterCall(len(v))
	}
	return t.releaseValue(end, noCall)
}

// fillNative takes the final value as the arguments of the server's own call, if that has none.
func (t *text) fillNative(args string) bool {
	c := NativeCalls(t.r.native).Unfilled()
	if c == nil || !t.r.c.Exact(c.Name) {
		return false
	}
	t.note(t.r.s.json, 0, len(args), Dropped, "the arguments of the server's own call")
	c.Args = []byte(args)
	t.resumeProse(0)
	return true
}

// takeAddressed takes a value with its header behind it: {"path":"a"}to=functions.read
func (t *text) takeAddressed(v string, end int, eof bool) (n int, is verdict) {
	j := scan.SkipBlanks(v, end)
	if j == len(v) || !t.r.s.header.Heads(v[j:]) {
		return 0, scan.WaitUnless(eof || j < len(v))
	}
	name, n, is := t.r.s.header.Addressee(v[j:], t.r.names.Known, eof)
	own, next := t.r.s.header.Bare(v[j:], t.r.names.Known, eof)
	switch {
	case is == wait, next == wait:
		return 0, wait
	case is == no, next == yes && !own.Empty, !t.r.names.Known(name): // yes: it is the header of another call
		return 0, no
	}
	call := Call{Name: name, Args: v[:end]}
	if !t.accepts(Words, t.leadSigns(), call) || !t.allowed(t.r.s.json, 0, j+n, v[:j+n]) {
		return 0, no
	}
	t.addCall(t.r.s.json, 0, j+n, call, tools.Ending{}, nil)
	t.afterCall(j + n)
	return j + n, yes
}

// atEnd returns the signs around a value that ends the reply.
func (t *text) atEnd(v string) Signs {
	a, _ := t.around(v, len(v), true)
	return a
}

// releaseValue gives a whole value back as text and skips it.
func (t *text) releaseValue(end int, why string) (int, bool) {
	t.release(t.r.s.json, end, why)
	t.at = end
	return 0, false
}

// LastObject returns where the valid JSON object begins that ends a text behind words, or -1.
func LastObject(text string) int {
	const most = 64 // braces that are tried
	text = strings.TrimRight(text, " \n\t\r")
	if !strings.HasSuffix(text, "}") {
		return -1
	}
	i := 0
	for range most {
		n := strings.IndexByte(text[i:], '{')
		if n < 0 {
			break
		}
		if i += n; gjson.Valid(text[i:]) {
			return i
		}
		i++
	}
	return -1
}

// lastHeaders returns where the calls begin that end a text and whose headers lost their tokens, or -1.
// It starts at the last header and includes calls in front, if only text that announces the next call
// stands between.
func lastHeaders(words *harmony.Words, all string) int {
	const most = 16 // calls
	at := words.Last(all)
	for range most {
		prev := words.Last(all[:max(at, 0)])
		if prev < 0 || !isCallThenLead(all[prev:at]) {
			break
		}
		at = prev
	}
	return at
}

// isCallThenLead reports whether a text is a call, followed at most by a sentence that announces the
// next one.
func isCallThenLead(call string) bool {
	i := strings.IndexByte(call, '{')
	if i < 0 {
		return false
	}
	object := harmony.Scan{At: i}
	if object.Run(call, true); object.End == 0 {
		return false
	}
	behind := strings.TrimSpace(call[object.End:])
	behind = behind[skipNoise(behind, 0):]
	return len(behind) <= maxBetween && !strings.Contains(behind, "\n")
}

// EndsArguments reports whether a text ends like an object, or in a word with escapes of a form: a
// server may have put the end of arguments there.
func EndsArguments(text string) bool {
	text = strings.TrimRight(text, " \n")
	word := text[strings.LastIndexAny(text, " \n")+1:]
	plain, err := url.PathUnescape(word)
	return strings.HasSuffix(text, "}") || err == nil && plain != word
}
