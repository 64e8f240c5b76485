package console

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// aliasFile is the rule file with other names of tools.
const aliasFile = "aliases.yaml"

// Unnamed returns the names in a reply that no offered tool has, without duplicates, in their normalized
// form.
func Unnamed(s *replay.Shown) (out []string) {
	for i := range s.Tree.Refused {
		f := &s.Tree.Refused[i]
		if f.Code == tools.NotOffered && f.Name != "" && len(f.Name) <= maxAlias &&
			!slices.Contains(out, f.Name) && len(out) < maxListed {
			out = append(out, f.Name)
		}
	}
	return out
}

// maxAlias is the maximal length of a name that is offered as an alias, in bytes.
const maxAlias = 64

// Alias adds a name of a tool to the text of aliases.yaml, and returns the changed line, counted from 1.
// The line is 0 if the text has no list of tools. Check reports whether the text then loads.
func Alias(text, tool, name string) (edited string, line int) {
	return rulefile.AddToList(text, "tools", tool, name)
}
