package tools

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/tools/args"
)

// damagedCall draws a call of one of the drawn tools, and damages its arguments by so many rows of the table.
func damagedCall(seed uint64, table args.Table, most int) (c *Catalog, name, meant, text string,
	done []string) {
	r := rand.New(rand.NewPCG(seed, 41))
	d := draw(r)
	name, _, _ = strings.Cut(d.tool.spec, "(")
	meant = d.String()
	text = meant
	ops := slices.Clone(table)
	r.Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
	chosen := ops[:min(most, len(ops))]
	slices.SortStableFunc(chosen, func(a, b args.Op) int { return cmp.Compare(place(a), place(b)) })
	for _, op := range chosen {
		if (op.Fits || op.Alone) && d.tool.spec == "free" {
			continue // it has no schema
		}
		if damaged, ok := op.Do(r, text); ok {
			text, done = damaged, append(done, op.ID)
		}
	}
	return catalogOf(d.tool.spec), name, meant, text, done
}

func place(o args.Op) int {
	return slices.IndexFunc(args.Ops(), func(p args.Op) bool { return p.ID == o.ID })
}

// One and two damages of the table are undone, or the call is refused. A tool that writes or executes never
// gets a wrong value.
func TestTable(t *testing.T) {
	shown := 0
	for most := 1; most <= 2; most++ {
		by, all := map[string]*outcomes{}, map[string]*outcomes{}
		for seed := range uint64(20_000) {
			c, name, meant, text, done := damagedCall(seed, args.Ops(), most)
			if len(done) == 0 {
				continue
			}
			got, refusal := c.Call(name, []byte(text), closed)
			class := c.Class(name)
			var one outcomes
			switch {
			case refusal != nil:
				one.refused = 1
			case SameJSON(got.Arguments, []byte(meant)):
				one.right = 1
			default:
				if one.wrong = 1; class != Read {
					if shown++; shown > 12 {
						t.FailNow()
					}
					t.Errorf("%s %v: %s\n text %q\n got  %s %v", name, done, meant, text, got.Arguments,
						got.Repairs)
				}
			}
			all[string(class)] = all[string(class)].plus(one)
			for _, id := range done {
				by[id+" "+string(class)] = by[id+" "+string(class)].plus(one)
			}
		}
		for _, k := range slices.Sorted(maps.Keys(all)) {
			t.Logf("%d: %-8s %+v", most, k, *all[k])
		}
		if most == 1 {
			for _, k := range slices.Sorted(maps.Keys(by)) {
				t.Logf("%-24s %+v", k, *by[k])
			}
		}
	}
}

// A row that is taken out of the reader costs what it undoes, and nothing else.
func TestRowsStandAlone(t *testing.T) {
	const draws = 6
	type one struct {
		c          *Catalog
		name, text string
		meant      []byte
		id         string
	}
	var all []one
	for _, op := range args.Ops() {
		for seed, n := uint64(0), 0; n < draws && seed < 400; seed++ {
			c, name, meant, text, done := damagedCall(seed, args.Table{op}, 1)
			if len(done) == 1 && name != "free" { // it has no schema
				all, n = append(all, one{c, name, text, []byte(meant), op.ID}), n+1
			}
		}
	}
	count := func(without string) map[string]int {
		right := map[string]int{}
		table := slices.DeleteFunc(args.Ops(), func(o args.Op) bool { return o.ID == without })
		for _, o := range all {
			o.c.schemas.ops = table
			if got, refusal := o.c.Call(o.name, []byte(o.text), closed); refusal == nil &&
				SameJSON(got.Arguments, o.meant) {
				right[o.id]++
			}
		}
		return right
	}
	whole := count("")
	// what looks so is undone in one step: a string in parts, and a text with an escape of its own, are a program's
	together := [...]string{"args.literal"}
	for _, op := range args.Ops() {
		if op.Damage == nil || op.Fits {
			continue
		}
		lost := []string{}
		for id, n := range count(op.ID) {
			if id != op.ID && n < whole[id] {
				lost = append(lost, id)
			}
		}
		if len(lost) > 0 && !slices.Contains(together[:], op.ID) {
			t.Errorf("without %s, fewer of %v are read", op.ID, lost)
		}
	}
}
