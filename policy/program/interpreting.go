package program

import (
	"regexp"
	"slices"
	"strings"
)

// interpreter settles what is run: code in the arguments, a file, or the standard input.
func interpreter(c *call) {
	if c.Inline {
		c.withoutScript()
		return
	}
	c.readsProgram()
}

// readsProgram: without a file, the code comes from the standard input.
func (c *call) readsProgram() {
	if len(c.Operands) > 0 || c.replaced || c.has("--run", "--test", "--prof-process") {
		c.runsOperand()
		return
	}
	for _, f := range c.Flags {
		switch f {
		case "--version", "-V", "-v", "--help", "-h", "--info", "--ini", "-m", "--modules", "--v8-options", "--rf", "--rc", "--re", "--ri":
			return
		}
	}
	c.ReadsCode, c.ReadsIn = true, true
}

func (c *call) runsOperand() {
	if c.CodeFile.Text != "" || c.CodeFile.Dynamic {
		c.tag("workspace-code")
	}
}

// withoutScript: with code in the arguments, the first operand is no code.
func (c *call) withoutScript() {
	if !c.replaced && len(c.Operands) > 0 {
		c.CodeFile = Word{}
	}
}

func readsProgram(c *call) { interpreter(c) }

// bareInterpreter: without a subcommand, lines are read. A file may stand in its place.
func bareInterpreter(c *call) {
	switch {
	case c.Inline:
	case c.Sub == "":
		for _, f := range c.Flags {
			if f == "--version" || f == "-V" || f == "-v" || f == "--help" || f == "-h" {
				return
			}
		}
		c.tag("interactive-shell")
		c.ReadsCode, c.ReadsIn = true, true
	case strings.ContainsAny(c.Sub, "./"):
		c.untag("unlisted-sub")
		c.codeFile(Word{Text: c.Sub, Begins: true}, "argument")
	}
}

func inlineProgram(c *call) {
	c.Inline = true
	c.ReadsCode = len(c.Operands) == 0
}

// pythonModules are run with -m, and leave the standard input to data.
var pythonModules = strings.Fields(`
	pytest unittest venv virtualenv json.tool pip pipx compileall py_compile black mypy ruff isort flake8 pylint pyright
	coverage doctest build tox nox timeit tokenize dis ast site sysconfig platform this calendar tabnanny pyflakes
	pycodestyle bandit twine setuptools wheel ensurepip trace cProfile profile pdb zipfile tarfile gzip base64 http.server
	uvicorn gunicorn flask django celery IPython sphinx mkdocs pre_commit poetry uv hatch alembic`)

// standardPackages hold modules that run, and come with python or publish.
var standardPackages = strings.Fields("asyncio collections concurrent ctypes curses dbm distutils email encodings ensurepip html http idlelib importlib json lib2to3 logging multiprocessing os pip pydoc_data re setuptools site sqlite3 sysconfig test tkinter tomllib turtledemo twine unittest urllib venv wsgiref xml xmlrpc zipfile zoneinfo")

// python has modules instead of a file.
func python(c *call) {
	if c.Inline || len(c.tail) == 0 {
		if c.flag('i', "") {
			c.tag("interactive-shell")
		}
		interpreter(c)
		return
	}
	words := c.tail
	c.tail, c.Sub, c.Operands = nil, words[0].Text, words[1:]
	c.module(words[0], words[1:])
}

// module runs the program behind python -m.
func (c *call) module(w Word, args []Word) {
	switch {
	case w.Dynamic:
		c.unsure("dynamic module")
	case lookup(c.table, w.Text) != nil && !slices.Contains([]string{"site", "this", "platform", "trace", "profile", "test"}, w.Text):
		c.Runs = append(c.Runs, Run{Via: "python -m", Argv: append([]Word{w}, args...), Wrapper: "python", KeepStdin: true})
	case w.Text == "venv" || w.Text == "virtualenv":
		for _, a := range args {
			if !strings.HasPrefix(a.Text, "-") {
				c.touch("write", a, "argument")
			}
		}
	case w.Text == "json.tool":
		c.jsonTool(args)
	case w.Text == "http.server":
		c.tag("raw-socket", "longrun")
	case w.Text == "cProfile":
		c.profiled(args)
	case w.Text == "trace" || w.Text == "profile" || w.Text == "pdb" || w.Text == "timeit":
		c.Inline = true
	case w.Text == "ensurepip":
		c.tag("config-or-install")
	case slices.Contains(pythonModules, w.Text):
		c.tag("workspace-code")
		c.moduleFiles(w.Text, args)
	case strings.Contains(w.Text, ".") && !slices.Contains(standardPackages, strings.SplitN(w.Text, ".", 2)[0]):
		c.tag("workspace-code") // a package of the project
	default:
		c.Inline = true // any module of the workspace or the system
	}
}

// profiled is python -m cProfile -s cumtime x.py.
func (c *call) profiled(args []Word) {
	for i := 0; i < len(args); i++ {
		switch text := args[i].Text; {
		case text == "-m" || args[i].Dynamic:
			c.Inline = true
			return
		case text == "-o" && i+1 < len(args):
			i++
			c.touch("write", args[i], "-o")
		case text == "-s":
			i++
		case !strings.HasPrefix(text, "-"):
			c.codeFile(args[i], "argument")
			return
		}
	}
}

// moduleFiles: the arguments of most modules are files. Some of them write.
func (c *call) moduleFiles(module string, args []Word) {
	writes := slices.Contains([]string{"zipfile", "tarfile", "compileall", "py_compile", "gzip", "django", "sphinx", "mkdocs"}, module)
	for _, w := range args {
		if strings.HasPrefix(w.Text, "-") && !w.Dynamic {
			continue
		}
		c.touch("read", w, "argument")
		if writes {
			c.touch("write", w, "argument")
		}
	}
}

func (c *call) jsonTool(args []Word) {
	var names []Word
	for _, a := range args {
		if !strings.HasPrefix(a.Text, "-") {
			names = append(names, a)
		}
	}
	c.ReadsIn = len(names) == 0
	for i, w := range names {
		op := "read"
		if i == 1 {
			op = "write"
		}
		c.touch(op, w, "argument")
	}
}

// database shells read statements from their standard input, and can run programs.
func database(c *call) {
	if c.name == "sqlite3" && c.asksOnly() {
		c.Inline = false
		return
	}
	if c.CodeFile.Text != "" || c.Inline {
		c.Inline = true
		return
	}
	for _, f := range c.Flags {
		switch f {
		case "-version", "-help", "--version", "--help", "-V", "-l", "--list":
			return
		}
	}
	c.ReadsCode, c.ReadsIn, c.Inline = true, true, true
}

var (
	sqlQuestion = regexp.MustCompile(`(?is)^\s*(select|explain|with|\.tables|\.schema|\.indexes|\.databases|pragma\s+\w+\s*(\(\w*\))?;?\s*$)`)
	sqlActs     = regexp.MustCompile(`(?i)\b(insert|update|delete|drop|alter|create|replace|attach|vacuum|load_extension|readfile|writefile|edit|fsdir|zipfile|fts3_tokenizer)\b|\n\s*\.`)
)

// asksOnly tells whether all statements of sqlite3 only look at the one database.
func (c *call) asksOnly() bool {
	if len(c.Operands) < 2 || c.has("-cmd", "-init") {
		return false
	}
	for _, w := range c.Operands[1:] {
		if w.Dynamic || !sqlQuestion.MatchString(w.Text) || sqlActs.MatchString(w.Text) {
			return false
		}
	}
	return true
}

// shellProgram is bash and its like, for who does not look into their lines himself.
func shellProgram(c *call) {
	if c.flag('c', "") {
		c.CodeFile, c.Touches = Word{}, slices.DeleteFunc(c.Touches, func(t Touch) bool { return t.Via == "argument" })
		if len(c.Operands) > 0 {
			c.code(c.Operands[0], c.name+" -c")
		}
		return
	}
	if c.flag('s', "") || len(c.Operands) == 0 {
		c.ReadsCode, c.ReadsIn = true, true
	}
}
