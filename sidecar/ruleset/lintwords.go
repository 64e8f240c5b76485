package ruleset

import (
	"maps"
	"slices"
	"strings"

	programs "github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// shellTags are the tags that taking a command apart adds to those of programs.
var shellTags = []string{
	"bulk-delete", "decoded-code", "downloaded-code", "dump-env", "foreign-code", "function", "hash-poison", "interactive-shell", "lookup",
	"runs-created-file", "shell-c", "shell-state", "shell-stdin", "workspace-program", "wrapper",
}

// tags are all words of cmd.tags.
func tags() []string { return append(slices.Sorted(maps.Keys(programs.Tags())), shellTags...) }

// wordsOf checks the words that a condition compares a closed list of words with. A
// misspelt one would never be there, and what should be denied would pass. classes are
// those of the file; nil: not checked here.
func (c *ruleCompiler) wordsOf(when rulefile.Text, classes []string) {
	for _, x := range cond.Comparisons(when) {
		switch left := x.Left.Source; {
		case x.Operator == "in" && x.Right.Source == "cmd.tags":
			c.closed(x.Left, "tag", tags())
		case left == "op":
			c.closed(x.Right, "op", pathOps)
		case left == "class" && classes != nil:
			c.closed(x.Right, "class", classes)
		case left == "cmd.path_class":
			c.closed(x.Right, "class of paths", append(pathClasses, ""))
		case strings.HasSuffix(left, ".class"):
			c.closed(x.Right, "class", slices.Concat(pathClasses, urlClasses))
		}
	}
}

// closed checks that the words on one side are of a closed list.
func (c *ruleCompiler) closed(side cond.Side, what string, words []string) {
	for _, w := range side.Words() {
		if !slices.Contains(words, w.Value) {
			c.report(w.At, rulefile.CodeRef, "there is no "+what+" "+w.Value, rulefile.DidYouMean(w.Value, words))
		}
	}
}
