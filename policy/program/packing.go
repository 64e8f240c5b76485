package program

import "strings"

// tar writes an archive or reads one; -C counts for what follows it.
func tar(c *call) {
	op := "read"
	if c.has("-c", "-r", "-u", "-A", "--delete") {
		op = "write"
	}
	for i := range c.found {
		switch f := &c.found[i]; f.name {
		case "-f":
			if remoteName(f.value.Text) && !c.has("--force-local") {
				c.tag("remote")
			}
			c.touch(op, f.value, f.as)
		case "--checkpoint-action":
			if line, ok := strings.CutPrefix(f.value.Text, "exec="); ok || f.value.Dynamic {
				c.execFlag(f.as)
				c.code(rest(f.value, line), "tar --checkpoint-action")
			}
		}
	}
	folders := c.values("-C")
	if len(folders) > 1 {
		c.unsure("several folders")
	}
	folder := append(folders, Word{Text: "."})[max(0, len(folders)-1)]
	if c.has("-x") && !c.has("-O", "--to-command") {
		c.extracted(folder)
	} else {
		c.untag("absolute-extract")
	}
	if op == "read" {
		return
	}
	c.Recursive = true
	for _, w := range c.Operands {
		if len(folders) > 0 {
			w = in(folder, w)
		}
		c.touch("read", w, "argument")
		if c.has("--remove-files") {
			c.touch("delete", w, "argument")
		}
	}
}

// extracted are the files that are named, and others.
func (c *call) extracted(folder Word) {
	if top, ok := c.value("--one-top-level"); ok {
		folder = in(folder, top)
		c.touch("write", folder, "--one-top-level")
	}
	for _, w := range c.Operands {
		c.touch("write", in(folder, w), "member")
	}
	c.touch("write", Word{Text: strings.TrimSuffix(folder.Text, "/") + "/extracted", Dynamic: folder.Dynamic, Begins: folder.Begins}, "extract")
}

// zip deletes what it has packed, with -m.
func zip(c *call) {
	if c.has("-m", "--move") && len(c.Operands) > 1 {
		for _, w := range c.Operands[1:] {
			c.touch("delete", w, "argument")
		}
	}
}

// unzip writes to the folder of an option, or to the current one.
func unzip(c *call) {
	if !c.looks && !c.has("-d") {
		c.touch("write", Word{Text: "./extracted", Begins: true}, "extract")
	}
	if c.has("-:") {
		c.tag("absolute-extract")
	}
}

// patches: without a file the patch names those that are changed.
func patches(c *call) {
	if len(c.Operands) == 0 {
		c.touch("write", Word{Text: "patched"}, "patch")
	}
}
