package fit

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/noise"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// How many replies are measured for docs/reading.md, and from which seeds on.
const (
	aloneSeed, aloneCount       = 10_000_000, 500   // with one kind of damage, each
	chainSeed, chainCount       = 20_000_000, 6000  // with chains, each length
	negativeSeed, negativeCount = 30_000_000, 20000 // without a call
)

// measured is what docs/reading.md shows.
type measured struct {
	shipped   parse.Weights
	used      Drawn                             // what the weights are fitted to
	kept      Samples                           // what they are judged by
	alone     map[string]noise.Row              // each damage by itself
	leftOut   map[string]noise.Row              // the same, with weights fitted without it
	moved     map[string]bool                   // whether these weights are other ones
	chains    map[int]noise.Row                 // by how many damages
	classes   map[int]map[noise.Class]noise.Row // the same, by class
	mixes     map[string]noise.Table            // other models: all of it, by class, and replies without a call
	negatives noise.Table
}

func measureAll(t *testing.T) *measured {
	files, set := shippedFiles(t), ruletest.Shipped(t)
	byHand, shipped, prior, err := begin(files)
	ruletest.Must(t, err)
	m := &measured{
		shipped: shipped, alone: map[string]noise.Row{}, leftOut: map[string]noise.Row{}, moved: map[string]bool{},
		mixes:  map[string]noise.Table{},
		chains: map[int]noise.Row{}, classes: map[int]map[noise.Class]noise.Row{},
	}
	m.used, err = Draw(byHand, UsualSeed, UsualCount)
	ruletest.Must(t, err)
	kept, err := Draw(set, otherSeed, UsualCount)
	ruletest.Must(t, err)
	m.kept = kept.All
	fitted := Weights(m.used.All, prior)

	ops := noise.Operators()
	alone, leftOut := make([]noise.Row, len(ops)), make([]noise.Row, len(ops))
	moved := make([]bool, len(ops))
	each(len(ops), func(i int) {
		id := ops[i].ID
		alone[i] = measureOp(t, set, id)
		leftOut[i] = alone[i]
		w := Weights(m.used.All.Without(m.used.Of[id]), prior)
		if moved[i] = w != fitted; !moved[i] {
			return
		}
		other, err := Under(files, w)
		if err != nil {
			t.Error(err)
			return
		}
		leftOut[i] = measureOp(t, other, id)
	})
	for i, op := range ops {
		m.alone[op.ID], m.leftOut[op.ID], m.moved[op.ID] = alone[i], leftOut[i], moved[i]
	}
	lengths := []int{0, 1, 2, 4}
	tables := make([]noise.Table, len(lengths)+1)
	each(len(tables), func(i int) {
		if i == len(lengths) {
			tables[i] = noise.Measure(negativeSeed, negativeCount, noise.Options{Chain: -1, Negatives: true}, reading(t, set))
			return
		}
		tables[i] = classTable(t, set, noise.Options{Chain: lengths[i]})
	})
	m.negatives = tables[len(lengths)]
	for _, mix := range noise.Mixes() {
		m.mixes[mix.ID] = classTable(t, set, noise.Options{Mix: mix.ID})
		m.mixes[mix.ID]["none"] = noise.Measure(negativeSeed, negativeCount, noise.Options{Mix: mix.ID, Negatives: true}, reading(t, set))["all"]
	}
	for i, n := range lengths {
		m.chains[n], m.classes[n] = *tables[i]["all"], map[noise.Class]noise.Row{}
		for _, class := range []noise.Class{noise.Reads, noise.Writes, noise.Executes} {
			m.classes[n][class] = *tables[i][string(class)]
		}
	}
	return m
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
		got, _, err := Read(set, c)
		if err != nil {
			t.Errorf("seed %d: %v", c.Seed, err)
		}
		return got
	}
}

// measureOp measures one damage. Replies that it could not change do not count.
func measureOp(t *testing.T, set *ruleset.Set, id string) noise.Row {
	row := noise.Measure(aloneSeed, aloneCount, noise.Options{Only: []string{id}, Chain: 1}, reading(t, set))["op "+id]
	if row == nil {
		t.Errorf("%s has changed none of %d replies", id, aloneCount)
		return noise.Row{}
	}
	return *row
}

// classTable measures replies, "all" of them and the calls of each class.
func classTable(t *testing.T, set *ruleset.Set, o noise.Options) noise.Table {
	out := noise.Table{"all": {}}
	read := reading(t, set)
	for _, class := range []noise.Class{noise.Reads, noise.Writes, noise.Executes} {
		out[string(class)] = &noise.Row{}
	}
	for i := range uint64(chainCount) {
		c := noise.New(chainSeed+i, o)
		got := read(c)
		out["all"].Add(noise.Judge(c, got))
		for _, class := range []noise.Class{noise.Reads, noise.Writes, noise.Executes} {
			out[string(class)].Add(noise.Judge(only(c, got, class)))
		}
	}
	return out
}

// only leaves the calls of a class.
func only(c noise.Case, got noise.Got, class noise.Class) (noise.Case, noise.Got) {
	c.Truth = slices.DeleteFunc(slices.Clone(c.Truth), func(t noise.Call) bool { return t.Class != class })
	got.Calls = slices.DeleteFunc(slices.Clone(got.Calls), func(g noise.GotCall) bool {
		return !slices.ContainsFunc(c.Tools, func(t noise.Tool) bool { return t.Name == g.Name && t.Class == class })
	})
	return c, got
}

// Undamaged turns are read whole with the shipped rules. NOISE=n prints how many of n damaged ones are.
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
	for _, o := range []noise.Options{{Chain: 1}, {Chain: 2}, {Chain: 4}, {Mix: "gpt-5"}, {Mix: "gpt-5", Negatives: true}, {Chain: -1, Negatives: true}} {
		t.Logf("%+v", o)
		if err := noise.Measure(1, n, o, read).Write(t.Output(), "all", "op ", "negative "); err != nil {
			t.Fatal(err)
		}
	}
}
