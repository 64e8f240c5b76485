package program

import (
	"slices"
	"strings"
)

// gitMaintenance may be started at set times.
func gitMaintenance(c *call) {
	if len(c.Operands) > 0 && c.Operands[0].Text != "run" {
		c.tag("schedule")
	}
}

// gitMergeFile changes the first of its files, unless it prints.
func gitMergeFile(c *call) {
	if len(c.Operands) > 0 && !c.has("-p") {
		c.touch("write", c.Operands[0], "argument")
	}
}

// gitInPlace changes the files it is given where it is told so.
func gitInPlace(c *call) {
	for _, w := range c.Operands {
		c.touch("read", w, "argument")
		if c.has("--in-place") {
			c.touch("write", w, "--in-place")
		}
	}
}

// gitCheckout discards changes where files are named.
func gitCheckout(c *call) {
	paths := slices.ContainsFunc(c.args, func(w Word) bool { return w.Text == "--" || w.Text == "." })
	if (paths || len(c.Operands) > 1) && !c.has("-b", "-B") {
		c.tag("discard")
	}
}

func gitRestore(c *call) {
	if !c.has("-S") || c.has("-W") {
		c.tag("discard")
	}
}

func gitClean(c *call) {
	if c.has("-n") {
		return
	}
	c.tag("discard")
	c.Recursive = c.has("-d")
	if len(c.Operands) == 0 && c.folder != nil {
		c.Touches = append(c.Touches, Touch{Op: "delete", Word: *c.folder, Via: "git clean"})
	}
	for _, w := range c.Operands {
		c.touch("delete", w, "git clean")
	}
}

func gitStash(c *call) {
	if len(c.Operands) > 0 && (c.Operands[0].Text == "drop" || c.Operands[0].Text == "clear") {
		c.tag("discard")
	}
}

func gitRm(c *call) {
	if c.has("--cached") || c.has("-n") {
		return
	}
	for _, w := range c.Operands {
		c.touch("delete", w, "argument")
	}
}

func gitWorktree(c *call) {
	if len(c.Operands) < 2 {
		return
	}
	c.stepInto()
	switch c.Operands[0].Text {
	case "add", "move":
		for _, w := range c.Operands[1:] {
			if w.Dynamic || strings.HasPrefix(w.Text, ".") || strings.HasPrefix(w.Text, "/") || w == c.Operands[1] {
				c.touch("write", w, "argument")
			}
		}
	case "remove":
		c.touch("delete", c.Operands[1], "argument")
		if c.has("-f") { // without, it keeps what is not committed
			c.tag("discard")
		}
	}
}

func gitBundle(c *call) {
	if len(c.Operands) < 2 {
		return
	}
	c.stepInto()
	op := "read"
	if c.Operands[0].Text == "create" {
		op = "write"
	}
	c.touch(op, c.Operands[1], "argument")
}
