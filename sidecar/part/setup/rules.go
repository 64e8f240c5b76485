package setup

import (
	"fmt"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// rules checks whether the rules load.
func (p *Patient) rules() (out []Check) {
	r := p.Rules
	command := "gpt-oss-executor check " + r.Folder
	if r.Err != nil {
		return []Check{{Name: "rules", Status: fail, Found: r.Err.Error(),
			Fix: "gpt-oss-executor init " + r.Folder +
				" writes rules into it; or leave --rules out for the built-in ones"}}
	}
	for _, pr := range r.Problems {
		c := Check{Name: "rules", Status: fail, Found: fmt.Sprintf("%s:%d:%d: %s [%s]", pr.File, pr.Line,
			pr.Col, pr.Msg, pr.Code), Fix: pr.Hint}
		if pr.Warning {
			c.Status = warn
		}
		if c.Fix != "" {
			c.Fix += "; "
		}
		c.Fix += command + " shows it"
		out = append(out, c)
	}
	if len(out) == 0 {
		out = []Check{{Name: "rules", Status: ok, Found: fmt.Sprintf("the rules load: %s, version %s",
			r.Folder, p.Set.Version)}}
	}
	return out
}

// profile checks how strict the policy is.
func profile(set *ruleset.Set, folder string) Check {
	c := Check{Name: "policy", Status: ok, Found: "the profile of the policy is " + set.Profile()}
	if locked := set.LockedProfile(); locked != "" {
		c.Found += ", the locked one " + locked + "; the stricter of both holds"
		return c
	}
	more := map[string]string{"permissive": ": what no rule denies or asks about leaves",
		"audit-only": ": every call leaves, and is only logged"}[set.Profile()]
	if more != "" {
		c.Status, c.Found, c.Fix = warn, c.Found+more, "gpt-oss-executor policy profile developer --rules "+
			folder
	}
	return c
}
