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

// domain is all that something in a condition can be.
type domain struct {
	what  string // of a closed list; empty: what else is said of it only never holds
	words []string
}

// closed is the domain of what a rule about calls asks for in a file with these classes; nil: a
// class of that file is no closed list.
func closed(subject string, classes []string) domain {
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

// misspelt reports the words in a condition that are not in the domain of what they are compared
// with. One of a closed list would never be there, and what should be denied would pass. Others
// are a warning, and "" may be any.
func (l *loader) misspelt(when rulefile.Text, named rulefile.Lists,
	of func(subject string) domain) {
	check := func(subject string, side cond.Side) {
		d := of(subject)
		if len(d.words) == 0 {
			return
		}
		for _, w := range written(side, named) {
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

// written are the words of one side, also where it is a named list.
func written(side cond.Side, named rulefile.Lists) []rulefile.Text {
	for _, list := range named {
		if side.Name() == list.Key.Value {
			return collect(list.Value,
				func(t rulefile.Text) rulefile.Text { return rulefile.Text{Value: t.Value, At: t.All()} })
		}
	}
	return side.Words()
}
