package ruleset

import (
	"regexp"

	"github.com/jgavinray/gpt-oss-executor/sidecar/edits"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// edits takes edits.yaml, and that of the locked folder.
func (l *loader) edits() {
	own, locked := decodeFile[edits.File](l, editsFile), decodeFile[edits.File](l, lockedName(editsFile))
	for _, f := range []edits.File{own, locked} {
		l.unique("id", f.IDs())
		for _, id := range f.IDs() {
			l.plainID(id)
		}
	}
	l.set.Edits = edits.Compile(own, locked, edits.Compiler{
		Pattern: func(t rulefile.Text) *regexp.Regexp { return l.pattern(t, "") },
		Report:  l.report,
		Request: func(t *rulefile.Text) func(edits.Request) (bool, error) {
			return when[edits.Request](l, t, nil)
		},
		Result: func(t *rulefile.Text) func(edits.Result) (bool, error) {
			return when[edits.Result](l, t, nil)
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

func (l *loader) tryEdit(e edits.Example) {
	wrong, hit := e.Try()
	if hit {
		l.cover(e.Rule.Place)
	}
	if wrong != "" {
		l.report(e.At, codeExample, wrong, "")
	}
}
