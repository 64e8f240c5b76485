package ruleset

import (
	"encoding/json"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// CheckCommand decides about a command of the tool exec.
func (s *Set) CheckCommand(command string, who policy.Subject, at At) policy.Decision {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return policy.Decision{Effect: policy.Deny, Why: err.Error()}
	}
	return s.Decide(tools.Call{Name: "exec", Arguments: args, Strategy: "native", Confidence: 1}, who, at)
}

// The tools that would touch a path on its own, and fetch a URL.
var (
	// The tools that touch a single path or fetch a URL.
	pathTools = map[paths.Op]string{paths.Read: "read", paths.Write: "write", paths.Delete: "delete"}
	fetchTool = "web_fetch"
)

// CheckPath decides about a path as a file tool would touch it, without rules about calls.
func (s *Set) CheckPath(op paths.Op, path string, who policy.Subject, at At) policy.Decision {
	c := policy.Call{Tool: pathTools[op], Class: string(tools.Write), Args: map[string]any{"path": path}}
	if op == paths.Read {
		c.Class = string(tools.Read)
	}
	return s.decideUse(c.From(who), at, func(a *author, f *policy.Facts) {
		g := a.world(at).Guard
		f.Paths, f.Workspace = []paths.Use{g.Literal(op, path)}, g.Roots.Workspace()
	})
}

// CheckURL decides about a URL as a fetch tool would request it, and all its redirects, without rules about
// calls.
func (s *Set) CheckURL(url, method string, redirects []string, who policy.Subject, at At) policy.Decision {
	c := policy.Call{Tool: fetchTool, Class: string(tools.Read), Args: map[string]any{"url": url}}
	return s.decideUse(c.From(who), at, func(a *author, f *policy.Facts) {
		f.URLs = urls.Follow(url, method, redirects, at.Lookup)
		at.serversOf(a).Judge(f.URLs)
	})
}

// decideUse decides about what a call touches, without the call.
func (s *Set) decideUse(c policy.Call, at At, fill func(*author, *policy.Facts)) policy.Decision {
	decide := func(a *author) policy.Decision {
		f := &policy.Facts{Call: c}
		fill(a, f)
		p := a.policy
		p.Calls = []policy.Rule[policy.Env]{{Effect: policy.Allow}}
		return p.Decide(f, a.moment(at))
	}
	d := decide(s.own)
	if s.locked != nil {
		d = policy.Stricter(d, decide(s.locked))
	}
	return d
}
