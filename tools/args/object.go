package args

import (
	"math/rand/v2"
	"strings"

	"github.com/tidwall/gjson"
)

// objectOps leave a valid object. Its meaning depends on the schema, so that Accept undoes them.
func objectOps() []Op {
	row := func(id, about string, damage func(*rand.Rand, string) (string, bool)) Op {
		return Op{ID: id, About: about, Damage: damage, Cost: cheap, Keeps: true, Fits: true}
	}
	unwrap := row("args.unwrap",
		"the object below a key that says nothing, in a list of one, or in the form of its schema",
		between([2]string{"[", "]"}, [2]string{`{"arguments": `, "}"}, [2]string{`{"_": `, "}"},
			[2]string{`{"type":"object","properties":`, `,"required":[]}`}))
	unwrap.Whole = true
	unwrap.Undo = pure(func(s string) []string {
		list := gjson.Parse(s)
		if !list.IsArray() || list.Get("#").Int() != 1 || !list.Get("0").IsObject() {
			return nil
		}
		return []string{list.Get("0").Raw}
	})
	return []Op{
		unwrap,
		row("args.coerce", "numbers and truths are texts", valued(func(_ *rand.Rand, v gjson.Result) string {
			if v.Type == gjson.Number || v.IsBool() {
				return `"` + v.Raw + `"`
			}
			return v.Raw
		})),
		row("args.rename", "the words of a name are joined in another way", func(r *rand.Rand,
			text string) (string, bool) {
			between := pick(r, "-", " ", "")
			return layout{"{", ": ", ", ", "}", func(k gjson.Result) string {
				return strings.ToUpper(k.Raw[:2]) + strings.ReplaceAll(k.Raw[2:], "_", between)
			}, nil}.write(text)
		}),
	}
}
