package program

import (
	"regexp"
	"slices"
	"strings"
)

// makefile: operands may be variables, which hold code or name programs.
func makefile(c *call) {
	for _, w := range c.Operands {
		before, value, ok := strings.Cut(w.Text, "=")
		name := strings.TrimRight(before, " :?+!")
		switch {
		case !ok && strings.HasPrefix(w.Text, "/"):
			c.touch("write", w, "target")
		case !ok:
		case strings.Contains(before, "!"):
			c.code(rest(w, value), "make !=")
		case name == "SHELL" || name == ".SHELLFLAGS" || strings.HasPrefix(name, "MAKE") || strings.ContainsAny(value, ";|&`#<>$\n"):
			c.execFlag(name + "=")
			c.tag("opaque-exec")
		case slices.Contains(makePrograms, name):
			c.run("make "+name+"=", split(rest(w, value)), "")
		}
	}
}

// makePrograms are variables of make that name a program.
var makePrograms = []string{"CC", "CXX", "CPP", "LD", "AR", "AS", "FC", "RM", "INSTALL", "PYTHON", "NODE", "GO", "YACC", "LEX", "MAKE"}

// cmake -D may name programs, and -E has small commands of its own.
func cmake(c *call) {
	for _, w := range c.values("-D") {
		name, _, _ := strings.Cut(w.Text, "=")
		if slices.ContainsFunc(cmakePrograms, func(part string) bool { return strings.Contains(name, part) }) {
			c.execFlag("-D" + name)
		}
	}
	words := c.tail
	c.tail = nil
	if len(words) == 0 {
		return
	}
	c.Sub = "-E " + words[0].Text
	if name := cmakeCommands[words[0].Text]; name != "" {
		c.run("cmake -E", append([]Word{{Text: name}}, words[1:]...), c.name)
	} else if words[0].Text == "chdir" && len(words) > 2 {
		c.Folder = &words[1]
		c.run("cmake -E", words[2:], c.name)
	}
}

var cmakePrograms = []string{"COMPILER", "LAUNCHER", "PROGRAM", "TOOLCHAIN", "INCLUDE:"}

// cmakeCommands are those of cmake -E, and the programs that do the same.
var cmakeCommands = map[string]string{
	"env": "env", "time": "time", "rm": "rm", "remove": "rm", "remove_directory": "rm", "rename": "mv", "copy": "cp", "copy_directory": "cp",
	"copy_if_different": "cp", "make_directory": "mkdir", "touch": "touch", "create_symlink": "ln", "cat": "cat", "tar": "tar",
}

var (
	mavenSettings = regexp.MustCompile(`^-D(maven\.(ext|repo)\.|maven\.compiler\.executable|maven\.multiModuleProjectDirectory|jvm=|argLine=|exec\.|org\.gradle\.(jvmargs|java))`)
	foreignGoals  = regexp.MustCompile(`:.*:|^(dependency:(get|copy)|archetype:|groovy:|scm:|wrapper:|help:effective-settings)`)
	publishGoals  = regexp.MustCompile(`deploy|publish|release`)
	runningGoals  = regexp.MustCompile(`^(exec|antrun):`)
)

// mavenGoals: some goals run a program or leave the machine, or are of none of the
// project's plug-ins. Some settings name code or a program.
func mavenGoals(c *call) {
	if slices.ContainsFunc(c.args, func(w Word) bool { return mavenSettings.MatchString(w.Text) }) {
		c.tag("opaque-exec")
	}
	for _, w := range c.Operands {
		switch {
		case foreignGoals.MatchString(w.Text):
			c.tag("config-or-install", "opaque-exec")
		case publishGoals.MatchString(w.Text):
			c.tag("publish")
		case runningGoals.MatchString(w.Text):
			c.tag("opaque-exec")
		}
	}
}

// tests are files of code; what follows :: names one of them.
func tests(c *call) {
	for _, w := range c.Operands {
		switch name, _, _ := strings.Cut(w.Text, "::"); {
		case strings.HasPrefix(name, "@"):
			c.use(args, w, "@file")
		case strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".."):
			c.codeFile(rest(w, name), "argument")
		}
	}
}

// compiler: some values are libraries that are loaded, or programs, whose words have
// commas between. Without -o, one file is written.
func compiler(c *call) {
	for i := range c.found {
		value := c.found[i].value.Text
		if c.found[i].name == "-W" && strings.Contains(value, "plugin") || c.found[i].name == "-C" && strings.HasPrefix(value, "link") {
			c.execFlag(c.found[i].name + value)
		}
	}
	for _, w := range c.values("-wrapper") {
		var argv []Word
		for _, s := range strings.Split(w.Text, ",") {
			argv = append(argv, rest(w, s))
		}
		c.execFlag("-wrapper")
		c.run(c.name+" -wrapper", argv, "")
	}
	if !c.has("-o") && len(c.Operands) > 0 && !c.has("-E") {
		c.touch("write", Word{Text: "a.out", Begins: true}, "output")
	}
}

// crossEnv sets variables for another program.
func crossEnv(c *call) { c.run(c.name, c.variables(c.Operands), c.name) }

// goFlags: tools may be told to run or write something; a path outside holds foreign code.
func goFlags(c *call) {
	for i := range c.found {
		f := &c.found[i]
		has := func(part string) bool { return strings.Contains(f.value.Text, part) }
		if f.name == "-ldflags" && has("extld") || (f.name == "-gcflags" || f.name == "-asmflags") && (has("-o") || has("profile") || has("trace") || f.value.Dynamic) {
			c.execFlag(f.name)
		}
	}
	for i, w := range c.Operands {
		switch first := c.Sub == "run" && i == 0; {
		case first && strings.Contains(w.Text, "@"):
			c.tag("config-or-install")
		case first && strings.HasSuffix(w.Text, ".go"):
			c.codeFile(w, "argument")
		case strings.HasPrefix(w.Text, "/") || w.Text == ".." || strings.HasPrefix(w.Text, "../"):
			c.touch("read", w, "argument")
		}
	}
}

// javaFlags: some run a program when something goes wrong.
func javaFlags(c *call) {
	for _, w := range c.args {
		if strings.HasPrefix(w.Text, "-XX:On") || strings.HasPrefix(w.Text, "-XX:Flags") || strings.HasPrefix(w.Text, "@") {
			c.execFlag(w.Text)
			c.tag("opaque-exec")
		}
	}
}
