package program

import (
	"path"
	"strings"
)

// Set returns what setting a variable does to programs: it can name a program, a file that they load or
// write, options, or a server. The tag code-variable means that they may run unjudged code. For most
// variables, and for usual values, it is the zero Effect.
func (t *Table) Set(name string, value Word) Effect {
	name = variableRow(name)
	if t.lookup(name) == nil || value.Text == "" && !value.Dynamic {
		return Effect{}
	}
	e := t.Of(name, []Word{value})
	e.Known = false // of a program
	return e
}

// variableRow returns the name of the row of a variable. Settings of npm are case-insensitive.
func variableRow(name string) string {
	if lower := strings.ToLower(name); strings.HasPrefix(lower, "npm_config_") {
		name = lower
	}
	return "$" + name
}

func isVariable(name string) bool { return strings.HasPrefix(name, "$") }

// applyVariable adds what a variable does with its value, the one operand of its row.
func (c *call) applyVariable() {
	if len(c.args) == 0 {
		return
	}
	value := c.args[0]
	if !c.isUsual(value) {
		c.mark(c.tags)
	}
	for _, o := range c.before {
		c.use(o.kind, value, strings.TrimPrefix(c.name, "$"))
	}
}

// Odd reports whether the value of a variable without a row may be more than a plain word to programs: a path
// or an address, perhaps known only at run time; or code, which a shell runs if it evaluates the text, or a
// call with brackets. Blanks are harmless: names of people and applications have some.
func (t *Table) Odd(name string, value Word) (odd, code bool) {
	if t.lookup(variableRow(name)) != nil {
		return false, false
	}
	code = strings.Contains(value.Text, "$(") || strings.Contains(value.Text, "`")
	return code || value.Dynamic || strings.ContainsAny(value.Text, "/;(\n"), code
}

// setVariable adds NAME=value for what the program runs.
func (c *call) setVariable(w Word) {
	name, _, _ := strings.Cut(w.Text, "=")
	c.env, c.assignments = append(c.env, name), append(c.assignments, w)
}

// applyValues adds what the variables do that are set for what the program runs.
func (c *call) applyValues() {
	for _, w := range c.assignments {
		name, value, _ := strings.Cut(w.Text, "=")
		e := c.table.Set(name, withText(w, value))
		odd, code := c.table.Odd(name, withText(w, value))
		if odd {
			c.Odd = append(c.Odd, name)
		}
		if code {
			c.tag("code-variable")
		}
		c.Tags, c.Touches, c.Fetches = append(c.Tags, e.Tags...), append(c.Touches,
			e.Touches...), append(c.Fetches, e.Fetches...)
		if e.CodeFile.Text != "" {
			c.CodeFile = e.CodeFile
		}
	}
}

// location adds a file or folder that is written. A switch is no file.
func (c *call) location(w Word, via string) {
	if strings.Contains(w.Text, "/") && !w.Dynamic {
		c.touch("write", w, via)
	}
}

// libraries adds folders of code that programs load, which counts as code that runs. Of several folders, one
// named in full says most.
func (c *call) libraries(w Word) {
	if w.Dynamic && !w.Begins {
		c.tag("code-variable")
	}
	for _, folder := range strings.Split(w.Text, ":") {
		if folder == "" || strings.HasPrefix(path.Clean(folder), "/usr/") {
			continue
		}
		if c.CodeFile.Text == "" || path.IsAbs(folder) || strings.HasPrefix(folder, "..") {
			c.CodeFile = withText(w, folder)
		}
	}
}

// arguments adds options that may name files elsewhere.
func (c *call) arguments(w Word, via string) {
	for _, word := range strings.Fields(w.Text) {
		if at, out := firstOutside(word); out {
			c.touch("read", withText(w, at), via)
		}
	}
}
