package replay

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Comparison is what two rule sets made of one record. Where the record expects
// nothing, Want is nil and both are neither right nor wrong.
type Comparison struct {
	ID       json.RawMessage `json:"id,omitempty"`
	Change   Change          `json:"change"`
	Old      Made            `json:"old"`
	New      Made            `json:"new"`
	Want     json.RawMessage `json:"expect,omitempty"`
	OldRight bool            `json:"old_right"`
	NewRight bool            `json:"new_right"`
}

// Change is how two readings of one reply relate.
type Change string

// The changes.
const (
	Same    Change = "same"
	Better  Change = "better"  // wrong before, right now
	Worse   Change = "worse"   // right before, wrong now
	Changed Change = "changed" // they differ, and neither of the above
)

// Made is what a reply became: all that a caller sees of it, and why calls were
// refused, since that decides what is asked again.
type Made struct {
	Calls     []MadeCall `json:"calls"`
	Content   string     `json:"content"`
	Reasoning string     `json:"reasoning"`
	Finish    string     `json:"finish_reason"`
	Refused   []string   `json:"refused"`
	Repairs   int        `json:"-"`
}

// MadeCall is one call of it.
type MadeCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Compare reads a record with two rule sets. A record without a reply, or with an
// expectation that cannot be read, is an error.
func Compare(before, after *ruleset.Set, in guard.World, profile string, rec *Record) (*Comparison, error) {
	if err := rec.check(); err != nil {
		return nil, err
	}
	want, err := rec.Expected()
	if err != nil {
		return nil, err
	}
	c := &Comparison{ID: rec.ID, Change: Same}
	if c.Old, err = rec.made(before, in, profile); err != nil {
		return nil, err
	}
	if c.New, err = rec.made(after, in, profile); err != nil {
		return nil, err
	}
	if want != nil {
		c.Want, c.OldRight, c.NewRight = rec.Expect, want.fits(&c.Old), want.fits(&c.New)
	}
	switch {
	case c.NewRight && !c.OldRight:
		c.Change = Better
	case c.OldRight && !c.NewRight:
		c.Change = Worse
	case !c.Old.Same(&c.New):
		c.Change = Changed
	}
	return c, nil
}

// Make is what a rule set makes of a record. One without a reply is an error.
func (rec *Record) Make(set *ruleset.Set, in guard.World, profile string) (Made, error) {
	if err := rec.check(); err != nil {
		return Made{}, err
	}
	return rec.made(set, in, profile)
}

// made is what a rule set makes of the record.
func (rec *Record) made(set *ruleset.Set, in guard.World, profile string) (Made, error) {
	s, err := rec.read(set, in, profile, true)
	if err != nil {
		return Made{}, err
	}
	return s.made(), nil
}

func (s *seen) made() Made {
	r := &s.reading
	m := Made{Calls: []MadeCall{}, Content: r.Content, Reasoning: r.Reasoning, Finish: r.Finish,
		Refused: []string{}}
	for _, c := range r.Calls {
		m.Calls = append(m.Calls, MadeCall{c.Name, c.Arguments})
		m.Repairs += len(c.Repairs)
	}
	for i := range r.Refused {
		m.Refused = append(m.Refused, r.Refused[i].Error())
	}
	return m
}

// Same reports whether a caller sees no difference.
func (m *Made) Same(o *Made) bool {
	return m.Content == o.Content && m.Reasoning == o.Reasoning && m.Finish == o.Finish &&
		slices.Equal(m.Refused, o.Refused) &&
		slices.EqualFunc(m.Calls, o.Calls,
			func(a, b MadeCall) bool { return a.Name == b.Name && tools.SameJSON(a.Arguments, b.Arguments) })
}

// Tally counts comparisons. Better, Worse, Changed and Same are all of them;
// Better, Worse, BothRight and BothWrong those with an expectation.
type Tally struct {
	Better    int `json:"better"`
	Worse     int `json:"worse"`
	Changed   int `json:"changed"`
	Same      int `json:"same"`
	BothRight int `json:"both_right"`
	BothWrong int `json:"both_wrong"`
}

// Add counts one comparison.
func (t *Tally) Add(c *Comparison) {
	switch c.Change {
	case Better:
		t.Better++
	case Worse:
		t.Worse++
	case Changed:
		t.Changed++
	case Same:
		t.Same++
	}
	switch {
	case c.Want == nil:
	case c.OldRight && c.NewRight:
		t.BothRight++
	case !c.OldRight && !c.NewRight:
		t.BothWrong++
	}
}

// All is the number of comparisons.
func (t *Tally) All() int { return t.Better + t.Worse + t.Changed + t.Same }

// SignTest is how probable it is that pure chance splits the pairs that are right
// in one set only at least as unevenly as this: the two-sided sign test, exact.
func (t *Tally) SignTest() float64 {
	n, fewer := t.Better+t.Worse, min(t.Better, t.Worse)
	all, _ := math.Lgamma(float64(n + 1))
	p := 0.0
	for k := range fewer + 1 {
		a, _ := math.Lgamma(float64(k + 1))
		b, _ := math.Lgamma(float64(n - k + 1))
		p += math.Exp(all - a - b - float64(n)*math.Ln2)
	}
	return min(1, 2*p)
}

// Words are a reading on one line; reasoning and finish only where they matter. clipped shortens a part.
func (m *Made) Words(mused, ended bool, clipped func(string) string) string {
	var parts []string
	for _, c := range m.Calls {
		parts = append(parts, clipped(c.Name+" "+string(c.Arguments)))
	}
	if len(m.Calls) == 0 {
		parts = append(parts, "no call")
	}
	for _, why := range m.Refused {
		parts = append(parts, "refused "+clipped(why))
	}
	if strings.TrimSpace(m.Content) != "" {
		parts = append(parts, fmt.Sprintf("text %q", clipped(m.Content)))
	}
	if mused {
		parts = append(parts, fmt.Sprintf("reasoning %q", clipped(m.Reasoning)))
	}
	if ended {
		parts = append(parts, "finish "+m.Finish)
	}
	return strings.Join(parts, "; ")
}
