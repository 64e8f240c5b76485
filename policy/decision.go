package policy

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Decision is what a policy says of one call. Rule and Place are empty where the default decided.
type Decision struct {
	Effect  Effect    `json:"effect"` // Audit: allowed, and dry runs held
	Rule    string    `json:"rule,omitempty"`
	Place   string    `json:"place,omitempty"`
	Why     string    `json:"why,omitempty"`
	Instead string    `json:"instead,omitempty"` // what would be allowed
	Operand string    `json:"operand,omitempty"` // the program, path or URL that the rule holds for
	Span    *Span     `json:"span,omitempty"`    // of Operand in the command; nil: unknown
	Audits  []Finding `json:"audits,omitempty"`  // dry runs that hold
	Facts   *Facts    `json:"facts,omitempty"`
	Reasons []Reason  `json:"-"` // all reasons to ask; nil if there are more than maxReasons
}

// Span is a part of a command. Start and End count its bytes.
type Span struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	Text  string `json:"text"`
}

// Finding is a rule that holds for a call but is not enforced.
type Finding struct {
	Rule   string `json:"rule"`
	Place  string `json:"place"`
	Why    string `json:"why"`
	Effect Effect `json:"effect"` // what it would have done: Ask or Deny
}

// Stricter combines two decisions: the stronger effect wins. Of two equal effects, a decision with a rule
// comes before one without, then a before b.
func Stricter(a, b Decision) Decision {
	if b.Effect.stronger(a.Effect) || a.Effect == b.Effect && a.Rule == "" && b.Rule != "" {
		a, b = b, a
	}
	a.Audits = append(a.Audits[:len(a.Audits):len(a.Audits)], b.Audits...)
	if a.Effect == Ask && b.Effect == Ask {
		all := reasons(nil).add(a.Reasons...).add(b.Reasons...)
		if few := len(a.Reasons) > 0 && len(b.Reasons) > 0 && len(all) <= maxReasons; few {
			a.Reasons = all
		} else {
			a.Reasons = nil
		}
	}
	return a
}

// maxQuoted is how many bytes of a call a message repeats.
const maxQuoted = 120

// Message tells the model why, about which part of the call, under which rule, and what it may do instead. It
// never mentions other rules.
func (d Decision) Message() string {
	about := ""
	switch s := d.Span; {
	case s != nil && d.Operand != "":
		about = fmt.Sprintf(" It is about %s, in bytes %d to %d of the command.", quoted(d.Operand), s.Start,
			s.End)
	case s != nil:
		about = fmt.Sprintf(" It is about bytes %d to %d of the command.", s.Start, s.End)
	case d.Operand != "":
		about = fmt.Sprintf(" It is about %s.", quoted(d.Operand))
	}
	return d.sentence(about)
}

// Reason is Message without the part of the call, for a person who sees the call.
func (d Decision) Reason() string { return d.sentence("") }

func (d Decision) sentence(about string) string {
	instead := ""
	if d.Instead != "" {
		instead = " Instead: " + sentence(d.Instead)
	}
	return sentence(d.Why) + about + instead + " (rule " + cmp.Or(d.Rule, "default") + ")"
}

// sentence returns s with a full stop at its end.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

// quoted quotes text of a call, shortened, with invisible characters escaped.
func quoted(s string) string {
	if len(s) > maxQuoted {
		s = strings.ToValidUTF8(s[:maxQuoted], "") + "…"
	}
	return strconv.Quote(s)
}
