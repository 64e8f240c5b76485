package policy

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Decision is what a policy says of one call. Rule and Place are empty where the
// default decided.
type Decision struct {
	Effect  Effect    `json:"effect"` // Audit: it leaves, and dry runs held
	Rule    string    `json:"rule,omitempty"`
	Place   string    `json:"place,omitempty"`
	Why     string    `json:"why,omitempty"`
	Instead string    `json:"instead,omitempty"` // what would be allowed
	Operand string    `json:"operand,omitempty"` // the program, path or URL that it is about
	Span    *Span     `json:"span,omitempty"`    // where that stands in the command; nil: unknown
	Audits  []Finding `json:"audits,omitempty"`  // the dry runs that hold
	Facts   *Facts    `json:"facts,omitempty"`   // what was known
	Reasons []Reason  `json:"-"`                 // of Ask, all of them; none: too many to be looked through
}

// Span is a part of a command. Start and End count its bytes.
type Span struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	Text  string `json:"text"`
}

// Finding is a rule that holds for a call and is not enforced.
type Finding struct {
	Rule   string `json:"rule"`
	Place  string `json:"place"`
	Why    string `json:"why"`
	Effect Effect `json:"effect"` // what it would have done: Ask or Deny
}

// Stricter joins what two policies say: the stronger effect wins. Of two that
// agree, the one with a rule is told, else the first.
func Stricter(a, b Decision) Decision {
	if b.Effect.stronger(a.Effect) || a.Effect == b.Effect && a.Rule == "" && b.Rule != "" {
		a, b = b, a
	}
	a.Audits = append(a.Audits[:len(a.Audits):len(a.Audits)], b.Audits...)
	if a.Effect == Ask && b.Effect == Ask {
		all := reasons(nil).with(a.Reasons...).with(b.Reasons...)
		if few := len(a.Reasons) > 0 && len(b.Reasons) > 0 && len(all) <= maxReasons; few {
			a.Reasons = all
		} else {
			a.Reasons = nil
		}
	}
	return a
}

// maxQuoted is how many bytes of a call are repeated in a message.
const maxQuoted = 120

// Message is what the model is told: why, about which part, under which rule, and what
// it may do instead. It never tells what other rules there are.
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

// Reason is Message for a person who sees the call.
func (d Decision) Reason() string { return d.sentence("") }

func (d Decision) sentence(about string) string {
	instead := ""
	if d.Instead != "" {
		instead = " Instead: " + sentence(d.Instead)
	}
	return sentence(d.Why) + about + instead + " (rule " + cmp.Or(d.Rule, "default") + ")"
}

// sentence is s with a full stop at its end.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

// quoted is a text of a call in quotes, cut short, with what is invisible written out.
func quoted(s string) string {
	if len(s) > maxQuoted {
		s = strings.ToValidUTF8(s[:maxQuoted], "") + "…"
	}
	return strconv.Quote(s)
}
