package ruleset

import (
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	programs "github.com/jgavinray/gpt-oss-executor/policy/program"
)

// shellTags are the tags that taking a command apart adds to those of programs.
var shellTags = []string{
	"bulk-delete", "decoded-code", "downloaded-code", "dump-env", "foreign-code", "function", "hash-poison", "interactive-shell", "lookup",
	"runs-created-file", "shell-c", "shell-state", "shell-stdin", "workspace-program", "wrapper",
}

// tags are all words of cmd.tags.
func tags() []string { return append(slices.Sorted(maps.Keys(programs.Tags())), shellTags...) }

// wordsOf checks the words that a condition compares a closed list of words with. A
// misspelt one would never be there, and what should be denied would pass.
func (c *ruleCompiler) wordsOf(when text, classes []string) {
	tree, err := parser.Parse(when.Value)
	if err != nil {
		return // reported by the compiler
	}
	ast.Walk(&tree.Node, &wordCheck{c.loader, when, classes})
}

type wordCheck struct {
	l       *loader
	when    text
	classes []string // of the file; nil: not checked here
}

// Visit looks at one part of the condition.
func (v *wordCheck) Visit(node *ast.Node) {
	b, ok := (*node).(*ast.BinaryNode)
	if !ok || b.Operator != "in" && b.Operator != "==" && b.Operator != "!=" {
		return
	}
	left, right := b.Left.String(), b.Right.String()
	switch {
	case b.Operator == "in" && right == "cmd.tags":
		v.known(b.Left, "tag", tags())
	case left == "op":
		v.known(b.Right, "op", pathOps)
	case left == "class" && v.classes != nil:
		v.known(b.Right, "class", v.classes)
	case left == "cmd.path_class":
		v.known(b.Right, "class of paths", append(pathClasses, ""))
	case strings.HasSuffix(left, ".class"):
		v.known(b.Right, "class", slices.Concat(pathClasses, urlClasses))
	}
}

// known checks a word, or a list of them.
func (v *wordCheck) known(n ast.Node, what string, words []string) {
	switch n := n.(type) {
	case *ast.ArrayNode:
		for _, e := range n.Nodes {
			v.known(e, what, words)
		}
	case *ast.StringNode:
		at := v.when.span(n.Location().From, n.Location().To)
		if !slices.Contains(words, n.Value) {
			v.l.report(at, codeRef, "there is no "+what+" "+n.Value, didYouMean(n.Value, words))
		}
	}
}
