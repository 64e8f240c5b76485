package program

import (
	"slices"
	"strings"
)

// makefile: --eval and SHELL= hold code, and other files than the usual one, too.
func makefile(c *call) {
	if w, ok := c.value("-E"); ok {
		c.ExecFlags = append(c.ExecFlags, "--eval")
		c.tag("opaque-exec")
		if _, recipe, found := strings.Cut(w.Text, ";"); found {
			c.code(rest(w, recipe), "make --eval")
		}
		if _, recipe, found := strings.Cut(w.Text, "$(shell "); found {
			c.code(rest(w, strings.TrimRight(recipe, ")")), "make --eval")
		}
	}
	if w, ok := c.value("-f"); ok {
		c.codeFile(w, "-f")
	}
	for _, w := range c.Operands {
		name, value, ok := strings.Cut(w.Text, "=")
		if !ok {
			if strings.HasPrefix(w.Text, "/") {
				c.touch("write", w, "target")
			}
			continue
		}
		before := name
		name = strings.TrimRight(name, " :?+!")
		switch {
		case strings.Contains(before, "!"):
			c.code(rest(w, value), "make !=")
		case name == "SHELL" || name == ".SHELLFLAGS" || name == "MAKEFLAGS" || strings.ContainsAny(value, ";|&`#<>$\n") || strings.HasPrefix(name, "MAKE"):
			c.ExecFlags = append(c.ExecFlags, name+"=")
			c.tag("opaque-exec")
		case slices.Contains(makePrograms, name):
			c.run("make "+name+"=", split(rest(w, value)), "")
		}
	}
}

// makePrograms are variables of make that name a program.
var makePrograms = []string{"CC", "CXX", "CPP", "LD", "AR", "AS", "FC", "RM", "INSTALL", "PYTHON", "NODE", "GO", "YACC", "LEX", "MAKE"}

// cmake -E has small commands of its own, some of which run or delete.
func cmake(c *call) {
	if w, ok := c.value("-S"); ok && c.name == "ctest" {
		c.codeFile(w, "-S")
	}
	for i := range c.found {
		f := &c.found[i]
		name, _, _ := strings.Cut(f.value.Text, "=")
		if f.name == "-D" && (strings.Contains(name, "COMPILER") || strings.Contains(name, "LAUNCHER") || strings.Contains(name, "PROGRAM") || strings.Contains(name, "TOOLCHAIN") || strings.Contains(name, "INCLUDE:")) {
			c.ExecFlags = append(c.ExecFlags, "-D"+name)
		}
	}
	words := c.tail
	c.tail = nil
	if len(words) == 0 {
		return
	}
	c.Sub = "-E " + words[0].Text
	switch words[0].Text {
	case "env":
		c.run("cmake -E", append([]Word{{Text: "env"}}, words[1:]...), c.name)
	case "time":
		c.run("cmake -E", words[1:], c.name)
	case "chdir":
		if len(words) > 2 {
			c.Runs = append(c.Runs, Run{Via: "cmake -E chdir", Argv: words[2:], Dir: &words[1], Wrapper: c.name})
		}
	case "rm", "remove", "remove_directory", "rename", "copy", "copy_directory", "copy_if_different", "make_directory", "touch", "create_symlink", "cat", "tar":
		names := map[string]string{"remove": "rm", "remove_directory": "rm", "rename": "mv", "copy": "cp", "copy_directory": "cp", "copy_if_different": "cp", "make_directory": "mkdir", "create_symlink": "ln"}
		name := names[words[0].Text]
		if name == "" {
			name = words[0].Text
		}
		c.run("cmake -E", append([]Word{{Text: name}}, words[1:]...), c.name)
	}
}

// foreignGoals fetch or run what the project does not name, or print settings.
var foreignGoals = []string{"dependency:get", "dependency:copy", "archetype:", "groovy:", "scm:", "wrapper:", "help:effective-settings"}

// mavenSettings of -D name code or a program.
var mavenSettings = []string{"maven.ext.", "maven.repo.", "jvm=", "argLine=", "exec.", "maven.compiler.executable", "maven.multiModuleProjectDirectory", "org.gradle.jvmargs", "org.gradle.java"}

// mavenGoals: some goals run a program or leave the machine.
func mavenGoals(c *call) {
	for _, w := range c.args {
		if slices.ContainsFunc(mavenSettings, func(s string) bool { return strings.HasPrefix(w.Text, "-D"+s) }) {
			c.tag("opaque-exec")
		}
	}
	for _, w := range c.Operands {
		switch {
		case strings.Count(w.Text, ":") > 1 || slices.ContainsFunc(foreignGoals, func(g string) bool { return strings.HasPrefix(w.Text, g) }):
			c.tag("config-or-install", "opaque-exec")
		case strings.Contains(w.Text, "deploy") || strings.Contains(w.Text, "publish") || strings.Contains(w.Text, "release"):
			c.tag("publish")
		case strings.HasPrefix(w.Text, "exec:") || strings.HasPrefix(w.Text, "antrun:"):
			c.tag("opaque-exec")
		}
	}
}

// compiler: gcc -wrapper separates its words by commas; @file holds more options.
func compiler(c *call) {
	for i := range c.found {
		if f := &c.found[i]; f.name == "-wrapper" && f.given {
			c.Runs = slices.DeleteFunc(c.Runs, func(r Run) bool { return strings.HasSuffix(r.Via, "-wrapper") })
			var argv []Word
			for _, s := range strings.Split(f.value.Text, ",") {
				argv = append(argv, rest(f.value, s))
			}
			c.run(c.name+" -wrapper", argv, "")
		}
	}
	optionFiles(c)
	for i := range c.found {
		value := c.found[i].value.Text
		if c.found[i].name == "-W" && strings.Contains(value, "plugin") || c.found[i].name == "-C" && strings.HasPrefix(value, "link") {
			c.ExecFlags = append(c.ExecFlags, c.found[i].name+value)
		}
	}
	if _, ok := c.value("-o"); !ok && len(c.Operands) > 0 && !c.flag('E', "") {
		c.touch("write", Word{Text: "a.out", Begins: true}, "output")
	}
}

// rewrites: with one of these flags, files are changed in place.
func rewrites(flags ...string) func(*call) {
	return func(c *call) {
		if !c.has(flags...) {
			return
		}
		for _, w := range c.Operands {
			c.touch("write", w, flags[0])
		}
	}
}

// formatter changes the files unless it only checks.
func formatter(c *call) {
	words := c.Operands
	checks := c.flag(0, "--check") || c.flag(0, "--diff") || c.flag(0, "--version")
	if c.name == "ruff" && len(words) > 0 {
		c.Sub, words = words[0].Text, words[1:]
		checks = checks || c.Sub != "format" && !c.flag(0, "--fix")
	}
	for _, w := range words {
		c.touch("read", w, "argument")
		if !checks {
			c.touch("write", w, "argument")
		}
	}
}

// jsTool: some of them only set variables for another program, or run lines.
func jsTool(c *call) {
	switch c.name {
	case "cross-env":
		c.run(c.name, c.variables(c.Operands), c.name)
	case "concurrently":
		for _, w := range c.Operands {
			c.code(w, c.name)
		}
	case "rimraf":
		for _, w := range c.Operands {
			c.touch("delete", w, "argument")
		}
	}
}

// tests are files of code; what follows :: names one of them.
func tests(c *call) {
	for _, w := range c.Operands {
		name, _, _ := strings.Cut(w.Text, "::")
		switch {
		case strings.HasPrefix(name, "@"):
			c.touch("read", rest(w, name[1:]), "@file")
			c.unsure("options in a file")
		case strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".."):
			c.codeFile(rest(w, name), "argument")
		}
	}
	if w, ok := c.value("--cov-report"); ok {
		if _, to, named := strings.Cut(w.Text, ":"); named && !strings.HasPrefix(to, "skip") {
			c.touch("write", rest(w, to), "--cov-report")
		}
	}
}

// goTestFlag is what a test program does with one of its own flags, which go test hands on.
func goTestFlag(c *call, i int) {
	name, value, glued := strings.Cut(strings.TrimLeft(c.args[i].Text, "-"), "=")
	name, own := strings.CutPrefix(name, "test.")
	if !own || !strings.HasSuffix(name, "profile") && !strings.HasSuffix(name, "dir") && name != "trace" && name != "testlogfile" {
		return
	}
	w := rest(c.args[i], value)
	if !glued && i+1 < len(c.args) {
		w = c.args[i+1]
	}
	c.touch("write", w, "-test."+name)
}

// goFlags: the linker may be another program; a path outside holds foreign code.
func goFlags(c *call) {
	for i := range c.found {
		if f := &c.found[i]; f.name == "-ldflags" && strings.Contains(f.value.Text, "extld") {
			c.ExecFlags = append(c.ExecFlags, "-ldflags -extld")
		}
	}
	for i := range c.args {
		goTestFlag(c, i)
	}
	for _, name := range []string{"-gcflags", "-asmflags"} {
		if w, ok := c.value(name); ok && (strings.Contains(w.Text, "-o") || strings.Contains(w.Text, "profile") || strings.Contains(w.Text, "trace") || w.Dynamic) {
			c.ExecFlags = append(c.ExecFlags, name)
		}
	}
	for _, w := range c.Operands {
		if strings.HasPrefix(w.Text, "/") || w.Text == ".." || strings.HasPrefix(w.Text, "../") {
			c.touch("read", w, "argument")
		}
	}
	if c.Sub == "run" && len(c.Operands) > 0 && (strings.HasSuffix(c.Operands[0].Text, ".go") || strings.Contains(c.Operands[0].Text, "@")) {
		if strings.Contains(c.Operands[0].Text, "@") {
			c.tag("config-or-install")
			return
		}
		c.CodeFile = c.at(c.Operands[0])
		c.touch("read", c.Operands[0], "argument")
	}
}

// javaFlags: some run a program when something goes wrong.
func javaFlags(c *call) {
	for _, w := range c.args {
		if strings.HasPrefix(w.Text, "-XX:On") || strings.HasPrefix(w.Text, "-XX:Flags") || strings.HasPrefix(w.Text, "@") {
			c.ExecFlags = append(c.ExecFlags, w.Text)
			c.tag("opaque-exec")
		}
	}
}

// optionFiles are named after an @, and hold more options.
func optionFiles(c *call) {
	for _, w := range c.Operands {
		if name, ok := strings.CutPrefix(w.Text, "@"); ok {
			c.touch("read", rest(w, name), "@file")
			c.unsure("options in a file")
		}
	}
}

// goTool: most of the tools that come with Go look at what was built. Others are of
// modules, or run another program.
func goTool(c *call) {
	if len(c.Operands) == 0 {
		return
	}
	if !slices.Contains([]string{"addr2line", "buildid", "cover", "nm", "objdump", "pprof", "test2json"}, c.Operands[0].Text) {
		c.tag("config-or-install")
	}
	for _, w := range c.Operands[1:] {
		if strings.Contains(w.Text, "://") {
			c.fetch(w, "GET")
		} else {
			c.touch("read", w, "argument")
		}
	}
}
