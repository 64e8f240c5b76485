package tools

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// outcomes counts what became of drawn calls.
// Those said are those that came out of the slips as valid JSON of another value: nobody can tell.
type outcomes struct{ right, refused, wrong, said int }

// TestSlips: a call with one or two slips in its arguments is mended to what was meant, or
// refused. One that writes or executes is never wrong. SLIPS=200000 SLIPS_SEED=2 draws more,
// and others.
func TestSlips(t *testing.T) {
	count, stream := 10_000, 1
	if n, err := strconv.Atoi(os.Getenv("SLIPS")); err == nil {
		count = n
	}
	if n, err := strconv.Atoi(os.Getenv("SLIPS_SEED")); err == nil {
		stream = n
	}
	every := slices.Concat(slips, streamSlips)
	all := map[string]*outcomes{}
	by := map[string]*outcomes{}
	shown := map[string]int{}
	for seed := range count {
		r := rand.New(rand.NewPCG(uint64(stream), uint64(seed)))
		d := draw(r)
		meant := d.String()
		done := []string{}
		for range 1 + r.IntN(2) {
			s := every[r.IntN(len(every))]
			s.do(d)
			done = append(done, s.name)
		}
		slices.Sort(done)
		text := d.String()
		name, _, _ := strings.Cut(d.tool.spec, "(")
		c := catalogOf(d.tool.spec)
		got, refusal := c.Call(name, []byte(text), d.end)
		class := string(c.Class(name))
		var one outcomes
		switch {
		case refusal != nil:
			one.refused = 1
		case SameJSON(got.Arguments, []byte(meant)):
			one.right = 1
		case len(got.Repairs) == 0:
			one.said = 1
		default:
			one.wrong = 1
			key := class + ": " + strings.Join(done, " + ")
			if shown[done[0]+class]++; shown[done[0]+class] <= 2 {
				t.Logf("%s\n meant %s\n text  %s\n got   %s", key, meant, text, got.Arguments)
			}
		}
		for _, k := range []string{class, fmt.Sprint(class, " ", len(done))} {
			all[k] = all[k].plus(one)
		}
		for _, s := range slices.Compact(done) {
			by[s] = by[s].plus(one)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		t.Logf("%-8s %+v", k, *all[k])
	}
	for _, k := range slices.SortedFunc(maps.Keys(by),
		func(a, b string) int { return cmp.Compare(by[b].wrong, by[a].wrong) }) {
		t.Logf("%-22s %+v", k, *by[k])
	}
	for _, class := range []Class{Write, Exec} {
		if n := all[string(class)].wrong; n > 0 {
			t.Errorf("%s: %d wrong", class, n)
		}
	}
}

func (o *outcomes) plus(p outcomes) *outcomes {
	if o == nil {
		o = &outcomes{}
	}
	o.right, o.refused, o.wrong, o.said = o.right+p.right, o.refused+p.refused, o.wrong+p.wrong, o.said+p.said
	return o
}
