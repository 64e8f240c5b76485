package cond

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// at shows what stands at a place: the piece of the line that a caret would mark.
func at(p rulefile.Place) string {
	problem := p.Problem("", "", "")
	return string([]rune(problem.Source)[problem.Col-1 : problem.EndCol-1])
}

func marked(texts []rulefile.Text) (out []string) {
	for _, t := range texts {
		out = append(out, t.Value+" at "+at(t.At))
	}
	return out
}

// TestQueries: what lints ask of a condition, and where it stands.
func TestQueries(t *testing.T) {
	comparisons := func(list []Comparison) string {
		var out []string
		for _, c := range list {
			out = append(out, fmt.Sprintf("%s %s %s %v%v", c.Left.Source, c.Operator, c.Right.Source,
				marked(c.Left.Words()), marked(c.Right.Words())))
		}
		return strings.Join(out, "; ")
	}
	for _, row := range []struct{ ask, when, want string }{
		{"names", `a == 1 and any(b, # in c.d) or f(e)`, "a b c e f"},
		{"names", `a ==`, ""},
		{"words", `a == 'x' and any(b, # in ["y", 'a around b']) // 'z'`, "x, y, a around b"},
		{"words", `a == 'x`, ""},
		{"conjuncts", `a and (b and not c) && (d or e)`, "a; b; not c; d or e"},
		{"conjuncts", `a or b`, "a or b"},
		{"comparisons", `a == 'x' and not ('y' in b) or c != ['z', 'é']`, `a == "x" [][x at 'x']; "y" in b [y at 'y'][]; c != ["z", "é"] [][z at 'z' é at 'é']`},
		{"comparisons", `any(list, .class in ["q"]) and a < 3`, `list[].class in ["q"] [][q at "q"]`},
		{"comparisons", `all(a.b, # in c and any(.d, # == 'x'))`, `a.b[] in c [][]; .d[] == "x" [][x at 'x']`},
		{"asserted", `a == 'x' and (b in ['y'] or not (c == 'z')) and d > 2`, `a == "x" [][x at 'x']; b in ["y"] [][y at 'y']; d > 2 [][]`},
		{"patterns", "a matches 'x+' or b matches `y` or c matches d", "x+ at 'x+'; y at `y`"},
		{"calls of f", `f('x', 1) > 0 and g('y') and any(list, f(#))`, "'x' 1; #"},
		{"all", `all(a, # == 1) and any(b, all(c.d, true))`, "a at all(a, # == 1; c.d at all(c.d, true"},
	} {
		doc := inBlock(t, row.when)
		got := ""
		switch row.ask {
		case "names":
			got = strings.Join(slices.Sorted(maps.Keys(Names(doc.Value))), " ")
		case "words":
			got = strings.Join(Words(doc.Value), ", ")
		case "conjuncts":
			parts, _ := Conjuncts(doc.Value)
			got = strings.Join(parts, "; ")
		case "comparisons":
			got = comparisons(Comparisons(doc, "in", "==", "!="))
		case "asserted":
			got = comparisons(Asserted(doc))
		case "patterns":
			got = strings.Join(marked(Patterns(doc)), "; ")
		case "calls of f":
			var calls []string
			for _, args := range Calls(doc, "f") {
				var places []string
				for _, a := range args {
					places = append(places, at(a.At()))
				}
				calls = append(calls, strings.Join(places, " "))
			}
			got = strings.Join(calls, "; ")
		case "all":
			var loops []string
			for _, l := range Loops(doc, "all") {
				loops = append(loops, l.Over+" at "+at(l.At))
			}
			got = strings.Join(loops, "; ")
		}
		if got != row.want {
			t.Errorf("%s of %s\n got %s\nwant %s", row.ask, row.when, got, row.want)
		}
	}
	if _, ok := Conjuncts("a and"); ok || Parses("a and") || !Parses("a and b") {
		t.Error("a condition that ends too early has parts")
	}
}
