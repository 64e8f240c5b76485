package ruleset

import (
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
)

// sightsOf gives the sights of one of the three kinds of conditions.
func sightsOf[E any]() cond.Sights[E] {
	var env any = (*E)(nil)
	var out any = cond.Sights[E]{}
	switch env.(type) {
	case *policy.Env:
		out = callSights
	case *policy.PathEnv:
		out = pathSights
	case *policy.URLEnv:
		out = urlSights
	}
	return out.(cond.Sights[E])
}

var callSights = cond.Sights[policy.Env]{
	Texts: map[string]func(*policy.Env) string{
		"tool": func(e *policy.Env) string { return e.Tool }, "class": func(e *policy.Env) string { return e.Class },
		"agent": func(e *policy.Env) string { return e.Agent }, "session": func(e *policy.Env) string { return e.Session },
		"channel": func(e *policy.Env) string { return e.Channel }, "model": func(e *policy.Env) string { return e.Model },
		"command":    func(e *policy.Env) string { return e.Command },
		"cmd.binary": func(e *policy.Env) string { return e.Cmd.Binary }, "cmd.sub": func(e *policy.Env) string { return e.Cmd.Sub },
		"cmd.path": func(e *policy.Env) string { return e.Cmd.Path }, "cmd.path_class": func(e *policy.Env) string { return e.Cmd.PathClass },
		"cmd.via": func(e *policy.Env) string { return e.Cmd.Via }, "cmd.code_file": func(e *policy.Env) string { return e.Cmd.CodeFile },
		"cmd.stdin.kind": func(e *policy.Env) string { return e.Cmd.Stdin.Kind },
		"now.weekday":    func(e *policy.Env) string { return e.Now.Weekday },
	},
	Flags: map[string]func(*policy.Env) bool{
		"interactive": func(e *policy.Env) bool { return e.Interactive }, "cmd.known": func(e *policy.Env) bool { return e.Cmd.Known },
		"cmd.inline_code": func(e *policy.Env) bool { return e.Cmd.Inline }, "cmd.dynamic_name": func(e *policy.Env) bool { return e.Cmd.DynamicName },
		"cmd.dynamic_args": func(e *policy.Env) bool { return e.Cmd.DynamicArgs }, "cmd.background": func(e *policy.Env) bool { return e.Cmd.Background },
		"cmd.recursive": func(e *policy.Env) bool { return e.Cmd.Recursive }, "script.parsed": func(e *policy.Env) bool { return e.Script.Parsed },
		"script.control": func(e *policy.Env) bool { return e.Script.Control }, "script.invisible": func(e *policy.Env) bool { return e.Script.Invisible },
		"script.fork_bomb": func(e *policy.Env) bool { return e.Script.ForkBomb }, "script.over_budget": func(e *policy.Env) bool { return e.Script.OverBudget },
	},
	Lists: map[string]func(*policy.Env) []string{
		"cmd.exec_flags": func(e *policy.Env) []string { return e.Cmd.ExecFlags }, "cmd.stdin.from": func(e *policy.Env) []string { return e.Cmd.Stdin.From },
		"cmd.tags": func(e *policy.Env) []string { return e.Cmd.Tags }, "cmd.flags": func(e *policy.Env) []string { return e.Cmd.Flags },
		"cmd.argv": func(e *policy.Env) []string { return e.Cmd.Argv }, "cmd.operands": func(e *policy.Env) []string { return e.Cmd.Operands },
		"cmd.env": func(e *policy.Env) []string { return e.Cmd.Env }, "cmd.wrappers": func(e *policy.Env) []string { return e.Cmd.Wrappers },
		"script.binaries": func(e *policy.Env) []string { return e.Script.Binaries },
	},
	Sizes: map[string]func(*policy.Env) int{
		"cmd.tags": func(e *policy.Env) int { return len(e.Cmd.Tags) }, "cmd.flags": func(e *policy.Env) int { return len(e.Cmd.Flags) },
		"cmd.argv": func(e *policy.Env) int { return len(e.Cmd.Argv) }, "cmd.operands": func(e *policy.Env) int { return len(e.Cmd.Operands) },
		"cmd.env": func(e *policy.Env) int { return len(e.Cmd.Env) }, "cmd.wrappers": func(e *policy.Env) int { return len(e.Cmd.Wrappers) },
		"cmd.exec_flags": func(e *policy.Env) int { return len(e.Cmd.ExecFlags) }, "cmd.stdin.from": func(e *policy.Env) int { return len(e.Cmd.Stdin.From) },
		"cmd.reads": func(e *policy.Env) int { return len(e.Cmd.Reads) }, "cmd.writes": func(e *policy.Env) int { return len(e.Cmd.Writes) },
		"cmd.deletes": func(e *policy.Env) int { return len(e.Cmd.Deletes) }, "cmd.urls": func(e *policy.Env) int { return len(e.Cmd.URLs) },
		"script.dynamic": func(e *policy.Env) int { return len(e.Script.Dynamic) }, "script.binaries": func(e *policy.Env) int { return len(e.Script.Binaries) },
	},
}

var pathSights = cond.Sights[policy.PathEnv]{
	Texts: map[string]func(*policy.PathEnv) string{
		"op": func(e *policy.PathEnv) string { return e.Op }, "class": func(e *policy.PathEnv) string { return e.Class },
		"path": func(e *policy.PathEnv) string { return e.Path }, "resolved": func(e *policy.PathEnv) string { return e.Resolved },
		"tool": func(e *policy.PathEnv) string { return e.Tool }, "tool_class": func(e *policy.PathEnv) string { return e.ToolClass },
		"program": func(e *policy.PathEnv) string { return e.Program }, "command": func(e *policy.PathEnv) string { return e.Command },
		"agent": func(e *policy.PathEnv) string { return e.Agent }, "channel": func(e *policy.PathEnv) string { return e.Channel },
		"via": func(e *policy.PathEnv) string { return e.Via },
	},
	Flags: map[string]func(*policy.PathEnv) bool{
		"dynamic": func(e *policy.PathEnv) bool { return e.Dynamic }, "glob": func(e *policy.PathEnv) bool { return e.Glob },
		"interactive": func(e *policy.PathEnv) bool { return e.Interactive },
	},
	Lists: map[string]func(*policy.PathEnv) []string{"marks": func(e *policy.PathEnv) []string { return e.Marks }},
	Sizes: map[string]func(*policy.PathEnv) int{"marks": func(e *policy.PathEnv) int { return len(e.Marks) }},
}

var urlSights = cond.Sights[policy.URLEnv]{
	Texts: map[string]func(*policy.URLEnv) string{
		"class": func(e *policy.URLEnv) string { return e.Class }, "method": func(e *policy.URLEnv) string { return e.Method },
		"scheme": func(e *policy.URLEnv) string { return e.Scheme }, "host": func(e *policy.URLEnv) string { return e.Host },
		"tool": func(e *policy.URLEnv) string { return e.Tool }, "tool_class": func(e *policy.URLEnv) string { return e.ToolClass },
		"program": func(e *policy.URLEnv) string { return e.Program }, "command": func(e *policy.URLEnv) string { return e.Command },
		"agent": func(e *policy.URLEnv) string { return e.Agent }, "channel": func(e *policy.URLEnv) string { return e.Channel },
	},
	Flags: map[string]func(*policy.URLEnv) bool{
		"dynamic": func(e *policy.URLEnv) bool { return e.Dynamic }, "interactive": func(e *policy.URLEnv) bool { return e.Interactive },
	},
	Lists: map[string]func(*policy.URLEnv) []string{"marks": func(e *policy.URLEnv) []string { return e.Marks }},
	Sizes: map[string]func(*policy.URLEnv) int{"marks": func(e *policy.URLEnv) int { return len(e.Marks) }},
}
