package ruleset

import (
	"maps"
	"slices"
	"strings"

	programs "github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// domain is the set of values that a subject in a condition can have.
type domain struct {
	what  string // name of a closed set; empty: other values just never occur
	words []string
}

// closedDomain returns the closed domain of a subject in a file about calls with these classes; classes nil:
// class is not closed there.
func closedDomain(subject string, classes []string) domain {
	switch {
	case subject == "cmd.tags[]":
		return domain{"tag", append(slices.Sorted(maps.Keys(programs.Tags())), shell.Tags()...)}
	case subject == "op":
		return domain{"op", pathOps}
	case subject == "class":
		return domain{"class", classes}
	case subject == "cmd.path_class":
		return domain{"class of paths", append(slices.Clone(pathClasses), "")}
	case strings.Contains(subject, "cmd.") && strings.HasSuffix(subject, ".class"):
		return domain{"class", slices.Concat(pathClasses, urlClasses)}
	}
	return domain{}
}

// checkWords reports words in a condition outside the domain of what they are compared with. In a closed set
// this is an error, since what should be denied would pass; otherwise a warning, and "" is always possible.
func (l *loader) checkWords(when rulefile.Text, named rulefile.Lists,
	of func(subject string) domain) {
	check := func(subject string, side cond.Side) {
		d := of(subject)
		if len(d.words) == 0 {
			return
		}
		for _, w := range sideWords(side, named) {
			switch {
			case slices.Contains(d.words, w.Value):
			case d.what != "":
				l.report(w.At, rulefile.CodeRef, "there is no "+d.what+" "+w.Value,
					rulefile.DidYouMean(w.Value, d.words))
			case w.Value != "":
				l.warn(w.At, codeUnreachable, subject+" is never "+w.Value+" here",
					rulefile.DidYouMean(w.Value, d.words))
			}
		}
	}
	for _, x := range cond.Comparisons(when, "in", "==", "!=") {
		check(x.Left.Source, x.Right)
		if x.Operator == "in" {
			check(x.Right.Source+"[]", x.Left)
		} else {
			check(x.Right.Source, x.Left)
		}
	}
}

// sideWords returns the words of one side, also of a named list.
func sideWords(side cond.Side, named rulefile.Lists) []rulefile.Text {
	for _, list := range named {
		if side.Name() == list.Key.Value {
			return mapSlice(list.Value,
				func(t rulefile.Text) rulefile.Text { return rulefile.Text{Value: t.Value, At: t.All()} })
		}
	}
	return side.Words()
}
