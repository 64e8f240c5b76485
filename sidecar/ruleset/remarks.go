package ruleset

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Unremarked removes remarks, which only describe a command, from the arguments of a call. In a tool that
// runs no command a description may be its instructions, and stays.
func (s *Set) Unremarked(tool, args string) string {
	named := func(remark string) bool { return strings.Contains(args, remark) }
	if !slices.ContainsFunc(s.Tools.Remarks, named) || s.Tools.Class(tool) != tools.Exec {
		return args
	}
	if call, err := policy.CallOf(tool, string(tools.Exec), []byte(args)); err != nil || call.Command == "" {
		return args
	}
	doc := []byte(args)
	return string(openai.Apply(doc, openai.Remove(doc, openai.Span{To: len(doc)}, func(key []byte) bool {
		return slices.Contains(s.Tools.Remarks, string(key))
	})))
}
