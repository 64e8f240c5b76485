package program

import (
	"slices"
	"strings"
)

// Describe returns a line for each option, operand, effect and subcommand of a program; nil: unknown. words
// lead to a subcommand.
func (t *Table) Describe(name string, words ...string) (lines [][2]string) {
	p := t.lookup(name)
	for _, w := range words {
		if p == nil || p.sub(w).ready == nil {
			return nil
		}
		p = p.sub(w).ready()
	}
	if p == nil {
		return nil
	}
	add := func(what, means string) {
		if means = strings.Join(strings.Fields(means), " "); means != "" {
			lines = append(lines, [2]string{what, means})
		}
	}
	add("effects", strings.Join(p.tags, " "))
	add("alone", strings.Join(p.alone, " "))
	add("operands", p.Operands)
	add("letters", p.Letters)
	add("flags", p.Flags)
	add("values", p.Values)
	for _, o := range p.Options {
		add(o.Names, o.Means)
	}
	for _, s := range p.Subcommands {
		add("subcommands", s.Names)
	}
	return slices.Clip(lines)
}
