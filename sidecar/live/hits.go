package live

import "time"

// Hits tell which rules have had a part in something since the program started.
type Hits struct {
	Since time.Time  `json:"since"`
	Rules []RuleHits `json:"rules"` // of the rules in force, in the order of the files
	Gone  float64    `json:"gone"`  // hits of rules that are not in force any more
}

// RuleHits is a rule, and in how many replies and calls it had a part. Lines of a file that have
// one name, such as all names of one tool, are counted together.
type RuleHits struct {
	ID     string   `json:"rule"`
	File   string   `json:"file"`
	Places []string `json:"places"` // file:line
	Hits   float64  `json:"hits"`
}

// Hits reads the counters of rule_hits_total. Counting costs nothing more than these.
func (l *Rules) Hits() Hits {
	out := Hits{Since: l.started, Rules: []RuleHits{}}
	at := map[[2]string]int{}
	for _, r := range l.Set().Rules() {
		key := [2]string{r.File, r.ID}
		i, known := at[key]
		if !known {
			i = len(out.Rules)
			at[key] = i
			out.Rules = append(out.Rules, RuleHits{ID: r.ID, File: r.File})
		}
		out.Rules[i].Places = append(out.Rules[i].Places, r.Place)
	}
	l.metrics.EachHit(func(file, rule string, n float64) {
		if i, known := at[[2]string{file, rule}]; known {
			out.Rules[i].Hits += n
		} else {
			out.Gone += n
		}
	})
	return out
}
