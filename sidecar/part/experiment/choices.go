package experiment

import (
	"fmt"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// maxChoices limits the rule sets that are loaded.
const maxChoices = 64

// Variants returns the rules of every arm that is not stopped, and of every combination that one unit can
// get.
func (x *Compiled) Variants() []ruleset.Variant { return x.choices }

// choose computes the variants.
func (x *Compiled) choose(r *ruleset.Reader) {
	var alone, several []ruleset.Variant // of the running ones, several in each
	together := []ruleset.Variant{{}}
	for i := range x.List {
		e := &x.List[i]
		if e.Status == Stopped {
			continue
		}
		all := together
		for k := range e.Arms {
			arm, name := &e.Arms[k].Overlay, e.ID+"/"+e.Arms[k].Name
			alone = append(alone, ruleset.Variant{Names: []string{name}, Overlays: []*ruleset.Overlay{arm},
				Draft: e.Status == Draft})
			if e.Status != Running || e.Shadow {
				continue
			}
			for _, v := range together {
				all = append(all, ruleset.Variant{Names: append(slices.Clip(v.Names), name),
					Overlays: append(slices.Clip(v.Overlays), arm)})
			}
		}
		together = all
		several = slices.DeleteFunc(slices.Clone(together),
			func(v ruleset.Variant) bool { return len(v.Names) < 2 })
		if len(alone)+len(several) > maxChoices {
			r.Report(e.Arms[0].At.All(), rulefile.CodeValue,
				fmt.Sprintf("the experiments have more than %d arms and combinations of running arms",
					maxChoices),
				"each is a set of rules; stop one of the experiments, or leave out arms")
			return
		}
	}
	x.choices = append(alone, several...)
}
