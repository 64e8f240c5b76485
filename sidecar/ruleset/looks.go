package ruleset

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// looks reports whether a call that executes does no more than one that reads: it is a command of
// programs that only look, which writes nothing, fetches nothing and runs nothing else. What it may
// look at, the policy judges.
func (s *Set) looks(tool string, args []byte) bool {
	call, err := policy.CallOf(tool, string(tools.Exec), args)
	if err != nil || call.Command == "" || len(s.looking) == 0 {
		return false
	}
	script := policy.Examine(call, s.own.world(At{})).Script
	return script != nil && script.Parsed && !script.Control && !script.Invisible && !script.OverBudget && len(script.Dynamic) == 0 &&
		len(script.Commands) > 0 && !slices.ContainsFunc(script.Commands, func(c shell.Command) bool { return !s.onlyLooks(&c) })
}

// onlyLooks reports whether a command is one of the list, and its arguments make it do nothing else.
func (s *Set) onlyLooks(c *shell.Command) bool {
	named := slices.Contains(s.looking, c.Binary) || c.Sub != "" && slices.Contains(s.looking, c.Binary+" "+c.Sub)
	does := len(c.Writes) + len(c.Deletes) + len(c.URLs) + len(c.Tags) + len(c.ExecFlags) + len(c.Env) + len(c.Wrappers)
	return named && c.Known && c.Path == "" && does == 0 && c.CodeFile == "" && !c.Inline && !c.DynamicName && !c.DynamicArgs && !c.Background
}
