package ruleset

import (
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// lintCondition warns about the parts of a condition that are always true or
// never, and looks at its patterns. domains are the only values of some variables.
func (l *loader) lintCondition(t rulefile.Text, domains map[string][]string) {
	constant := func(at rulefile.Place, always bool, hint string) {
		msg := "this never holds"
		if always {
			msg = "this always holds"
		}
		if hint == "" {
			hint = "every part of a condition should make a difference; without `when`, a strategy always reads"
		}
		l.warn(at, codeUnreachable, msg, hint)
	}
	cond.Lint(t, domains, constant, l.lintPattern)
}
