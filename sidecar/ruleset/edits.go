package ruleset

import (
	"regexp"

	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// edits compiles edits.yaml, and that of the locked folder.
func (l *loader) edits() {
	own, locked := decodeFile[prompt.EditsFile](l, editsFile),
		decodeFile[prompt.EditsFile](l, lockedName(editsFile))
	for _, f := range []prompt.EditsFile{own, locked} {
		l.checkUnique("id", f.IDs())
		for _, id := range f.IDs() {
			l.checkID(id)
		}
	}
	l.set.Edits = prompt.CompileEdits(own, locked, prompt.EditsCompiler{
		Pattern: func(t rulefile.Text) *regexp.Regexp { return l.pattern(t, "") },
		Report:  l.report,
		Request: func(t *rulefile.Text) func(prompt.RequestFacts) (bool, error) {
			return when[prompt.RequestFacts](l, t, nil)
		},
		Result: func(t *rulefile.Text) func(prompt.ResultFacts) (bool, error) {
			return when[prompt.ResultFacts](l, t, nil)
		},
	})
	for _, r := range l.set.Edits.Rules() {
		l.set.book.put(Rule(r))
	}
	for _, e := range l.set.Edits.Examples() {
		to := &l.examples
		if e.Locked {
			to = &l.locked.examples
		}
		*to = append(*to, func() { l.tryEdit(e) })
	}
}

func (l *loader) tryEdit(e prompt.EditsExample) {
	wrong, hit := e.Try()
	if hit {
		l.countHit(e.Rule.Place)
	}
	if wrong != "" {
		l.report(e.At, codeExample, wrong, "")
	}
}
