package program

import (
	"slices"
	"strings"
)

// variables takes NAME=value from the front.
func (c *call) variables(list []Word) []Word {
	for len(list) > 0 {
		name, _, ok := strings.Cut(list[0].Text, "=")
		if !ok || name == "" || strings.Contains(name, "/") {
			break
		}
		c.sets(list[0])
		list = list[1:]
	}
	return list
}

// shell is an interactive one, or one that reads the standard input.
func (c *call) shell() {
	c.Runs = append(c.Runs, Run{Via: c.name, Shell: true, KeepStdin: true, NewShell: true, Wrapper: c.name, Dir: c.folder})
	c.ReadsIn = true
}

func sudo(c *call) {
	words := c.variables(c.Operands)
	switch {
	case c.has("-e"):
		for _, w := range words {
			c.use(change, w, "-e")
		}
	case (c.has("-s", "-i")) && len(words) == 0:
		c.shell()
	case c.has("-s", "-i"):
		c.code(join(words), c.name+" -s")
	default:
		c.run(c.name, words, c.name)
	}
}

// su starts a shell unless it is given a line. Words after the user are the shell's.
func su(c *call) {
	switch {
	case len(c.Operands) > 1 && c.Operands[len(c.Operands)-2].Text == "-c":
		c.code(c.Operands[len(c.Operands)-1], c.name+" -c")
	case !c.has("-c", "--session-command") && c.name != "sg":
		c.shell()
	}
}

func runuser(c *call) {
	switch {
	case c.has("-u"):
		c.run(c.name, c.Operands, c.name)
	case len(c.Operands) > 2 && c.Operands[1].Text == "-c":
		c.code(c.Operands[2], c.name+" -c")
	case !c.has("-c", "--session-command"):
		c.shell()
	}
}

// capsh starts bash with what follows -- or ==.
func capsh(c *call) {
	for i, w := range c.args {
		if w.Text == "--" || w.Text == "==" {
			c.run(c.name, append([]Word{{Text: "bash"}}, c.args[i+1:]...), c.name)
			return
		}
	}
}

// shellIfBare: without a program, a shell is started.
func shellIfBare(c *call) {
	if len(c.Runs) == 0 {
		c.shell()
	}
}

// scriptShell: script without a line records a shell.
func scriptShell(c *call) {
	if c.name == "script" && !c.has("-c") {
		c.shell()
	}
}

// strace writes to a file, or to a program after a bar.
func strace(c *call) {
	w, ok := c.value("-o")
	if !ok {
		return
	}
	if line, piped := strings.CutPrefix(w.Text, "|"); piped || strings.HasPrefix(w.Text, "!") {
		c.ExecFlags = append(c.ExecFlags, "-o")
		c.code(rest(w, strings.TrimPrefix(line, "!")), "strace -o")
		return
	}
	c.touch("write", w, "-o")
}

// flock is followed by a file and a program, or by -c and a line.
func flock(c *call) {
	if len(c.Operands) == 0 {
		return
	}
	if w := c.Operands[0]; strings.Trim(w.Text, "0123456789") != "" || w.Dynamic {
		c.touch("write", w, "argument")
	}
	words := c.Operands[1:]
	for len(words) > 0 && strings.HasPrefix(words[0].Text, "-") && words[0].Text != "-c" && words[0].Text != "--command" {
		words = words[1:]
	}
	if len(words) > 1 && (words[0].Text == "-c" || words[0].Text == "--command") {
		c.code(words[1], "flock -c")
		return
	}
	c.run(c.name, words, c.name)
}

// applet is a program inside of busybox.
func applet(c *call) {
	if len(c.Operands) > 0 && lookup(c.table, c.Operands[0].Text) == nil {
		c.tag("unlisted")
	}
}

func env(c *call) {
	if w, ok := c.value("-S"); ok {
		if strings.Contains(w.Text, "$") {
			c.unsure("variables in env -S")
		}
		c.run("env -S", slices.Concat([]Word{{Text: "env"}}, split(w), c.Operands), c.name)
		return
	}
	words := c.variables(c.Operands)
	if len(words) == 0 {
		c.tag("dump-env")
		return
	}
	c.run(c.name, words, c.name)
}

func xargs(c *call) {
	r := Run{Via: "xargs", Wrapper: c.name, Lines: true, NulLines: c.flag('0', "--null"), Argv: c.Operands}
	if len(r.Argv) == 0 {
		r.Argv = []Word{{Text: "echo"}}
	}
	if w, ok := c.value("-d"); ok && (w.Text == `\0` || w.Text == `\x00` || w.Text == `\000`) {
		r.NulLines = true
	} else if ok {
		r.WholeLine = true
		if w.Text != `\n` && w.Text != "\n" {
			c.unsure("delimiter of xargs")
		}
	}
	r.Groups = c.has("-n") || c.has("-L") || c.has("-l") || c.has("-s")
	if w, ok := c.value("-I"); ok {
		r.Replace = w.Text
	} else if w, ok := c.value("-J"); ok {
		r.Replace = w.Text
	} else if c.has("-i") {
		r.Replace = "{}"
		if w, ok := c.value("-i"); ok {
			r.Replace = w.Text
		}
	}
	if c.has("-a") {
		r.Lines = false
		r.Argv = append(slices.Clip(r.Argv), Word{Dynamic: true})
	} else {
		c.ReadsIn = true
	}
	c.Runs = append(c.Runs, r)
}

// parallel makes a shell line of the words before ::: and one of those after it.
func parallel(c *call) {
	words, values, from := c.Operands, []Word(nil), false
	for i, w := range c.Operands {
		if strings.HasPrefix(w.Text, ":::") {
			words, from = c.Operands[:i], true
			if strings.HasPrefix(w.Text, "::::") {
				for _, file := range c.Operands[i+1:] {
					c.use(list, file, w.Text)
				}
				values = []Word{{Dynamic: true}}
			} else {
				values = c.Operands[i+1:]
			}
			break
		}
	}
	if !from {
		c.ReadsIn = true
		if len(words) == 0 && !c.has("-a") {
			c.shell()
			return
		}
		values = []Word{{Dynamic: true}}
	}
	if len(values) > 16 {
		c.unsure("many values of parallel")
		values = values[:16]
	}
	line := join(words)
	for _, v := range values {
		text := Word{Text: v.Text, Dynamic: v.Dynamic || line.Dynamic}
		if strings.Contains(line.Text, "{}") {
			text.Text = strings.ReplaceAll(line.Text, "{}", v.Text)
		} else if line.Text != "" {
			text.Text = line.Text + " " + v.Text
		}
		c.Runs = append(c.Runs, Run{Via: c.name, Code: text, Wrapper: c.name, NewShell: true})
	}
}

// watch runs a shell line, or with -x a program.
func watch(c *call) {
	if len(c.Operands) == 0 {
		return
	}
	if c.flag('x', "--exec") || c.name == "entr" && !c.flag('s', "") {
		c.run(c.name, c.Operands, c.name)
		return
	}
	c.Runs = append(c.Runs, Run{Via: c.name, Code: join(c.Operands), Wrapper: c.name, NewShell: true})
}

// tmux has commands that only look; the words of the others may be a shell line.
func tmux(c *call) {
	if len(c.Operands) == 0 {
		c.shell()
		return
	}
	c.Sub = c.Operands[0].Text
	switch {
	case c.Sub == "ls" || c.Sub == "lsp" || c.Sub == "lsw" || c.Sub == "has-session" || c.Sub == "has" || strings.HasPrefix(c.Sub, "list-") || strings.HasPrefix(c.Sub, "show"):
		c.untag("longrun")
		return
	case strings.HasPrefix(c.Sub, "kill-"):
		c.tag("signal")
		return
	case c.Sub == "source-file" || c.Sub == "source":
		c.tag("opaque-exec")
	}
	words := c.Operands[1:]
	for len(words) > 0 && strings.HasPrefix(words[0].Text, "-") {
		if n := 2; len(words) > n && len(words[0].Text) == n && strings.Contains("cnstFtexyl", words[0].Text[1:]) {
			words = words[1:]
		}
		words = words[1:]
	}
	words = slices.DeleteFunc(slices.Clone(words), func(w Word) bool { return w.Text == "Enter" || w.Text == "C-m" })
	if len(words) > 0 {
		c.Runs = append(c.Runs, Run{Via: "tmux " + c.Sub, Code: join(words), Wrapper: c.name, NewShell: true})
	}
}

// at reads the lines that are to run.
func at(c *call) {
	if !c.flag('l', "") && !c.flag('d', "") && !c.flag('c', "") && !c.has("-f") {
		c.Runs = append(c.Runs, Run{Via: c.name, Shell: true, KeepStdin: true, NewShell: true})
		c.ReadsIn = true
	}
}

func crontab(c *call) {
	switch {
	case len(c.Operands) == 0 && len(c.Flags) == 0:
		c.ReadsCode, c.ReadsIn = true, true
	case c.flag('l', ""):
		c.untag("schedule")
	}
}

func startDaemon(c *call) {
	w, ok := c.value("-x")
	if !ok {
		w, ok = c.value("-a")
	}
	if ok && !c.flag('K', "--stop") && !c.flag('T', "--status") {
		c.run(c.name, append([]Word{w}, c.Operands...), c.name)
	}
	if c.flag('K', "--stop") {
		c.tag("signal")
	}
}

// lookupOrRun is command: with -v it only says where a program is.
func lookupOrRun(c *call) {
	if c.flag('v', "") || c.flag('V', "") {
		c.untag("wrapper")
		return
	}
	c.run(c.name, c.Operands, c.name)
}
