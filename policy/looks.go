package policy

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
)

// Looks reports whether a call is a command of nothing but programs of a list, by name or with their
// subcommand, which write, delete, fetch and run nothing else. At what they may look, rules say.
func Looks(tool string, arguments []byte, programs []string, w World) bool {
	c, err := CallOf(tool, "exec", arguments)
	if err != nil || c.Command == "" {
		return false
	}
	s := Examine(c, w).Script
	if s == nil || !s.Parsed || s.Control || s.Invisible || s.OverBudget || len(s.Dynamic) > 0 ||
		len(s.Commands) == 0 {
		return false
	}
	return !slices.ContainsFunc(s.Commands, func(c shell.Command) bool {
		named := slices.Contains(programs, c.Binary) || c.Sub != "" &&
			slices.Contains(programs, c.Binary+" "+c.Sub)
		writes := slices.ContainsFunc(c.Writes, func(u paths.Use) bool { return u.Class != paths.Null })
		does := len(c.Deletes) + len(c.URLs) + len(c.Tags) + len(c.ExecFlags) + len(c.Env) + len(c.Wrappers)
		odd := c.Inline || c.DynamicName || c.DynamicArgs || c.Background || c.Path != "" || c.CodeFile != ""
		return !named || !c.Known || writes || does > 0 || odd
	})
}
