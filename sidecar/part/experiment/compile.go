package experiment

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Compiled is the compiled file. It never changes. The zero value has no experiments.
type Compiled struct {
	List      []Experiment
	choices   []ruleset.Variant
	Capture   *Recording // nil: no recording
	failed    []*regexp.Regexp
	corrected []*regexp.Regexp
}

// Of returns that of a rule set.
func Of(s *ruleset.Set) *Compiled { return ruleset.Of[Compiled](s) }

// Experiment is a compiled experiment.
type Experiment struct {
	ID, About, Status, Unit string
	Place                   string // file:line
	Phase                   int
	Arms                    []compiledArm // the first one is the control
	Shadow                  bool
	Floor                   float64 // minimum of each share; 0: shares do not adapt
	Measure                 string
	Margin                  float64 // as a fraction for a rate; smaller differences do not matter
	Guards                  []guardrail
	Stop                    Stop
	when                    func(Asking) (bool, error)
	pinned                  map[string]int // units → arms
}

// compiledArm is a compiled arm.
type compiledArm struct {
	ruleset.Overlay
	Share float64 // of 1
}

// guardrail is a measure that must not get worse by more than By.
type guardrail struct {
	Measure string
	By      float64 // of 1 for a rate
}

// Recording selects the replies to record.
type Recording struct {
	captureRule
	Share float64 // of 1
	when  func(Captured) (bool, error)
}

// Idle reports whether there are neither experiments nor recording.
func (x *Compiled) Idle() bool { return len(x.List) == 0 && x.Capture == nil }

// Compile checks and compiles the file.
func (f *RulesFile) Compile(r *ruleset.Reader) any {
	c := compiler{r}
	out := Compiled{failed: c.signs(f.Outcomes.Failed), corrected: c.signs(f.Outcomes.Corrected)}
	if r := f.Capture; r != nil {
		out.Capture = &Recording{
			captureRule: captureRule{r.Messages, int64(r.Size), r.Age, r.Secrets != "keep"}.filled(),
			Share:       r.Share / 100, when: ruleset.When[Captured](c.Reader, r.When),
		}
	}
	var ids []rulefile.Text
	for i := range f.Experiments {
		e := &f.Experiments[i]
		ids = append(ids, e.ID)
		for _, arm := range e.Arms {
			c.IDs(arm.Key)
		}
		out.List = append(out.List, c.experiment(e))
	}
	c.IDs(ids...)
	c.Unique("id", ids)
	out.choose(r)
	return &out
}

// compiler compiles the parts of the file.
type compiler struct{ *ruleset.Reader }

// signs compiles signs and runs their examples.
func (c compiler) signs(list []Sign) (out []*regexp.Regexp) {
	for _, s := range list {
		re := c.Pattern(s.Find)
		if re == nil {
			continue
		}
		out = append(out, re)
		for _, t := range s.Hit {
			if !re.MatchString(t.Value) {
				c.Report(t.All(), rulefile.CodeValue, "the sign is not found in this text",
					"mend the expression, or make it a miss")
			}
		}
		for _, t := range s.Miss {
			if re.MatchString(t.Value) {
				c.Report(t.All(), rulefile.CodeValue, "the sign is found in this text",
					"mend the expression, or make it a hit")
			}
		}
	}
	return out
}

func (c compiler) experiment(r *Entry) Experiment {
	e := Experiment{
		ID: r.ID.Value, About: r.About, Status: r.Status, Unit: cmp.Or(r.Unit, bySession),
		Place: r.ID.At.String(), Phase: cmp.Or(r.Phase, 1),
		Shadow: r.Shadow, Measure: r.Measure.Value, Stop: r.Stop,
		when: ruleset.When[Asking](c.Reader, r.When),
	}
	sum := 0.0
	for _, a := range r.Arms {
		sets := ruleset.Overlay{Name: a.Key.Value, At: a.Key, Set: a.Value.Set}
		e.Arms = append(e.Arms, compiledArm{sets, a.Value.Share / 100})
		sum += a.Value.Share
	}
	switch {
	case !r.ID.At.Known():
	case len(e.Arms) < 2:
		c.Report(r.ID.All(), rulefile.CodeValue, "an experiment has two arms or more",
			"the first one is compared with: control: {share: 50}")
	case len(e.Arms) > 16:
		c.Report(r.ID.All(), rulefile.CodeValue, "an experiment has at most 16 arms", "")
	case math.Abs(sum-100) > 0.001:
		c.Report(r.ID.All(), rulefile.CodeValue, fmt.Sprintf("the shares together are %g, not 100", sum), "")
	}
	e.Margin = c.amount(r.Measure, r.Margin)
	for _, g := range r.Guards {
		e.Guards = append(e.Guards, guardrail{g.Measure.Value, c.amount(g.Measure, g.By)})
	}
	if r.Adapt != nil {
		if e.Floor = r.Adapt.Floor / 100; e.Floor*float64(len(e.Arms)) > 1 {
			c.Report(r.ID.All(), rulefile.CodeValue, fmt.Sprintf("%d arms cannot all get %g percent",
				len(e.Arms), r.Adapt.Floor), "lower the floor")
		}
		if r.Shadow {
			c.Report(r.ID.All(), rulefile.CodeValue, "a shadow experiment has no shares that could adapt",
				"leave out adaptive or shadow")
		}
	}
	c.sample(r, &e)
	return e
}

func (c compiler) measure(t rulefile.Text) (Measure, bool) {
	m, known := MeasureOf(t.Value)
	if !known && t.At.Known() {
		c.Report(t.All(), rulefile.CodeRef, "there is no measure "+t.Value, rulefile.DidYouMean(t.Value,
			measureIDs()))
	}
	return m, known
}

// amount scales an amount of a measure: rates are written in points, which are hundredths.
func (c compiler) amount(of rulefile.Text, x float64) float64 {
	if m, known := c.measure(of); known && m.Unit == "" {
		return x / 100
	}
	return x
}

// sample assigns units to arms.
func (c compiler) sample(r *Entry, e *Experiment) {
	for _, s := range r.Sample {
		unit := map[string]rulefile.Text{bySession: s.Session, byAgent: s.Agent, byUser: s.User}[e.Unit]
		if !s.Arm.At.Known() {
			continue
		}
		if unit.Value == "" {
			c.Report(s.Arm.All(), rulefile.CodeMissing, "the sample names no "+e.Unit,
				"write "+e.Unit+": its key, and arm")
			continue
		}
		arm := e.Arm(s.Arm.Value)
		if arm < 0 {
			c.Report(s.Arm.All(), rulefile.CodeRef, "there is no arm "+s.Arm.Value, "")
			continue
		}
		if _, twice := e.pinned[unit.Value]; twice {
			c.Report(unit.All(), rulefile.CodeDup, "the "+e.Unit+" "+unit.Value+" stands here twice",
				"one of them can be in one arm only")
		}
		if e.pinned == nil {
			e.pinned = map[string]int{}
		}
		e.pinned[unit.Value] = arm
	}
}

// Shares returns the shares of the arms, in order.
func (e *Experiment) Shares() []float64 {
	out := make([]float64, len(e.Arms))
	for i := range e.Arms {
		out[i] = e.Arms[i].Share
	}
	return out
}

// Pinned returns the arm that a unit is assigned to by name; ok is false if shares decide.
func (e *Experiment) Pinned(unit string) (arm int, ok bool) {
	arm, ok = e.pinned[unit]
	return arm, ok
}

// Arm returns the index of an arm, or -1.
func (e *Experiment) Arm(name string) int {
	return slices.IndexFunc(e.Arms, func(a compiledArm) bool { return a.Name == name })
}

// Find returns an experiment and one of its arms. The error lists the existing ones.
func (x *Compiled) Find(id, arm string) (*Experiment, *compiledArm, error) {
	i := slices.IndexFunc(x.List, func(e Experiment) bool { return e.ID == id })
	if i < 0 {
		var ids []string
		for _, e := range x.List {
			ids = append(ids, e.ID)
		}
		if ids == nil {
			return nil, nil, fmt.Errorf("there is no experiment %s in experiments.yaml, nor any other", id)
		}
		return nil, nil, fmt.Errorf("there is no experiment %s in experiments.yaml; %s", id,
			rulefile.DidYouMean(id, ids))
	}
	e := &x.List[i]
	if k := e.Arm(arm); k >= 0 {
		return e, &e.Arms[k], nil
	}
	var names []string
	for _, a := range e.Arms {
		names = append(names, a.Name)
	}
	return nil, nil, fmt.Errorf("%s: %s has no arm %s; %s", e.Place, id, arm, rulefile.DidYouMean(arm, names))
}

// Overlay returns the settings of an arm, even in a draft.
func (x *Compiled) Overlay(id, arm string) (*ruleset.Overlay, error) {
	e, found, err := x.Find(id, arm)
	switch {
	case err != nil:
		return nil, err
	case e.Status == Stopped:
		return nil, fmt.Errorf("%s: %s is stopped, so its arms are not loaded; say status: draft to try them",
			e.Place, id)
	}
	return &found.Overlay, nil
}

// UnitOf returns the unit of a request; empty if the request names none, or if the condition is false or
// fails.
func (e *Experiment) UnitOf(a Asking) (unit string, err error) {
	unit = map[string]string{bySession: a.Lasting(), byAgent: a.Agent, byUser: a.User}[e.Unit]
	if unit == "" || e.when == nil {
		return unit, nil
	}
	if yes, err := e.when(a); !yes {
		return "", err
	}
	return unit, nil
}

// Takes reports whether the condition selects a reply. The share is not considered.
func (r *Recording) Takes(c Captured) (bool, error) {
	if r.when == nil {
		return true, nil
	}
	return r.when(c)
}

// Drawn reports whether a reply is within the share, by its id.
func (r *Recording) Drawn(id string) bool { return draw("capture", id) < r.Share }

// Failed reports whether the result of a tool describes a failure.
func (x *Compiled) Failed(text string) bool { return found(x.failed, text) }

// Corrected reports whether a user text rejects the previous answer.
func (x *Compiled) Corrected(text string) bool { return found(x.corrected, text) }

func found(list []*regexp.Regexp, text string) bool {
	return slices.ContainsFunc(list, func(re *regexp.Regexp) bool { return re.MatchString(text) })
}

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

// Pick returns the arm of a unit for these shares, or -1 if all are 0. The result depends on nothing else.
// Each arm draws a waiting time for the unit, shorter for a larger share, and the shortest wins: so when
// shares change, a unit moves only if its arm shrank or the other one grew. Experiments are independent of
// each other.
func (e *Experiment) Pick(unit string, shares []float64) int {
	best, shortest := -1, math.Inf(1)
	for i, share := range shares {
		if !(share > 0) || i >= len(e.Arms) {
			continue
		}
		if wait := -math.Log(draw(e.ID, e.Arms[i].Name, unit)) / share; wait < shortest {
			best, shortest = i, wait
		}
	}
	return best
}

// draw returns a pseudo-random number between 0 and 1, both excluded.
func draw(parts ...string) float64 {
	h := sha256.New()
	for _, p := range parts {
		_ = binary.Write(h, binary.BigEndian, uint64(len(p)))
		h.Write([]byte(p))
	}
	n := binary.BigEndian.Uint64(h.Sum(nil)) >> 11
	return (float64(n) + 0.5) / (1 << 53)
}
