package ruleset

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Rule is one entry of a rule file, as counters and coverage name it. The names of a tool, or of one of its
// arguments, are one rule per line.
type Rule struct {
	Place string `json:"place"` // file:line
	File  string `json:"file"`
	ID    string `json:"id"` // "markers" of strategies.yaml, "tools.exec" of aliases.yaml
}

// rulebook lists the rules that readings can hit.
type rulebook struct {
	rules []Rule         // in the order of the files
	at    map[string]int // place → index
}

// add adds a rule; the first one of a line names it.
func (b *rulebook) add(at rulefile.Place, id string) {
	if at.Known() {
		b.put(Rule{at.String(), at.File(), id})
	}
}

// put is add for a rule that has its place.
func (b *rulebook) put(r Rule) {
	if b.at == nil {
		b.at = map[string]int{}
	}
	if _, known := b.at[r.Place]; !known && r.Place != "" {
		b.at[r.Place] = len(b.rules)
		b.rules = append(b.rules, r)
	}
}

// Rules returns all rules that readings can hit.
func (s *Set) Rules() []Rule { return s.book.rules }

// Hit calls each once for every rule that took part in a reading, in order. A candidate that a strategy
// released is no hit.
func (s *Set) Hit(r *parse.Reading, each func(Rule)) {
	if len(r.Steps) == 0 && len(r.Calls) == 0 {
		return // most replies are text and nothing else
	}
	seen := make(map[string]bool, 4)
	hit := func(place string) {
		if i, known := s.book.at[place]; known && !seen[place] {
			seen[place] = true
			each(s.book.rules[i])
		}
	}
	for i := range r.Steps {
		if r.Steps[i].Outcome != parse.Released {
			hit(r.Steps[i].Rule)
		}
	}
	for i := range r.Calls {
		s.hitRepairs(r.Calls[i].Repairs, hit)
	}
}

func (s *Set) hitRepairs(repairs []tools.Repair, hit func(place string)) {
	for _, fix := range repairs {
		if strings.IndexByte(fix.Rule, ':') > 0 {
			hit(fix.Rule)
		}
	}
}
