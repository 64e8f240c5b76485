package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
)

// rowWriter writes what became of a line for people.
func rowWriter(w io.Writer) func(*compared) error {
	return func(c *compared) error {
		if c.Comparison == nil {
			_, err := fmt.Fprintf(w, "error    line %d: %s\n", c.Line, terminal.Printable(clipped(c.Error)))
			return err
		}
		name := fmt.Sprintf("line %d", c.Line)
		if len(c.ID) > 0 {
			name = fmt.Sprintf("%s (line %d)", clipped(strings.Trim(string(c.ID), `"`)), c.Line)
		}
		lines := []string{fmt.Sprintf("%-8s %s", c.Change, name)}
		mused := c.Old.Reasoning != c.New.Reasoning
		ended := c.Old.Finish != c.New.Finish && (len(c.Old.Calls) > 0) == (len(c.New.Calls) > 0)
		lines = append(lines, "  old    "+madeWords(&c.Old, mused, ended), "  new    "+madeWords(&c.New, mused, ended))
		if c.Want != nil {
			lines = append(lines, "  expect "+clipped(string(c.Want)))
		}
		for _, l := range lines {
			if _, err := fmt.Fprintln(w, terminal.Printable(l)); err != nil {
				return err
			}
		}
		return nil
	}
}

// madeWords is a reading on one line; reasoning and finish only where they matter.
func madeWords(m *replay.Made, mused, ended bool) string {
	var parts []string
	for _, c := range m.Calls {
		parts = append(parts, clipped(c.Name+" "+string(c.Arguments)))
	}
	if len(m.Calls) == 0 {
		parts = append(parts, "no call")
	}
	for _, why := range m.Refused {
		parts = append(parts, "refused "+clipped(why))
	}
	if strings.TrimSpace(m.Content) != "" {
		parts = append(parts, fmt.Sprintf("text %q", clipped(m.Content)))
	}
	if mused {
		parts = append(parts, fmt.Sprintf("reasoning %q", clipped(m.Reasoning)))
	}
	if ended {
		parts = append(parts, "finish "+m.Finish)
	}
	return strings.Join(parts, "; ")
}

// summaryWriter writes the counts in words.
func summaryWriter(w io.Writer) func(*counts) error {
	return func(t *counts) error {
		var b strings.Builder
		fmt.Fprintf(&b, "old %s, new %s: %d records\n", t.Old, t.New, t.All())
		if t.Old == t.New {
			fmt.Fprintln(&b, "old and new are the same rules")
		}
		judged := t.BothRight + t.BothWrong + t.Better + t.Worse
		fmt.Fprintf(&b, "  differ      %6d  better %d, worse %d, changed %d\n", t.All()-t.Same, t.Better, t.Worse, t.Changed)
		fmt.Fprintf(&b, "  the same    %6d\n", t.Same)
		if judged > 0 {
			fmt.Fprintf(&b, "  expected    %6d  both right %d, both wrong %d, better %d, worse %d\n",
				judged, t.BothRight, t.BothWrong, t.Better, t.Worse)
		}
		if t.Unreadable > 0 {
			fmt.Fprintf(&b, "  unreadable  %6d\n", t.Unreadable)
		}
		if t.Better+t.Worse > 0 {
			fmt.Fprintf(&b, "%d better and %d worse: %s (sign test, p = %.2g)\n", t.Better, t.Worse, chance(t.P), t.P)
		}
		_, err := io.WriteString(w, b.String())
		return err
	}
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
