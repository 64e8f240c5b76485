package eval

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
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

// Against returns what was right in a saved report and is wrong now; nothing if path is empty. A report
// without anything in common is an error, since otherwise a renamed variant would pass every check.
func (r *Report) Against(path string) (worse []string, err error) {
	if path == "" {
		return nil, nil
	}
	doc, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	before, err := Baseline(doc)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	lines, err := r.Regressions(before)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, line := range lines {
		worse = append(worse, "was right, is wrong: "+terminal.Printable(line))
	}
	return worse, nil
}

// Regressions returns the cases that were right in an earlier report and are wrong now, by variant.
// Variants and cases of only one report do not count.
func (r *Report) Regressions(before *Report) (out []string, err error) {
	variants, cases, were := 0, 0, 0
	for i, now := range r.Variants {
		k := slices.IndexFunc(before.Variants, func(s *Sum) bool { return s.Name == now.Name })
		if k < 0 {
			continue
		}
		right := map[string]bool{}
		for _, key := range before.Variants[k].RightCases {
			right[key] = true
		}
		variants, were = variants+1, were+len(right)
		for _, row := range r.All {
			if !row.Labelled || !right[row.key] {
				continue
			}
			if cases++; !row.Made[i].Right {
				out = append(out, now.Name+": "+row.ID+" ("+row.Place+")")
			}
		}
	}
	switch {
	case variants == 0:
		return nil, fmt.Errorf("nothing to compare with: its variants are %s, and these are %s",
			strings.Join(before.names(), ", "), strings.Join(r.names(), ", "))
	case cases == 0 && were > 0:
		return nil, errors.New("nothing to compare with: no case that was right there is in these corpora")
	}
	return out, nil
}

// Baseline reads a report that was saved as JSON.
func Baseline(doc []byte) (*Report, error) {
	var r Report
	if err := json.Unmarshal(doc, &r); err != nil {
		return nil, fmt.Errorf("this is no report of eval --json: %w", jsontext.Error(err))
	}
	if len(r.Variants) == 0 || slices.Contains(r.Variants, nil) {
		return nil, errors.New("this is no report of eval --json: it has no variants")
	}
	for _, s := range r.Variants {
		if s.Right != len(s.RightCases) {
			return nil, fmt.Errorf("%s: the report does not name the cases that were right; save it again",
				s.Name)
		}
	}
	return &r, nil
}

// Pair compares two variants over labelled cases.
type Pair struct {
	A       string  `json:"a"`
	B       string  `json:"b"`
	Both    int     `json:"both_right"`
	OnlyA   int     `json:"only_a"`
	OnlyB   int     `json:"only_b"`
	Neither int     `json:"neither"`
	CasesA  int     `json:"cases_a"` // in which A is right more often; equals only_a without repetitions
	CasesB  int     `json:"cases_b"`
	P       float64 `json:"p"` // probability of this split by chance: exact sign test
}

// Finish compares all pairs of variants.
func (r *Report) Finish() {
	r.steady()
	if r.Variants[0].Labelled == 0 {
		return
	}
	for a := range r.Variants {
		for b := a + 1; b < len(r.Variants); b++ {
			r.Pairs = append(r.Pairs, r.pair(a, b))
		}
	}
}

// pair compares two variants. Repetitions of a case are not independent, so they are one observation: the
// case counts for the variant that is right more often.
func (r *Report) pair(a, b int) Pair {
	p := Pair{A: r.Variants[a].Name, B: r.Variants[b].Name}
	leads := map[string]int{} // cases in which b is better, less those in which a is
	for i, row := range r.All {
		if !row.Labelled {
			continue
		}
		unit := cmp.Or(row.unit, fmt.Sprint(i))
		switch x, y := row.Made[a].Right, row.Made[b].Right; {
		case x && y:
			p.Both++
		case x:
			p.OnlyA++
			leads[unit]--
		case y:
			p.OnlyB++
			leads[unit]++
		default:
			p.Neither++
		}
	}
	for _, lead := range leads {
		p.CasesA, p.CasesB = p.CasesA+count(lead < 0), p.CasesB+count(lead > 0)
	}
	p.P = replay.SignTest(p.CasesB, p.CasesA)
	return p
}

// Headline states which variant is best, and with what confidence.
func (r *Report) Headline() string {
	first := r.Variants[0]
	switch {
	case len(r.Variants) < 2:
		return fmt.Sprintf("%d replies, %d of them labelled.", r.Cases, first.Labelled)
	case first.Labelled == 0:
		differ := 0
		for i := range r.Rows {
			differ += count(r.Rows[i].Differs)
		}
		return fmt.Sprintf("%d replies, none of them labelled: %d read differently.", r.Cases, differ)
	}
	best := slices.MaxFunc(r.Variants, func(a, b *Sum) int { return a.Right - b.Right })
	if best.Right == first.Right {
		return fmt.Sprintf("No variant reads more of the %d labelled replies rightly than %s: %d.",
			first.Labelled, first.Name, first.Right)
	}
	i := slices.IndexFunc(r.Pairs, func(p Pair) bool { return p.A == first.Name && p.B == best.Name })
	p := r.Pairs[i]
	sure, comparisons := "and that may be chance", float64(len(r.Variants)-1)
	if p.CasesB > p.CasesA && p.P <= 0.05/comparisons { // of many variants the best is often good by chance
		sure = "and that is hardly chance"
	}
	if first.Steady != nil {
		return fmt.Sprintf("%s is right more often than %s in %d of %d cases that differ, %s (p = %.2g).",
			best.Name, first.Name, p.CasesB, p.CasesA+p.CasesB, sure, p.P)
	}
	return fmt.Sprintf("%s reads %d replies rightly that %s reads wrongly, and %d the other way round, %s (p = %.2g).", best.Name, p.OnlyB, first.Name, p.OnlyA, sure, p.P)
}
