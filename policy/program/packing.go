package program

import "strings"

// tar writes an archive or reads one; -C counts for what follows it.
func tar(c *call) {
	creates := c.has("-c", "-r", "-u", "-A", "--delete") || c.flag('c', "") || c.flag('r', "") || c.flag('u', "")
	extracts := c.has("-x") || c.flag('x', "")
	folder, moved := c.value("-C")
	moves := 0
	for i := range c.found {
		switch f := &c.found[i]; f.name {
		case "-C":
			if moves++; moves > 1 {
				c.unsure("several folders")
			}
		case "-f":
			if remoteName(f.value.Text) && !c.flag(0, "--force-local") {
				c.tag("remote")
			}
			if creates {
				c.touch("write", f.value, f.as)
			} else {
				c.touch("read", f.value, f.as)
			}
		case "--checkpoint-action":
			if line, ok := strings.CutPrefix(f.value.Text, "exec="); ok || f.value.Dynamic {
				c.execFlag(f.as)
				c.code(rest(f.value, line), "tar --checkpoint-action")
			}
		}
	}
	if extracts && !c.has("-O") && !c.has("--to-command") {
		if !moved {
			folder = Word{Text: "."}
		}
		if top, ok := c.value("--one-top-level"); ok {
			folder = in(folder, top)
			c.touch("write", folder, "--one-top-level")
		}
		for _, w := range c.Operands {
			c.touch("write", in(folder, w), "member")
		}
		c.touch("write", Word{Text: strings.TrimSuffix(folder.Text, "/") + "/extracted", Dynamic: folder.Dynamic, Begins: folder.Begins}, "extract")
	} else {
		c.untag("absolute-extract")
	}
	if !creates {
		return
	}
	c.Recursive = true
	for _, w := range c.Operands {
		if moved {
			w = in(folder, w)
		}
		c.touch("read", w, "argument")
		if c.flag(0, "--remove-files") {
			c.touch("delete", w, "argument")
		}
	}
}

// zip deletes what it has packed, with -m.
func zip(c *call) {
	if c.flag('m', "--move") && len(c.Operands) > 1 {
		for _, w := range c.Operands[1:] {
			c.touch("delete", w, "argument")
		}
	}
	c.Recursive = c.Recursive || c.flag('r', "--recurse-paths")
}

// unpack writes to the folder of an option, or to the current one; not with one of the
// letters that only look.
func unpack(folder, looks string) func(*call) {
	return func(c *call) {
		if c.has(folder) || c.name == "zipinfo" {
			return
		}
		for _, f := range c.Flags {
			if len(f) == 2 && strings.Contains(looks, f[1:]) {
				return
			}
		}
		c.touch("write", Word{Text: "./extracted", Begins: true}, "extract")
		for _, w := range c.Operands[min(1, len(c.Operands)):] {
			c.touch("write", w, "member")
		}
		if c.flag(':', "") {
			c.tag("absolute-extract")
		}
	}
}

// compress replaces files, unless it writes to its standard output or only looks.
func compress(c *call) {
	keeps := c.flag('c', "--stdout") || c.flag('t', "--test") || c.flag('l', "--list") || c.flag(0, "--to-stdout")
	kept := c.Touches[:0]
	for _, t := range c.Touches {
		if t.Op != "write" || !keeps || t.Via != "argument" {
			kept = append(kept, t)
		}
	}
	c.Touches = kept
	c.Recursive = c.flag('r', "--recursive")
}

// patches: without a file the patch names those that are changed.
func patches(c *call) {
	if len(c.Operands) == 0 {
		c.touch("write", Word{Text: "patched"}, "patch")
	}
}
