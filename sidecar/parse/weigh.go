package parse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// runs weighs the signs that a text is the calls in it, which stand by form in such
// surroundings. Where it is too close, none of them runs: take refuses them, so that the
// model is asked what it meant.
func (t *text) runs(form Sign, signs Set, calls ...Call) bool {
	t.sure, t.doubted = 1, false
	for _, c := range calls {
		w := t.weigh(form, signs, c)
		t.r.result.Weigh(w)
		t.sure = min(t.sure, w.Score)
		switch {
		case w.Decision == Run:
		case w.Decision == Ask && t.field == Content && !t.r.facts.Asked:
			t.doubted, t.r.told = true, t.r.told || w.Signs.Doubtful(w.Class)
		default:
			t.sure, t.doubted = 0, false
			return false
		}
	}
	return true
}

// doubt refuses a call of which it is not sure that it is one.
func doubt(c tools.Call) *tools.Refusal {
	return &tools.Refusal{Code: tools.Unsure, Name: c.Name, Text: string(c.Arguments),
		Why: fmt.Sprintf("it is not clear whether %s shall be called: call it as a tool, or answer in words without its markup", c.Name)}
}

// mayBe says that a text may be calls, of which the last is cut: each is rather one than not.
func (t *text) mayBe(form Sign, signs Set, calls ...Call) bool {
	return !slices.ContainsFunc(calls, func(c Call) bool {
		return t.weigh(form, signs, c).Score < 0.5
	})
}

// weigh says how sure it is that c is a call, and what follows.
func (t *text) weigh(form Sign, signs Set, c Call) Weighed {
	signs = signs.With(form)
	if t.r.calls {
		signs = signs.With(Finish)
	}
	if t.r.facts.aboutCalls() {
		signs = signs.With(Topic)
	}
	w := Weighed{Field: string(t.field), At: t.base, Name: strings.Clone(c.Name)}
	class, known := t.r.c.ClassOf(w.Name)
	doubts := isTold | isBeside
	if form == Tokens { // behind which a model stops
		doubts |= isBehind
	}
	// markup that some strategy knows was meant as a call
	if !known && form != EvidenceName && signs&doubts == 0 && !strings.HasPrefix(w.Name, tools.Parallel) {
		class = tools.Read
	}
	w.Class, w.Signs = class, t.seen(signs, c, &w)
	w.Score = t.r.s.weights.Score(w.Signs)
	w.Decision = t.r.s.weights.Decide(w.Score, class)
	doubted := w.Signs
	if looks := t.r.facts.Looks; looks != nil && doubted.Has(Behind) && class == tools.Exec &&
		looks(w.Tool, w.Arguments) {
		doubted &^= isBehind // text may stand behind it, as behind a tool that reads
	}
	if doubted.Doubtful(class) {
		w.Decision = min(w.Decision, Ask)
	}
	return w
}

// aboutCalls says that the user writes about calls.
func (f *Facts) aboutCalls() bool {
	user := strings.ToLower(f.User)
	return slices.ContainsFunc(f.Topic,
		func(word string) bool { return strings.Contains(user, strings.ToLower(word)) })
}

// seen adds what the catalog says of a call, and notes what it would run as.
func (t *text) seen(signs Set, c Call, w *Weighed) Set {
	if name := strings.TrimPrefix(strings.TrimSpace(c.Name), harmony.Namespace); !t.r.c.Exact(name) {
		signs = signs.With(Bent)
	}
	if c.Args == "" {
		m, _ := t.r.c.Name(w.Name)
		w.Tool = m.Name
		return signs
	}
	call, refusal := t.r.c.Call(w.Name, []byte(c.Args), tools.Ending{})
	w.Tool, w.Arguments = call.Name, call.Arguments
	if only, ok := t.r.c.Fit(c.Args, tools.Ending{}); ok && only.Name == call.Name {
		signs = signs.With(Only)
	}
	switch {
	case refusal != nil:
	case string(call.Arguments) == strings.TrimSpace(c.Args):
		signs = signs.With(Fits)
	default:
		signs = signs.With(Mended)
	}
	return signs
}
