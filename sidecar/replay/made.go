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

// Made is what a caller sees of a reply, and why calls were refused, which decides on further requests.
type Made struct {
	Calls     []MadeCall `json:"calls"`
	Content   string     `json:"content"`
	Reasoning string     `json:"reasoning"`
	Finish    string     `json:"finish_reason"`
	Refused   []string   `json:"refused"`
	Repairs   int        `json:"-"`
}

// MadeCall is a call of it.
type MadeCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Make returns what a rule set makes of a record. A record without a reply is an error.
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

func (s *recordReading) made() Made {
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

// SignTest returns how probable it is that chance splits the pairs that are right in one of two sets at
// least as unevenly: the exact two-sided sign test.
func SignTest(better, worse int) float64 {
	n, fewer := better+worse, min(better, worse)
	all, _ := math.Lgamma(float64(n + 1))
	p := 0.0
	for k := range fewer + 1 {
		a, _ := math.Lgamma(float64(k + 1))
		b, _ := math.Lgamma(float64(n - k + 1))
		p += math.Exp(all - a - b - float64(n)*math.Ln2)
	}
	return min(1, 2*p)
}

// Words describes a reading on one line, with reasoning and finish on request. clipped shortens a part.
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
