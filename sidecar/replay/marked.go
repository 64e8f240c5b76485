package replay

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// As is what a piece of a reply was read as.
type As string

// Kinds of pieces.
const (
	AsText     As = "text"     // shown to the user
	AsThought  As = "thought"  // reasoning
	AsHeader   As = "header"   // markup: tokens, channels, recipients
	AsCall     As = "call"     // arguments of a call, as they leave
	AsRepaired As = "repaired" // the same, repaired
	AsRefused  As = "refused"  // looked like a call and is none
	AsDropped  As = "dropped"  // neither shown nor run
)

// Span is a piece of a text and what it was read as.
type Span struct {
	From, To int
	As       As
	Says     string // why; empty: obvious
	Rule     string // file:line
}

// Marked is a field of a reply, divided into consecutive spans.
type Marked struct {
	Field parse.Field
	Text  string
	Spans []Span
}

// maxPieces bounds the pieces in which a text is read to find out what becomes of each.
const maxPieces = 1 << 12

// Shown is a reply for people: how it was read, what each piece was read as, and the result. Fields without
// text are not marked.
type Shown struct {
	Tree   *Tree
	Marked []Marked
	Made   Made
}

// Show reads a reply like ExplainTree and marks it, unless its text is longer than most bytes.
func Show(set *ruleset.Set, in guard.World, profile string, rec *Record, most int) (*Shown, error) {
	s, err := rec.read(set, in, profile, true)
	if err != nil {
		return nil, err
	}
	out := &Shown{Tree: s.tree(set, profile, rec), Made: s.made()}
	if s.shape.Content.Bytes+s.shape.Reasoning.Bytes <= most {
		out.Marked = s.mark(set, profile, rec)
	}
	return out, nil
}

// mark reads the reply once more in small pieces.
func (s *recordReading) mark(set *ruleset.Set, profile string, rec *Record) (out []Marked) {
	var content, reasoning strings.Builder
	for _, d := range s.deltas {
		content.WriteString(d.Content)
		reasoning.WriteString(d.Reasoning)
	}
	r := set.Strategies(cmp.Or(profile, set.ProfileFor(rec.Model))).Reader(s.catalog, rec.facts(set))
	thought, text := layer{text: reasoning.String()}, layer{text: content.String()}
	thought.read(func(piece string) []parse.Event { return r.Feed(parse.Delta{Reasoning: piece}) })
	text.thoughts = &thought
	text.read(func(piece string) []parse.Event { return r.Feed(parse.Delta{Content: piece}) })
	_, last := r.Close(cmp.Or(s.finish, rec.Finish))
	text.addEvents(last, len(text.text))
	for _, of := range []struct {
		field parse.Field
		layer *layer
	}{{parse.Reasoning, &thought}, {parse.Content, &text}} {
		if of.layer.text == "" {
			continue
		}
		of.layer.addSteps(of.field, &s.reading)
		out = append(out, Marked{of.field, of.layer.text, of.layer.spans()})
	}
	return out
}

// layer is a text and what became of its pieces, as far as events tell.
type layer struct {
	text     string
	base     []Span // in order, without overlap
	over     []Span // each covers base and those before it
	at       int    // end of the last one
	thoughts *layer // may hold thoughts that are released late
}

// read feeds the text in small pieces, so that events follow their text closely.
func (l *layer) read(feed func(string) []parse.Event) {
	least := len(l.text)/maxPieces + 1
	for from := 0; from < len(l.text); {
		to := min(from+least, len(l.text))
		for to < len(l.text) && !utf8.RuneStart(l.text[to]) {
			to++
		}
		l.addEvents(feed(l.text[from:to]), to)
		from = to
	}
}

// addEvents finds the texts of events in what was read so far.
func (l *layer) addEvents(events []parse.Event, end int) {
	for _, e := range events {
		switch e.Kind {
		case parse.Text:
			l.find(e.Text, AsText, end)
		case parse.Thought:
			s := strings.TrimPrefix(e.Text, "\n") // a new paragraph is the reader's
			if l.thoughts == nil || !l.thoughts.find(s, AsThought, len(l.thoughts.text)) {
				l.find(s, AsThought, end)
			}
		}
	}
}

// find adds a span for a text. Text that the reader added itself is not found.
func (l *layer) find(s string, as As, end int) bool {
	s = strings.ReplaceAll(s, "\u200b", "") // it breaks markup that the gateway would run
	if s == "" || end-l.at < len(s) {
		return false
	}
	at := strings.Index(l.text[l.at:end], s)
	if strings.HasSuffix(l.text[l.at:end], s) && len(s) < 4 {
		at = end - l.at - len(s) // short ones stand in many places, and leave at once
	}
	if at < 0 {
		return false
	}
	from := l.at + at
	l.at = from + len(s)
	if n := len(l.base); n > 0 && l.base[n-1].To == from && l.base[n-1].As == as {
		l.base[n-1].To = l.at
		return true
	}
	l.base = append(l.base, Span{From: from, To: l.at, As: as})
	return true
}

// addSteps puts the steps of the trace over the spans of events.
func (l *layer) addSteps(field parse.Field, r *parse.Reading) {
	found := 0
	for _, step := range r.Steps {
		var call *tools.Call
		if step.Outcome == parse.Found {
			if found < len(r.Calls) {
				call = &r.Calls[found]
			}
			found++
		}
		if step.Field != field || step.From < 0 || step.To > len(l.text) || step.From >= step.To {
			continue
		}
		over := Span{From: step.From, To: step.To, Says: step.Note, Rule: step.Rule}
		switch step.Outcome {
		case parse.Found:
			over.As = AsCall
		case parse.Refused:
			over.As = AsRefused
		case parse.Dropped:
			over.As = AsDropped
		case parse.Finished:
			over.As = AsHeader
		default:
			continue // events tell
		}
		l.over = append(l.over, over)
		if call != nil {
			l.addRepairs(over, call)
		}
	}
}

// addRepairs marks the repairs of a call that can be located.
func (l *layer) addRepairs(in Span, call *tools.Call) {
	for _, fix := range call.Repairs {
		at := -1
		switch from := in.From + fix.At; {
		case guard.ByPolicy(fix) || fix.From == "":
			continue
		case strings.HasPrefix(fix.Kind, "name."): // it stands in front, or inside
			near := max(0, in.From-512)
			if at = strings.LastIndex(l.text[near:in.To], fix.From); at >= 0 {
				at += near
			}
		case from <= in.To && strings.HasPrefix(l.text[from:in.To], fix.From):
			at = from
		default:
			if n := strings.Index(l.text[in.From:in.To], fix.From); n >= 0 {
				at = in.From + n
			}
		}
		if at < 0 {
			continue
		}
		to := at + len(fix.From)
		if to > len(l.text) {
			continue
		}
		says := fix.Kind + ": " + fix.From
		if fix.To != "" {
			says += " → " + fix.To
		}
		l.over = append(l.over, Span{From: at, To: to, As: AsRepaired, Says: says, Rule: fix.Rule})
	}
}

// spans returns the visible spans, with markup between them. It works from the top down, so that each place
// is assigned once.
func (l *layer) spans() (out []Span) {
	all := slices.Concat(l.base, l.over)
	edges := []int{0, len(l.text)}
	for _, s := range all {
		edges = append(edges, s.From, s.To)
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	// the first piece from here on that nothing covers yet, or on the way to it
	free := make([]int, len(edges))
	owner := make([]int, len(edges))
	for i := range edges {
		free[i], owner[i] = i, -1
	}
	next := func(i int) int {
		for free[i] != i {
			free[i] = free[free[i]]
			i = free[i]
		}
		return i
	}
	for k := len(all) - 1; k >= 0; k-- {
		first, _ := slices.BinarySearch(edges, all[k].From)
		for i := next(first); edges[i] < all[k].To; i = next(i) {
			owner[i], free[i] = k, i+1
		}
	}
	for i, from := range edges[:len(edges)-1] {
		if i > 0 && owner[i] == owner[i-1] {
			out[len(out)-1].To = edges[i+1]
			continue
		}
		s := Span{As: AsHeader}
		if owner[i] >= 0 {
			s = all[owner[i]]
		}
		s.From, s.To = from, edges[i+1]
		out = append(out, s)
	}
	return out
}
