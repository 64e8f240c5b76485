package prompt

import (
	"github.com/jgavinray/gpt-oss-executor/tools"
	"regexp"
	"slices"
)

// step is a compiled change of one rule.
type step struct {
	change
	finds []*regexp.Regexp // of replace
	rule  editRule
}

// take returns the parts of a text without what is left out. over reports that nothing remains.
func (s *step) take(parts []string) (out []string, over bool) {
	if s.Drop != "" {
		return []string{s.Drop}, true
	}
	out = slices.Clone(parts)
	for j, find := range s.finds {
		for i := range out {
			out[i] = find.ReplaceAllString(out[i], s.Replace[j].With)
		}
	}
	return s.cut(out), false
}

func (s *step) cut(parts []string) []string {
	if s.Chars == 0 {
		return parts
	}
	out, _ := tools.TrimBlocks(parts, tools.TrimBounds{Chars: s.Chars, Head: s.Head, Hint: s.Hint})
	return out
}

// add appends the note.
func (s *step) add(parts []string) []string {
	switch {
	case s.Note == "":
		return parts
	case len(parts) == 0:
		return []string{s.Note}
	}
	out := slices.Clone(parts)
	if last := &out[len(out)-1]; *last == "" {
		*last = s.Note
	} else {
		*last += "\n\n" + s.Note
	}
	return out
}

// through applies the steps to the parts of a text. Those of the locked folder remove text before all
// others, so that no step can hide text from them, and add after all others. Text that they leave out is
// not edited.
func through(parts []string, own, locked []step, done *EditsDone) []string {
	made := func(s *step, next []string) {
		if !slices.Equal(parts, next) {
			done.made(s.rule)
		}
		parts = next
	}
	gone := false
	for i := range locked {
		if !gone {
			var next []string
			next, gone = locked[i].take(parts)
			made(&locked[i], next)
		}
	}
	for i := range own {
		if !gone {
			s := &own[i]
			next, _ := s.take(parts)
			made(s, s.add(next))
		}
	}
	for i := range locked {
		s := &locked[i]
		made(s, s.add(s.cut(parts)))
	}
	return parts
}
