package program

import (
	"regexp"
	"slices"
	"strings"
)

// definition adds a variable of make or cmake, which may name code or a program.
func (c *call) definition(w Word) {
	if strings.Contains(w.Text, "extld") {
		c.execFlag("extld")
	}
	// what is stamped in may be known only at run time
	if linkerFlags.MatchString(w.Text) && (!w.Dynamic || strings.Contains(w.Text, "-X")) {
		return
	}
	name, value, set := strings.Cut(strings.TrimPrefix(w.Text, ":"), "=") // -p:NAME=VALUE of dotnet
	shell := strings.HasSuffix(name, "!")
	name, _, _ = strings.Cut(strings.TrimRight(name, " :?+!"), ":")
	switch {
	case !set:
		c.plain(w, "target")
	case shell || c.name == "dotnet" && strings.HasSuffix(name, "Event"):
		c.code(withText(w, value), c.name+" !=")
	case buildPrograms.MatchString(name):
		c.run(c.name+" "+name+"=", split(withText(w, value)), "")
		if !c.table.isUsual("$CC", Word{Text: value}) {
			c.execFlag(name + "=")
		}
	case name == "SHELL" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "MAKE") ||
		strings.ContainsAny(value, ";|&`<>$\n") || w.Dynamic:
		c.execFlag(name + "=")
		c.tag("opaque-exec")
	default:
		c.plain(withText(w, value), name)
	}
}

var buildPrograms = regexp.MustCompile(`^(CC|CXX|CPP|LD|AR|AS|FC|RM|INSTALL|PYTHON|NODE|GO|YACC|LEX|MAKE)$|COMPILER|LAUNCHER|PROGRAM|TOOLCHAIN|INCLUDE$|^(jvm|argLine)$|^(maven\.(ext|repo)|exec)\.`)

var (
	linkerFlags   = regexp.MustCompile(`^(\s*(-[sw]|-X[ =][\w./-]+=[\w.:+-]*))+\s*$`)
	compilerFlags = regexp.MustCompile(`^([\w./]+=)?(\s*(-[NlmSBCe]|-m=\d|-d=[\w,=]+))+$`)
)

// compiler adds libraries that options load, and the file that is written without -o.
func (c *call) compiler() {
	for i := range c.found {
		value := c.found[i].value.Text
		if c.found[i].name == "-W" && strings.Contains(value, "plugin") || c.found[i].name == "-C" &&
			strings.HasPrefix(value, "link") {
			c.execFlag(c.found[i].name + value)
		}
	}
	if !c.has("-o", "--out-dir", "-E", "-fsyntax-only") && len(c.Operands) > 0 {
		c.touch("write", Word{Text: "a.out", Begins: true}, "output")
	}
}

// optionFiles adds words of java and pytest that name a file of options, or a program that runs on an error.
func (c *call) optionFiles() {
	for _, w := range c.args {
		if strings.HasPrefix(w.Text, "-XX:On") || strings.HasPrefix(w.Text, "-XX:Flags") ||
			strings.HasPrefix(w.Text, "@") {
			c.execFlag(w.Text)
			c.tag("opaque-exec")
		}
	}
}

// install adds a package to install. Files and folders of the workspace are its own code.
func (c *call) install(w Word) {
	_, url, named := strings.Cut(w.Text, "@ ") // NAME @ URL
	_, out := firstOutside(strings.TrimPrefix(w.Text, "file:"))
	switch {
	case named && strings.Contains(url, "://"):
		c.fetch(withText(w, strings.TrimPrefix(url, "git+")), "GET")
	case strings.Contains(w.Text, "://"):
		c.fetch(withText(w, strings.TrimPrefix(w.Text, "git+")), "GET")
	case out || strings.HasPrefix(w.Text, ".") || strings.HasSuffix(w.Text, ".go") ||
		strings.HasPrefix(w.Text, "file:"):
		c.codeFile(withText(w, strings.TrimPrefix(w.Text, "file:")), "argument")
		return
	}
	c.tag("config-or-install")
}

// goal adds a goal of maven or gradle. Some run a program, publish, or belong to no plug-in of the project.
func (c *call) goal(w Word) {
	switch {
	case strings.HasPrefix(w.Text, "eval ") || strings.HasPrefix(w.Text, "set "): // of sbt
		c.Inline = true
		return
	case foreignGoals.MatchString(w.Text):
		c.tag("config-or-install", "opaque-exec")
	case publishGoals.MatchString(w.Text):
		c.tag("publish")
	}
	c.plain(w, "argument")
}

var (
	foreignGoals = regexp.MustCompile(`^[^:]+:.*:|^(dependency:(get|copy)|archetype:|groovy:|scm:|wrapper:|help:effective-settings|exec:|antrun:)`)
	publishGoals = regexp.MustCompile(`(?i)deploy|publish|release|upload`)
)

// npx runs a package, which is fetched unless it is a known tool or installed in the workspace.
func (c *call) npx() {
	if len(c.Operands) == 0 || c.has("-c") {
		return
	}
	name := c.Operands[0].Text
	p := c.table.lookup(name)
	if p == nil || !slices.Contains(p.tags, "workspace-code") && !slices.Contains(p.tags, "changes") {
		other := func(flag string) bool { return !slices.Contains(npxPlain, flag) }
		if c.name != "pnpx" && packageName.MatchString(name) && !slices.ContainsFunc(c.Flags, other) {
			c.Installs = c.Operands
		}
		return
	}
	if !c.has("-p", "-y") {
		c.untag("config-or-install")
	}
	c.run(c.name, c.Operands, c.name)
}

// npxPlain are options of npx that do not change what it runs.
var npxPlain = []string{"-y", "--yes", "--no", "--no-install", "-q", "--quiet"}

var packageName = regexp.MustCompile(`^\w[\w.-]*$`)

// inner runs another program, or a subcommand of the same one: yarn node x.js, yarn workspace web add x.
func (c *call) inner() {
	name, words := c.name, c.Operands
	switch n := len(c.starred); {
	case n > 0: // bundle exec x
		name = c.starred[n-1].Text
	case c.Sub == "node":
		name = "node"
	case c.Sub == "workspace" && len(words) > 0:
		words = words[1:]
	}
	if len(words)+len(c.starred) > 0 || c.Sub == "node" {
		c.run(c.name, append([]Word{{Text: name}}, words...), c.name)
	}
}
