package policy

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// Facts is what is known of a call.
type Facts struct {
	Call Call `json:"call"`
	// the agent's folder; {workspace} in the texts of rules
	Workspace string        `json:"workspace,omitempty"`
	Home      string        `json:"-"`                // the folder that ~ stands for
	Script    *shell.Script `json:"script,omitempty"` // what its command can do; nil: no command
	Paths     []paths.Use   `json:"paths,omitempty"`  // of a file tool; commands have their own
	URLs      []urls.Use    `json:"urls,omitempty"`   // of a fetch tool; commands have their own
}

// Counts returns what the call adds to each rate with this decision, even if it never runs.
func (d Decision) Counts() map[string]int {
	n := map[string]int{"calls": 1}
	if d.Facts != nil {
		n = d.Facts.counts()
	}
	switch d.Effect {
	case Deny:
		n["denied"] = 1
	case Ask:
		n["asked"] = 1
	}
	return n
}

// counts returns the counts that do not depend on the decision.
func (f *Facts) counts() map[string]int {
	n := map[string]int{"calls": 1, RateOfTool + f.Call.Tool: 1, "fetches": len(f.URLs)}
	add := func(uses []paths.Use) {
		for i := range uses {
			switch uses[i].Op {
			case string(paths.Write):
				n["writes"]++
			case string(paths.Delete):
				n["deletes"]++
			}
		}
	}
	add(f.Paths)
	for cmd := range f.commands() {
		n["commands"]++
		n["fetches"] += len(cmd.URLs)
		add(cmd.Writes)
		add(cmd.Deletes)
	}
	return n
}

// expand inserts the workspace into the text of a rule.
func (f *Facts) expand(text string) string {
	return strings.ReplaceAll(text, "{workspace}", f.Workspace)
}

// span returns where a command stands in Call.Command; nil: unknown.
func (f *Facts) span(c *shell.Command) *Span {
	if c == nil || c.End <= c.Start || c.Start < 0 || c.End > len(f.Call.Command) {
		return nil
	}
	return &Span{c.Start, c.End, f.Call.Command[c.Start:c.End]}
}
