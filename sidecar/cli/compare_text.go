package cli

import (
	"fmt"
	"strings"
)

// comparedRows say what became of a line.
func comparedRows(c *compared) []Row {
	var r Rows
	if c.Comparison == nil {
		r.Say("error    line %d: %s", c.Line, Clipped(c.Error))
		return r.List
	}
	name := fmt.Sprintf("line %d", c.Line)
	if len(c.ID) > 0 {
		name = fmt.Sprintf("%s (line %d)", Clipped(strings.Trim(string(c.ID), `"`)), c.Line)
	}
	mused := c.Old.Reasoning != c.New.Reasoning
	ended := c.Old.Finish != c.New.Finish && (len(c.Old.Calls) > 0) == (len(c.New.Calls) > 0)
	r.Say("%-8s %s", c.Change, name)
	r.Say("  old    %s", c.Old.Words(mused, ended, Clipped))
	r.Say("  new    %s", c.New.Words(mused, ended, Clipped))
	if c.Want != nil {
		r.Say("  expect %s", Clipped(string(c.Want)))
	}
	return r.List
}

// countsRows are the counts in words.
func countsRows(t *counts) []Row {
	var r Rows
	r.Say("old %s, new %s: %d records", t.Old, t.New, t.All())
	if t.Old == t.New {
		r.Say("old and new are the same rules")
	}
	judged := t.BothRight + t.BothWrong + t.Better + t.Worse
	r.Say("  differ      %6d  better %d, worse %d, changed %d", t.All()-t.Same, t.Better, t.Worse, t.Changed)
	r.Say("  the same    %6d", t.Same)
	if judged > 0 {
		r.Say("  expected    %6d  both right %d, both wrong %d, better %d, worse %d", judged, t.BothRight,
			t.BothWrong, t.Better, t.Worse)
	}
	if t.Unreadable > 0 {
		r.Say("  unreadable  %6d", t.Unreadable)
	}
	if t.Better+t.Worse > 0 {
		r.Say("%d better and %d worse: %s (sign test, p = %.2g)", t.Better, t.Worse, chance(t.P), t.P)
	}
	return r.List
}

// chance is a p value in words.
func chance(p float64) string {
	switch {
	case p < 0.01:
		return "hardly by chance"
	case p < 0.05:
		return "probably not by chance"
	}
	return "may well be chance"
}
