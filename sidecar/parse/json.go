package parse

import (
	"encoding/json"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// jsonStart looks at { or [ in prose: a call object may stand at the start of
// the reply, at the start of a line, or right behind an offered name.
func (t *text) jsonStart(v string, j int, eof bool) (opening, verdict) {
	if t.r.c.Empty() || t.r.tired() {
		return opening{}, no
	}
	if o, is := t.namedStart(v, j, eof); is != no {
		return o, is
	}
	if t.r.s.json == nil {
		return opening{}, no
	}
	value := opening{begin: func(t *text, _ string, _ int) { t.enter(inJSON) }}
	if t.firstAt(v, j) {
		return value, yes
	}
	if w := t.nameBefore(v, j); w < j {
		o, is := opening{back: j - w}, wait
		if k := skipSpace(v, j+1); k < len(v) || eof {
			is = no
			if k < len(v) && (v[k] == '"' || v[k] == '}') {
				is = yes
			}
		}
		o.begin = func(t *text, _ string, _ int) { t.enter(inGlued); t.at = j - w }
		if is != no {
			return o, is
		}
	}
	if !t.lineStart(v, j) {
		return opening{}, no
	}
	return value, t.r.s.json.Envelope.starts(v[j:], eof)
}

// stepJSON holds a value until it is known to be a call or not.
func (t *text) stepJSON(v string, eof bool) (int, bool) {
	const why = "JSON that is no call"
	st := t.r.s.json
	if !t.scan.run(v, eof) {
		switch {
		case !eof:
			return 0, true
		case !t.cutShort() && t.envelope(st, v, 0, len(v), t.ending(), isAlone), t.severed(st, v, 0):
			t.behindCall()
			return len(v), false
		}
		return t.release(st, len(v), why)
	}
	end := t.scan.end
	if t.at == 0 {
		a, is := t.around(v, end, eof)
		if is == wait {
			return 0, true
		}
		if t.envelope(st, v, 0, end, tools.Ending{Terminated: true}, a) {
			t.behindCall()
			return end, false
		}
		if a == isQuoted {
			return t.release(st, end, quotation)
		}
		t.at = end
	}
	t.at = skipSpace(v, t.at)
	switch {
	case t.at < len(v) || !t.first:
		return t.release(st, end, why)
	case !eof:
		return 0, true
	}
	return t.onlyJSON(v, end)
}

// onlyJSON handles a reply that is one value and no call object: the arguments of
// a call whose name was lost, if they fit exactly one tool.
func (t *text) onlyJSON(v string, end int) (int, bool) {
	st := t.r.s.json
	if t.r.echoes(v[:end]) {
		t.note(st, 0, end, Dropped, "repeats the arguments of the server's own call")
		t.prose(0)
		return len(v), false
	}
	if call, ok := t.r.c.Fit(strings.Clone(v[:end])); ok && t.allowed(st, 0, end, v[:end]) {
		t.take(st, 0, end, call, nil, []tools.Repair{{Kind: "name.inferred", At: t.base, To: call.Name}})
		t.behindCall()
		return len(v), false
	}
	return t.release(st, end, "JSON that is no call")
}

// stepGlued reads an offered name that a JSON object follows directly. at is
// where the object begins.
func (t *text) stepGlued(v string, eof bool) (int, bool) {
	t.scan.at = max(t.scan.at, t.at)
	if !t.scan.run(v, eof) {
		if !eof {
			return 0, true
		}
		a, _ := t.around(v, len(v), true)
		if name := v[:t.at]; t.field == Content && t.mayRun(a, rawCall{name: name}) && t.allowed(t.r.s.json, 0, len(v), v) {
			t.cutOff(t.r.s.json, v, 0, strings.Clone(name))
			t.behindCall()
			return len(v), false
		}
		return t.releaseGlued(v, "an unfinished object behind a name")
	}
	end := t.scan.end
	if !json.Valid([]byte(v[t.at:end])) {
		return t.releaseGlued(v[:end], "no JSON behind a name")
	}
	c := rawCall{v[:t.at], v[t.at:end]}
	switch a, is := t.around(v, end, eof); {
	case is == wait:
		return 0, true
	case !t.mayRun(a, c):
		return t.releaseGlued(v[:end], quotation)
	}
	t.found(t.r.s.json, v, 0, end, c, tools.Ending{Terminated: true}, tools.Repair{Kind: "call.glued", At: t.base})
	t.behindCall()
	return end, false
}

// releaseGlued gives a name and its object back as prose; the brace is not looked
// at again.
func (t *text) releaseGlued(v, why string) (int, bool) {
	brace := t.at
	t.release(t.r.s.json, len(v), why)
	t.at = brace + 1
	return 0, false
}
