package program

import (
	"path"
	"strings"
)

// Set says what it does to programs that a variable is set for them: it can name a
// program, a file they load or write, options that they add to their own, or a server.
// The tag code-variable says that they may run what was not judged. For most variables,
// and for usual values, it is the zero Effect.
func (t *Table) Set(name string, value Word) Effect {
	name = variable(name)
	if t.lookup(name) == nil || value.Text == "" && !value.Dynamic {
		return Effect{}
	}
	e := t.Of(name, []Word{value})
	e.Known = false // of a program
	return e
}

// variable is the name of the row of a variable. Settings of npm are read in any case.
func variable(name string) string {
	if lower := strings.ToLower(name); strings.HasPrefix(lower, "npm_config_") {
		name = lower
	}
	return "$" + name
}

func isVariable(name string) bool { return strings.HasPrefix(name, "$") }

// holds adds what a variable does with its value, which is the one operand of its row.
func (c *call) holds() {
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

// Odd says whether the value of a variable may be more than a plain word to the programs
// that get it: a path or an address, also if that is only known at run time; or code, which a shell runs if
// it evaluates the text, or a call with brackets. Blanks say nothing: names of people and applications have
// some. What variables do that have a row, Set says.
func (t *Table) Odd(name string, value Word) (odd, code bool) {
	if t.lookup(variable(name)) != nil {
		return false, false
	}
	code = strings.Contains(value.Text, "$(") || strings.Contains(value.Text, "`")
	return code || value.Dynamic || strings.ContainsAny(value.Text, "/;(\n"), code
}

// sets takes NAME=value, for what the program runs.
func (c *call) sets(w Word) {
	name, _, _ := strings.Cut(w.Text, "=")
	c.env, c.set = append(c.env, name), append(c.set, w)
}

// applyValues adds what the variables do that were set for what the program runs.
func (c *call) applyValues() {
	for _, w := range c.set {
		name, value, _ := strings.Cut(w.Text, "=")
		e := c.table.Set(name, rest(w, value))
		odd, code := c.table.Odd(name, rest(w, value))
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

// location is a file or folder that is written. A switch is no file.
func (c *call) location(w Word, via string) {
	if strings.Contains(w.Text, "/") && !w.Dynamic {
		c.touch("write", w, via)
	}
}

// libraries are code that counts like code that is run. Of several folders one that is
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
			c.CodeFile = rest(w, folder)
		}
	}
}

// arguments are options. Files elsewhere that they name are read.
func (c *call) arguments(w Word, via string) {
	for _, word := range strings.Fields(w.Text) {
		if at, out := elsewhere(word); out {
			c.touch("read", rest(w, at), via)
		}
	}
}
