package eval

import (
	"fmt"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
)

// Sum is the result of a variant.
type Sum struct {
	Name            string  `json:"name"`
	Rules           string  `json:"rules_version"`
	Cases           int     `json:"cases"`
	Labelled        int     `json:"labelled"`
	Right           int     `json:"right"`
	CallsExact      int     `json:"calls_exact"`
	CallsTotal      int     `json:"calls_total"`
	FalseCalls      int     `json:"false_calls"`
	Leaks           int     `json:"leaks"`
	ContentOK       int     `json:"content_ok"`
	ContentTotal    int     `json:"content_total"`
	ReasoningOK     int     `json:"reasoning_ok"`
	ReasoningTotal  int     `json:"reasoning_total"`
	UnresolvedOK    int     `json:"unresolved_ok"`
	UnresolvedTotal int     `json:"unresolved_total"`
	Repairs         int     `json:"repairs"`
	Refused         int     `json:"refused"`
	Errors          int     `json:"errors,omitempty"` // failures of the server
	Steady          *Steady `json:"steady,omitempty"` // for cases with repetitions
	Spent
	Categories map[string]*Sum `json:"by_category,omitempty"`
	RightCases []string        `json:"right_cases,omitempty"` // keys of cases, for a baseline
}

// Row is a case with the readings of all variants.
type Row struct {
	ID        string  `json:"id"`
	Category  string  `json:"category,omitempty"`
	Place     string  `json:"place"`
	Labelled  bool    `json:"labelled"`
	Made      []*Made `json:"made"` // in the order of the variants
	Differs   bool    `json:"differs"`
	Want      any     `json:"expect,omitempty"`
	key       string  // id; the second case with an id is ID#2
	notJudged []string
	of        string // case and temperature, if it was repeated
	unit      string // the case, whose repetitions are one observation
}

// Report is the result of an evaluation.
type Report struct {
	Variants  []*Sum         `json:"variants"`
	Pairs     []Pair         `json:"pairs"`
	Rows      []Row          `json:"rows"` // in which variants differ or are wrong
	All       []Row          `json:"-"`
	Cases     int            `json:"cases"`
	NotJudged map[string]int `json:"not_judged,omitempty"` // ignored keys of labels → number of cases
	ids       map[string]int // number of cases per id
}

// Run reads one case with every variant.
func Run(c *Case, variants []Variant, in guard.World) (Row, []*Sum, error) {
	row := Row{ID: c.ID, Category: c.Category, Place: c.Place, Labelled: c.Want != nil,
		notJudged: c.NotJudged}
	if c.Want != nil {
		row.Want = c.Record.Expect
	}
	var sums []*Sum
	for _, v := range variants {
		began := time.Now()
		made, err := c.Record.Make(v.Set, in, v.Profile)
		if err != nil {
			return row, nil, fmt.Errorf("%s: %w", c.Place, err)
		}
		m, s := c.tally(v, made, Spent{Milliseconds: milliseconds(time.Since(began))})
		row.Made, sums = append(row.Made, m), append(sums, s)
		row.Differs = row.Differs || !row.Made[0].Same(&m.Made)
	}
	return row, sums, nil
}

// tally judges the reading of a case by a variant.
func (c *Case) tally(v Variant, made replay.Made, took Spent) (*Made, *Sum) {
	m := c.Want.judge(made)
	s := &Sum{Name: v.Name, Rules: v.Set.Version, Cases: 1, Repairs: made.Repairs, Refused: len(made.Refused),
		Spent: took}
	if w := c.Want; w != nil {
		s.Labelled, s.Right = 1, count(m.Right)
		if w.Calls != nil && len(*w.Calls) > 0 {
			s.CallsTotal, s.CallsExact = 1, count(m.CallsOK)
		}
		s.FalseCalls, s.Leaks = m.False, count(m.Leak)
		if w.saysText || len(w.ContentAny) > 0 {
			s.ContentTotal, s.ContentOK = 1, count(m.ContentOK)
		}
		if w.Reasoning != nil {
			s.ReasoningTotal, s.ReasoningOK = 1, count(m.ReasoningOK)
		}
		if len(w.Unresolved) > 0 {
			s.UnresolvedTotal, s.UnresolvedOK = 1, count(m.UnresolvedOK)
		}
	}
	return &m, s
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// NewReport returns an empty report.
func NewReport(variants []Variant) *Report {
	r := &Report{Pairs: []Pair{}, Rows: []Row{}, NotJudged: map[string]int{}, ids: map[string]int{}}
	for _, v := range variants {
		r.Variants = append(r.Variants, &Sum{Name: v.Name, Rules: v.Set.Version,
			Categories: map[string]*Sum{}})
	}
	return r
}

// Add adds a case.
func (r *Report) Add(row Row, sums []*Sum) {
	r.Cases++
	r.ids[row.ID]++
	if row.key = row.ID; r.ids[row.ID] > 1 {
		row.key = fmt.Sprintf("%s#%d", row.ID, r.ids[row.ID])
	}
	for _, key := range row.notJudged {
		r.NotJudged[key]++
	}
	wrong := false
	for i, s := range sums {
		of := r.Variants[i]
		of.add(s)
		if row.Category != "" {
			c := of.Categories[row.Category]
			if c == nil {
				c = &Sum{Name: row.Category}
				of.Categories[row.Category] = c
			}
			c.add(s)
		}
		if row.Labelled && row.Made[i].Right {
			of.RightCases = append(of.RightCases, row.key)
		}
		wrong = wrong || row.Labelled && !row.Made[i].Right
	}
	r.All = append(r.All, row)
	if row.Differs || wrong {
		r.Rows = append(r.Rows, row)
	}
}

// Live reports whether a server was asked.
func (r *Report) Live() bool { return len(r.All) > 0 && r.All[0].of != "" }

// Each returns the mean cost of an answer.
func (s *Sum) Each() Spent {
	n := max(1, s.Cases)
	return Spent{s.Milliseconds / float64(n), s.First / float64(n), s.Prompt / n, s.Completion / n}
}

func (s *Sum) add(o *Sum) {
	for _, f := range [][2]*int{{&s.Cases, &o.Cases}, {&s.Labelled, &o.Labelled}, {&s.Right, &o.Right},
		{&s.CallsExact, &o.CallsExact}, {&s.CallsTotal, &o.CallsTotal},
		{&s.FalseCalls, &o.FalseCalls}, {&s.Leaks, &o.Leaks}, {&s.ContentOK, &o.ContentOK}, {&s.ContentTotal, &o.ContentTotal}, {&s.ReasoningOK, &o.ReasoningOK}, {&s.ReasoningTotal, &o.ReasoningTotal},
		{&s.UnresolvedOK, &o.UnresolvedOK}, {&s.UnresolvedTotal, &o.UnresolvedTotal}, {&s.Repairs, &o.Repairs}, {&s.Refused, &o.Refused}} {
		*f[0] += *f[1]
	}
	s.Spent.add(o.Spent)
}

// Steady counts how consistently cases with repetitions were right.
type Steady struct {
	Always    int `json:"always"` // right in all repetitions
	Sometimes int `json:"sometimes"`
	Never     int `json:"never"`
}

// Cases returns the number of cases.
func (s *Steady) Cases() int { return s.Always + s.Sometimes + s.Never }

// steady computes Steady for each variant.
func (r *Report) steady() {
	for i, v := range r.Variants {
		right, all := map[string]int{}, map[string]int{}
		for _, row := range r.All {
			if row.of != "" && row.Labelled {
				all[row.of]++
				right[row.of] += count(row.Made[i].Right)
			}
		}
		for id, n := range all {
			if v.Steady == nil {
				v.Steady = &Steady{}
			}
			switch right[id] {
			case n:
				v.Steady.Always++
			case 0:
				v.Steady.Never++
			default:
				v.Steady.Sometimes++
			}
		}
	}
}
