package noise

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Row sums verdicts of one kind of case.
type Row struct {
	Cases, Owed, Recovered, Missed, AskedAgain, WrongName, WrongValue int
	False                                                             map[Class]int
	Leaks, Lost, Extra                                                int
	Good                                                              int    // cases that were read well
	Example                                                           uint64 // a seed that was not read well
}

// Rate is the share of owed calls that were recovered.
func (r *Row) Rate() float64 {
	if r.Owed == 0 {
		return 1
	}
	return float64(r.Recovered) / float64(r.Owed)
}

// Worth is the rate; without owed calls, the share of cases that were read well.
func (r *Row) Worth() float64 {
	if r.Owed == 0 && r.Cases > 0 {
		return float64(r.Good) / float64(r.Cases)
	}
	return r.Rate()
}

// Table is a measurement, by "all", "chain N", "op ID", "pair A+B" and "negative ID".
type Table map[string]*Row

// Measure lets a reader read n cases from a seed on.
func Measure(seed uint64, n int, o Options, read func(Case) Got) Table {
	t := Table{}
	for i := range uint64(n) {
		c := New(seed+i, o)
		v := Judge(c, read(c))
		t.add("all", c, v)
		t.add(fmt.Sprintf("chain %d", len(c.Ops)), c, v)
		if c.Negative != "" {
			t.add("negative "+c.Negative, c, v)
		}
		for j, op := range c.Ops {
			t.add("op "+op, c, v)
			for _, other := range c.Ops[j+1:] {
				t.add("pair "+op+"+"+other, c, v)
			}
		}
	}
	return t
}

func (t Table) add(key string, c Case, v Verdict) {
	r := t[key]
	if r == nil {
		r = &Row{}
		t[key] = r
	}
	if r.Add(v); !v.Good() && r.Example == 0 {
		r.Example = c.Seed
	}
}

// Add adds a verdict.
func (r *Row) Add(v Verdict) {
	r.Cases++
	r.Owed += v.Owed
	r.Recovered += v.Recovered
	r.Missed += v.Missed
	r.AskedAgain += v.AskedAgain
	r.WrongName += v.WrongName
	r.WrongValue += v.WrongValue
	for class, n := range v.False {
		if r.False == nil {
			r.False = map[Class]int{}
		}
		r.False[class] += n
	}
	if v.Good() {
		r.Good++
	}
	for _, p := range []struct {
		n   *int
		yes bool
	}{{&r.Leaks, v.Leak}, {&r.Lost, v.Lost}, {&r.Extra, v.Extra}} {
		if p.yes {
			*p.n++
		}
	}
}

// Write prints the rows whose keys begin with one of the prefixes, the worst first.
func (t Table) Write(w io.Writer, prefixes ...string) error {
	var keys []string
	for key := range t {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(key, p) }) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(t[a].Rate(), t[b].Rate()), cmp.Compare(a, b))
	})
	for _, key := range keys {
		r := t[key]
		if _, err := fmt.Fprintf(w,
			"%-34s cases %6d  recovered %5.1f%%  missed %d  again %d  name %d  value %d  false r%d w%d x%d  leak %d  lost %d  extra %d  seed %d\n",
			key, r.Cases, 100*r.Rate(), r.Missed, r.AskedAgain, r.WrongName, r.WrongValue, r.False[Reads],
			r.False[Writes], r.False[Executes], r.Leaks, r.Lost, r.Extra, r.Example); err != nil {
			return fmt.Errorf("write table: %w", err)
		}
	}
	return nil
}
