package args

import (
	"bytes"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// Bounds of readings and of their bytes, so that a search takes linear time.
const (
	mostReadings = 160
	mostPasses   = 24
	shortText    = 4 << 10
)

// Answer is a reading with its object as the tool takes it.
type Answer struct {
	Reading
	Object string
}

// Read returns the one object that text means for a tool. ok is false if there is none; twice reports
// two equally likely ones.
func (t Table) Read(text string, depth int, tool Tool) (found Answer, twice, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return found, false, false
	}
	queue := []Reading{{Text: text}}
	type key struct {
		text  string
		proof bool
	}
	seen := map[key]bool{}
	reads := tool.Harmless()
	remaining := mostPasses * max(len(text), shortText)
	for n := 0; len(queue) > 0 && n < mostReadings && remaining > 0; {
		r := queue[0]
		queue = queue[1:]
		if ok && r.cost > found.cost {
			break
		}
		if k := (key{r.Text, r.Proof}); seen[k] {
			continue
		} else {
			seen[k] = true
		}
		n++
		remaining -= len(r.Text)
		whole := valid(r.Text, depth)
		if whole && strings.HasPrefix(r.Text, "{") {
			switch object, takes := tool.Accept(r); {
			case takes && !ok:
				found, ok = Answer{r, object}, true
			case takes && !sameValue(found.Object, object):
				return found, true, false
			}
			continue
		}
		x := Text{Tool: tool, string: r.Text, table: t, depth: depth, whole: whole,
			reads: reads}
		for i := range t {
			for _, next := range t[i].undone(&x, r) {
				at, _ := slices.BinarySearchFunc(queue, next.cost+1,
					func(q Reading, cost int) int { return q.cost - cost })
				queue = slices.Insert(queue, at, next)
			}
		}
	}
	return found, false, ok
}

// Plain returns the text without damage that signs alone show, if there is one way to undo it.
func (t Table) Plain(text string) (plain string, steps []Step) {
	for i := range t {
		o := &t[i]
		if o.Signs == "" || !o.Keeps || !strings.ContainsAny(text, o.Signs) {
			continue
		}
		if all := o.Undo(&Text{string: text}); len(all) == 1 {
			steps = append(steps, Step{ID: o.ID, From: text, To: all[0].Text})
			text = all[0].Text
		}
	}
	return text, steps
}

// undone returns what a reading may have been before this damage.
func (o *Op) undone(x *Text, r Reading) (out []Reading) {
	switch {
	case o.Undo == nil, !o.Alone && o.Whole != x.whole, o.Alone && r.framed,
		!o.Keeps && !x.reads, o.Proof && !x.Known(), r.Proof && !o.Proof,
		o.Signs != "" && !strings.ContainsAny(x.string, o.Signs):
		return nil
	}
	for _, u := range o.Undo(x) {
		if u.Text = strings.TrimSpace(u.Text); u.Text == "" || u.Text == r.Text {
			continue
		}
		if u.Steps == nil {
			u.Steps = []Step{{ID: o.ID, From: r.Text, To: u.Text}}
		}
		u.Steps = append(slices.Clip(r.Steps), u.Steps...)
		if o.Open {
			u.Cut = jsonrepair.Closers
		}
		u.Cut = max(u.Cut, r.Cut)
		u.Proof, u.Open, u.Raw = o.Proof || r.Proof, o.Open || r.Open, u.Raw || r.Raw
		u.framed = r.framed || o.Cost != repair && o.ID != "args.chunks"
		u.Unsure, u.MadeUp = u.Unsure || r.Unsure, u.MadeUp || r.MadeUp
		u.Around = strings.TrimSpace(r.Around + " " + u.Around)
		u.cost += r.cost + o.Cost
		out = append(out, u)
	}
	return out
}

// sameValue reports whether two objects are equal.
func sameValue(a, b string) bool {
	x, ok := jsontext.Canon([]byte(a))
	y, ok2 := jsontext.Canon([]byte(b))
	return ok && ok2 && bytes.Equal(x, y)
}
