package eval_test

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/noise"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/eval"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// How many replies are measured for docs/reading.md, and from which seeds on.
const (
	aloneSeed, aloneCount       = 10_000_000, 500   // with one kind of damage, each
	chainSeed, chainCount       = 20_000_000, 6000  // with chains, each length
	negativeSeed, negativeCount = 30_000_000, 20000 // without a call
	familySeed, familyCount     = 40_000_000, 500   // of each other family, each length
)

// measured is what docs/reading.md shows.
type measured struct {
	alone     map[string]noise.Row // each damage by itself
	chains    map[int]noise.Row    // by how many damages
	mixes     map[string]noise.Row // other models
	noCall    map[string]noise.Row // their replies without a call
	negatives noise.Table
	families  map[string][]noise.Row // of others, by how they are damaged: measureFamily
}

func measureAll(t *testing.T) *measured {
	set := ruletest.Shipped(t)
	m := &measured{
		alone: map[string]noise.Row{}, chains: map[int]noise.Row{},
		mixes: map[string]noise.Row{}, noCall: map[string]noise.Row{},
	}
	ops := noise.Operators()
	alone := make([]noise.Row, len(ops))
	each(len(ops), func(i int) { alone[i] = measureOp(t, set, ops[i].ID) })
	for i, op := range ops {
		m.alone[op.ID] = alone[i]
	}
	lengths := []int{0, 1, 2, 4}
	tables := make([]noise.Table, len(lengths)+1)
	each(len(tables), func(i int) {
		if i == len(lengths) {
			tables[i] = noise.Measure(negativeSeed, negativeCount, noise.Options{Chain: -1, Negatives: true},
				reading(t, set))
			return
		}
		tables[i] = noise.Measure(chainSeed, chainCount, noise.Options{Chain: lengths[i]}, reading(t, set))
	})
	m.negatives = tables[len(lengths)]
	for i, n := range lengths {
		m.chains[n] = *tables[i]["all"]
	}
	for _, mix := range noise.Mixes() {
		m.mixes[mix.ID] = *noise.Measure(chainSeed, chainCount, noise.Options{Mix: mix.ID},
			reading(t, set))["all"]
		m.noCall[mix.ID] = *noise.Measure(negativeSeed, negativeCount,
			noise.Options{Mix: mix.ID, Negatives: true}, reading(t, set))["all"]
	}
	names := slices.DeleteFunc(slices.Clone(set.Families), func(f *ruleset.Family) bool { return len(eval.Frames(set, f.Name)) == 0 })
	rows := make([][]noise.Row, len(names))
	each(len(names), func(i int) { rows[i] = measureFamily(t, set, names[i].Name, familyCount) })
	m.families = map[string][]noise.Row{}
	for i, f := range names {
		m.families[f.Name] = rows[i]
	}
	return m
}

// measureFamily reads replies of a family with 0, 1 and 2 damages of its frames, then with one of arguments, and
// with one of each.
func measureFamily(t *testing.T, set *ruleset.Set, family string, count int) (rows []noise.Row) {
	frames := eval.Frames(set, family)
	for _, o := range []noise.Options{{}, {Chain: 1}, {Chain: 2}, {Arguments: true}, {Arguments: true, Chain: 1}} {
		o.Frames = frames
		rows = append(rows, *noise.Measure(familySeed, count, o, reading(t, set))["all"])
	}
	return rows
}

// each does jobs on all cores.
func each(n int, job func(i int)) {
	var all sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := range next {
				job(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
}

func reading(t *testing.T, set *ruleset.Set) func(noise.Case) noise.Got {
	return func(c noise.Case) noise.Got {
		got, err := stage.ReadMadeUp(set, c)
		if err != nil {
			t.Errorf("seed %d: %v", c.Seed, err)
		}
		return got
	}
}

// measureOp measures one damage. Replies that it could not change do not count.
func measureOp(t *testing.T, set *ruleset.Set, id string) noise.Row {
	row := noise.Measure(aloneSeed, aloneCount, noise.Options{Only: []string{id}, Chain: 1},
		reading(t, set))["op "+id]
	if row == nil {
		t.Errorf("%s has changed none of %d replies", id, aloneCount)
		return noise.Row{}
	}
	return *row
}

// Undamaged turns are read whole with the shipped rules. NOISE=n prints how many of n damaged ones are; with
// FIGURES=FILE each of those becomes a line there, so that two readers can be compared.
func TestNoise(t *testing.T) {
	read := reading(t, ruletest.Shipped(t))
	for seed := range uint64(300) {
		c := noise.New(seed, noise.Options{})
		if v := noise.Judge(c, read(c)); v.Recovered != v.Owed || v.WrongValue > 0 || v.WrongName > 0 {
			t.Errorf("seed %d: %+v", seed, v)
		}
	}
	n, err := strconv.Atoi(os.Getenv("NOISE"))
	if err != nil {
		return
	}
	lines, err := os.Create(cmp.Or(os.Getenv("FIGURES"), os.DevNull))
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	for _, o := range []noise.Options{{Chain: 1}, {Chain: 2}, {Chain: 4}, {Mix: "gpt-5"},
		{Mix: "gpt-5", Negatives: true}, {Chain: -1, Negatives: true}} {
		t.Logf("%+v", o)
		noted := func(c noise.Case) noise.Got {
			got := read(c)
			fmt.Fprintf(lines, "%+v\t%d\t%s\n", o, c.Seed, judged(c, got))
			return got
		}
		if err := noise.Measure(1, n, o, noted).Write(t.Output(), "all", "op ", "negative "); err != nil {
			t.Fatal(err)
		}
	}
}

// Calls in damaged frames of other families are read or asked for again; never with other arguments, and
// the same in any pieces.
func TestDamagedFrames(t *testing.T) {
	set := ruletest.Shipped(t)
	for _, f := range set.Families {
		if len(eval.Frames(set, f.Name)) == 0 {
			continue
		}
		for i, row := range measureFamily(t, set, f.Name, 40) {
			least, wrong := []float64{1, 0.9, 0.7, 0.4, 0.4}[i], sum(row.False)+row.Lost
			if i < 3 { // without damaged arguments
				wrong += row.WrongValue + row.WrongName + row.Leaks
			}
			if row.Rate() < least || wrong > 0 {
				t.Errorf("%s, damaged in way %d: %+v", f.Name, i, row)
			}
		}
		for seed := range uint64(10) {
			c := noise.New(familySeed+seed, noise.Options{Frames: eval.Frames(set, f.Name), Chain: 2})
			rec, err := recordOf(c)
			ruletest.Must(t, err)
			var pieces []string
			for _, d := range c.Deltas {
				pieces = append(pieces, base64.StdEncoding.EncodeToString([]byte(d.Content)))
			}
			rec.Message = nil
			read := func(in replay.RecordInput) string {
				rec.Input = &in
				e, err := replay.Explain(set, guard.World{}, "", rec)
				ruletest.Must(t, err)
				got := fmt.Sprintf("%q", e.Content)
				for _, c := range e.Calls {
					got += fmt.Sprintf("\n%s %s", c.Name, c.Arguments)
				}
				return fmt.Sprintf("%s\n%d refused", got, len(e.Refused))
			}
			whole := read(replay.RecordInput{Text: &c.Content})
			if got := read(replay.RecordInput{Base64: pieces}); got != whole {
				t.Errorf("%s, seed %d: %q in pieces\n%s\nwhole\n%s", f.Name, c.Seed, c.Content, got, whole)
			}
		}
	}
}

func recordOf(c noise.Case) (*replay.Record, error) {
	line, err := eval.Line(c)
	if err != nil {
		return nil, err
	}
	return replay.ParseRecord(line)
}

// judged is what became of a made-up reply.
func judged(c noise.Case, got noise.Got) string {
	v := noise.Judge(c, got)
	switch {
	case len(v.False) > 0:
		return "false"
	case v.WrongValue+v.WrongName > 0:
		return "wrong"
	case v.Missed > 0:
		return "missed"
	case v.AskedAgain > 0:
		return "asked"
	case v.Leak:
		return "leak"
	case v.Good():
		return "right"
	}
	return "text"
}
