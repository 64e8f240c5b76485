package console

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// aliasFile is the rule file that says which names mean which tool.
const aliasFile = "aliases.yaml"

// Unnamed are the names in a reply that no offered tool has, each once, as they are looked up.
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

// maxAlias is how long a name may be that is offered as an alias, in bytes.
const maxAlias = 64

// Alias is the text of aliases.yaml in which a name means a tool, and the line that says so,
// from 1. It is 0 where the text has no list of tools to say it in. Whether the text then loads,
// Check says.
func Alias(text, tool, name string) (edited string, line int) {
	return rulefile.AddToList(text, "tools", tool, name)
}
