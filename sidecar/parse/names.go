package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Names are the names of the offered tools, for text that is searched for them. It is immutable.
type Names struct {
	c        *tools.Catalog
	initials scan.Bytes // what they begin with, and their namespace
}

// NewNames makes the names of a catalog.
func NewNames(c *tools.Catalog) *Names {
	n := &Names{c, c.Initials()}
	n.initials.Add(harmony.Namespace[0])
	return n
}

// Known says that a name, however it is bent, is that of a tool, or of a wrapper of calls. Where all
// names are tools, none is.
func (n *Names) Known(name string) bool {
	if n.c.Open() || strings.HasPrefix(name, tools.Parallel) {
		return !n.c.Open()
	}
	_, refusal := n.c.Name(strings.Clone(name))
	return refusal == nil
}

// Initial says that the name of an offered tool, or the namespace of tools, may begin with b.
func (n *Names) Initial(b byte) bool { return n.initials.Has(b) }

// Named says that a word is the name of an offered tool; behind functions. it may be bent.
func (n *Names) Named(word string) bool {
	rest := strings.TrimPrefix(word, harmony.Namespace)
	return rest != "" && (n.initials.Has(word[0]) && n.c.Exact(word) || len(rest) < len(word) &&
		(n.c.Exact(rest) || n.Known(rest)))
}

// May says that a word may become the name of an offered tool.
func (n *Names) May(word string) bool {
	switch {
	case word == "":
		return false
	case strings.HasPrefix(harmony.Namespace, word):
		return true
	}
	// behind functions. it may be bent
	return strings.HasPrefix(word, harmony.Namespace) || n.initials.Has(word[0]) && n.c.HasPrefix(word)
}
