package program

import (
	"slices"
	"strings"
)

var fdExecs = strings.Fields("-x --exec -X --exec-batch")

// fd adds what fd finds: it is find with a pattern and options.
func (c *call) fd() {
	f := findCall{call: c}
	for tail := c.tail; len(tail) > 0; {
		end := slices.IndexFunc(tail, func(w Word) bool { return w.Text == ";" })
		if end < 0 {
			end = len(tail)
		}
		f.execs = append(f.execs, execution{"--exec", tail[:end]})
		c.tag("carrier")
		if tail = tail[min(end+1, len(tail)):]; len(tail) > 0 {
			if !slices.Contains(fdExecs, tail[0].Text) {
				c.unsure("options after a command")
			}
			tail = tail[1:]
		}
	}
	c.tail = nil
	if n := len(c.Operands); n > 1 {
		f.roots = c.Operands[1:n]
	}
	if list := c.values("--search-path"); len(list) > 0 {
		f.roots = list
	}
	if len(f.roots) == 0 {
		f.roots = []Word{{Text: "."}}
	}
	c.Recursive = true
	f.all = len(c.Operands) == 0 || strings.Trim(c.Operands[0].Text, ".*^$") == ""
	for i, e := range f.execs {
		if !slices.ContainsFunc(e.argv, func(w Word) bool { return strings.Contains(w.Text, "{") }) {
			f.execs[i].argv = append(slices.Clone(e.argv), Word{Text: "{}"})
		}
	}
	f.results()
}
