package cli

import (
	"fmt"
	"strings"
)

// comparedRows say what became of a line.
func comparedRows(c *compared) []row {
	var r rows
	if c.Comparison == nil {
		r.say("error    line %d: %s", c.Line, clipped(c.Error))
		return r.list
	}
	name := fmt.Sprintf("line %d", c.Line)
	if len(c.ID) > 0 {
		name = fmt.Sprintf("%s (line %d)", clipped(strings.Trim(string(c.ID), `"`)), c.Line)
	}
	mused := c.Old.Reasoning != c.New.Reasoning
	ended := c.Old.Finish != c.New.Finish && (len(c.Old.Calls) > 0) == (len(c.New.Calls) > 0)
	r.say("%-8s %s", c.Change, name)
	r.say("  old    %s", c.Old.Words(mused, ended, clipped))
	r.say("  new    %s", c.New.Words(mused, ended, clipped))
	if c.Want != nil {
		r.say("  expect %s", clipped(string(c.Want)))
	}
	return r.list
}

// countsRows are the counts in words.
func countsRows(t *counts) []row {
	var r rows
	r.say("old %s, new %s: %d records", t.Old, t.New, t.All())
	if t.Old == t.New {
		r.say("old and new are the same rules")
	}
	judged := t.BothRight + t.BothWrong + t.Better + t.Worse
	r.say("  differ      %6d  better %d, worse %d, changed %d", t.All()-t.Same, t.Better, t.Worse, t.Changed)
	r.say("  the same    %6d", t.Same)
	if judged > 0 {
		r.say("  expected    %6d  both right %d, both wrong %d, better %d, worse %d", judged, t.BothRight,
			t.BothWrong, t.Better, t.Worse)
	}
	if t.Unreadable > 0 {
		r.say("  unreadable  %6d", t.Unreadable)
	}
	if t.Better+t.Worse > 0 {
		r.say("%d better and %d worse: %s (sign test, p = %.2g)", t.Better, t.Worse, chance(t.P), t.P)
	}
	return r.list
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
