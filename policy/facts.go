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
	// where the agent works; {workspace} in the texts of rules
	Workspace string        `json:"workspace,omitempty"`
	Home      string        `json:"-"`                // what ~ stands for
	Script    *shell.Script `json:"script,omitempty"` // what its command can do; nil: it has none
	Paths     []paths.Use   `json:"paths,omitempty"`  // of a file tool, without those of commands
	URLs      []urls.Use    `json:"urls,omitempty"`   // of a fetch tool, without those of commands
}

// Counts is what a call adds to the rates with this decision, whatever becomes of it.
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

// counts are those that do not depend on what is decided.
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

// placed is the text of a rule with the workspace in it.
func (f *Facts) placed(text string) string {
	return strings.ReplaceAll(text, "{workspace}", f.Workspace)
}

// span is where a command stands; nil: unknown.
func (f *Facts) span(c *shell.Command) *Span {
	if c == nil || c.End <= c.Start || c.Start < 0 || c.End > len(f.Call.Command) {
		return nil
	}
	return &Span{c.Start, c.End, f.Call.Command[c.Start:c.End]}
}
