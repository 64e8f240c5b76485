package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// builtin is what a builtin of the shell does beside being listed.
type builtin func(*shell, Command, call)

// callBuiltin runs a builtin, if there is one of that name.
func (sh *shell) callBuiltin(cmd Command, c call) bool {
	run := builtinOf(c.words[0].Text)
	if run == nil {
		return false
	}
	cmd.Known = true
	sh.flags(&cmd, c.args())
	run(sh, cmd, c)
	return true
}

// flags fills in options and operands of a builtin.
func (sh *shell) flags(cmd *Command, args []word) {
	for i, w := range args {
		if w.Text == "--" {
			for _, rest := range args[i+1:] {
				cmd.Operands = append(cmd.Operands, rest.Text)
			}
			return
		}
		if len(w.Text) > 1 && w.Text[0] == '-' {
			cmd.Flags = append(cmd.Flags, w.Text)
		} else {
			cmd.Operands = append(cmd.Operands, w.Text)
		}
	}
}

func builtinOf(name string) builtin {
	switch name {
	case "cd", "pushd":
		return (*shell).cd
	case "popd":
		return (*shell).popd
	case "eval":
		return (*shell).eval
	case "source", ".":
		return (*shell).source
	case "exec", "command", "builtin":
		return (*shell).wrap
	case "read":
		return (*shell).read
	case "mapfile", "readarray":
		return (*shell).mapfile
	case "set":
		return (*shell).setOptions
	case "shift":
		return (*shell).shift
	case "export", "declare", "typeset", "local", "readonly":
		return (*shell).declareBuiltin
	case "printf":
		return (*shell).printf
	case "alias":
		return (*shell).alias
	case "hash":
		return (*shell).hash
	case "trap":
		return (*shell).trap
	case "unset":
		return (*shell).unset
	case "test", "[":
		return (*shell).test
	case "let":
		return (*shell).let
	case "enable", "shopt", "complete", "compopt", "compgen", "bind", "fc", "history":
		return (*shell).state
	case "getopts":
		return (*shell).getopts
	case "unalias", "true", "false", ":", "pwd", "echo", "dirs", "wait", "jobs", "disown", "fg", "bg", "type", "times", "umask", "ulimit",
		"exit", "logout", "return", "break", "continue", "caller", "suspend":
		return (*shell).quiet
	}
	return nil
}

// quiet builtins change nothing that is followed.
func (sh *shell) quiet(cmd Command, c call) {
	sh.emit(cmd)
	sh.output(cmd.Binary, program.Effect{}, c)
}

func (sh *shell) cd(cmd Command, c call) {
	sh.emit(cmd)
	sh.out.write("", cmd.Binary == "cd" && !slices.Contains(cmd.Argv, "-"))
	target := word{Word: program.Word{Text: sh.a.guard.Roots.Home, Dynamic: sh.a.guard.Roots.Home == ""}}
	for _, w := range c.args() {
		if w.Text == "-" || w.Text == "" || w.Text[0] != '-' && w.Text[0] != '+' {
			target = w
			break
		}
	}
	if home, _ := sh.get("HOME"); len(c.words) == 1 {
		target = home.word()
	}
	if path, ok := sh.get("CDPATH"); ok && path.Str != "" {
		target.Dynamic = true
	}
	if target.Text == "-" {
		old, _ := sh.get("OLDPWD")
		target = old.word()
	}
	sh.chdir(target)
}

func (sh *shell) popd(cmd Command, c call) {
	sh.emit(cmd)
	sh.out.write("", false)
	old, _ := sh.get("OLDPWD")
	sh.chdir(old.word())
}

func (sh *shell) eval(cmd Command, c call) {
	code := joined(c.args())
	cmd.Tags = append(cmd.Tags, origin(code.from)...)
	sh.emit(cmd)
	sh.inside("eval", func() { sh.codeOf(code, "eval") })
}

// wrap is exec, command and builtin: they run a program, or a builtin.
func (sh *shell) wrap(cmd Command, c call) {
	args := c.args()
	i := 0
	for ; i < len(args) && len(args[i].Text) > 1 && args[i].Text[0] == '-'; i++ {
		switch option := args[i].Text; {
		case option == "--":
			args, i = args[i+1:], -1
		case cmd.Binary == "command" && strings.ContainsAny(option, "vV"):
			cmd.Tags = append(cmd.Tags, "lookup")
			sh.emit(cmd)
			sh.output("command", program.Effect{}, c)
			return
		case cmd.Binary == "exec" && strings.HasSuffix(option, "a"):
			i++
		}
		if i < 0 {
			i = 0
			break
		}
	}
	if i < len(args) {
		cmd.Tags = append(cmd.Tags, "wrapper")
	}
	sh.emit(cmd)
	if i >= len(args) {
		return
	}
	wrappers := sh.wrappers
	sh.wrappers = append(wrappers[:len(wrappers):len(wrappers)], cmd.Binary)
	sh.depth++
	sh.call(call{words: args[i:], program: true})
	sh.depth--
	sh.wrappers = wrappers
}

// setOptions is set: it sets options, or $1 $2 ….
func (sh *shell) setOptions(cmd Command, c call) {
	args := c.args()
	if len(args) == 0 {
		cmd.Tags = append(cmd.Tags, "dump-env")
	}
	sh.emit(cmd)
	for i, w := range args {
		switch {
		case w.Dynamic && w.bare:
			sh.a.unsure("an option of set is only known at run time")
		case w.Text == "--":
			sh.args, sh.open = args[i+1:], false
			return
		case w.Text == "keyword" && i > 0 || strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "k"):
			sh.a.unsure("set -k takes assignments from behind the name of a command")
		case w.Text == "-o" || w.Text == "+o":
			continue
		case i > 0 && (args[i-1].Text == "-o" || args[i-1].Text == "+o"):
			continue
		case !strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "+"):
			sh.args, sh.open = args[i:], false
			return
		}
	}
	if len(args) == 0 {
		sh.out.write("", false, "set")
	}
}

func (sh *shell) shift(cmd Command, c call) {
	sh.emit(cmd)
	switch {
	case len(c.words) > 1 || len(sh.args) > 0 && sh.args[0].vague():
		sh.args, sh.open = nil, true
	case len(sh.args) > 0:
		sh.args = sh.args[1:]
	}
}

func (sh *shell) declareBuiltin(cmd Command, c call) {
	integer := slices.ContainsFunc(cmd.Flags, func(f string) bool { return strings.Contains(f, "i") })
	for _, w := range c.args() {
		if !strings.HasPrefix(w.Text, "-") {
			sh.declareWord(w, integer)
		}
	}
	if cmd.Binary == "export" || cmd.Binary == "declare" || cmd.Binary == "typeset" {
		cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], names(cmd.Argv[1:])...)
	}
	if dumps(cmd) {
		cmd.Tags = append(cmd.Tags, "dump-env")
	}
	sh.emit(cmd)
}

func (sh *shell) printf(cmd Command, c call) {
	sh.emit(cmd)
	args := c.args()
	if len(args) < 2 || !strings.HasPrefix(args[0].Text, "-v") {
		sh.output("printf", program.Effect{}, c)
		return
	}
	name, rest := args[1].Text, args[2:]
	if args[0].Text != "-v" {
		name, rest = args[0].Text[2:], args[1:]
	}
	text, ok := fold("printf", texts(rest), &stream{})
	v := known(text)
	all := joined(rest)
	v.unknown, v.from = !ok || all.Dynamic, all.from
	sh.name(name)
	sh.assigned(name, v)
}

// name notes the name of a variable whose subscript bash would evaluate.
func (sh *shell) name(name string) {
	if strings.ContainsAny(name, "[$`(") {
		sh.a.unsure("the name of a variable holds a subscript, which is evaluated")
		sh.evaluate(name)
	}
}

func (sh *shell) alias(cmd Command, c call) {
	sh.emit(cmd)
	sh.out.write("", false)
	for _, w := range c.args() {
		name, text, ok := strings.Cut(w.Text, "=")
		if !ok {
			continue
		}
		sh.a.unsure("an alias changes what a name means")
		sh.scope.aliases = merged(sh.scope.aliases, map[string]bool{name: true})
		sub := sh.nested("alias")
		sub.out = nil
		sub.codeOf(word{Word: program.Word{Text: text, Dynamic: w.Dynamic}, from: w.from}, "alias")
	}
}

func (sh *shell) hash(cmd Command, c call) {
	args := c.args()
	for i, w := range args {
		if strings.HasPrefix(w.Text, "-p") {
			cmd.Tags = append(cmd.Tags, "hash-poison")
			rest := args[i+1:]
			program := strings.TrimPrefix(w.Text, "-p")
			if program == "" && len(rest) > 0 {
				program, rest = rest[0].Text, rest[1:]
			}
			for _, name := range rest {
				sh.scope.programs = merged(sh.scope.programs, map[string]string{name.Text: program})
			}
			break
		}
	}
	sh.emit(cmd)
	sh.out.write("", false)
}

func (sh *shell) trap(cmd Command, c call) {
	var code *word
	for _, w := range c.args() {
		if !strings.HasPrefix(w.Text, "-") || w.Text == "-" {
			code = &w
			break
		}
	}
	if code != nil {
		cmd.Tags = append(cmd.Tags, origin(code.from)...)
	}
	sh.emit(cmd)
	sh.out.write("", code != nil)
	if code == nil || code.Text == "-" || len(c.words) < 3 && !code.Dynamic {
		return
	}
	sub := sh.nested("trap")
	sub.out = nil
	sub.codeOf(*code, "trap")
	sh.a.traps = append(sh.a.traps, *code)
}

func (sh *shell) unset(cmd Command, c call) {
	sh.emit(cmd)
	for _, w := range c.args() {
		sh.name(w.Text)
		if w.Dynamic {
			sh.a.unsure("what unset removes is only known at run time")
			continue
		}
		if !slices.Contains(cmd.Flags, "-f") {
			sh.set(w.Text, value{Variable: expand.Variable{}})
		}
		if !slices.Contains(cmd.Flags, "-v") && sh.function(w.Text) != nil {
			sh.define(w.Text)
		}
	}
}

// test evaluates the subscript of a name after -v.
func (sh *shell) test(cmd Command, c call) {
	args := c.args()
	for i, w := range args {
		if i > 0 && (args[i-1].Text == "-v" || args[i-1].Text == "-R") {
			sh.name(w.Text)
			if w.Dynamic {
				sh.a.unsure("the name that test -v looks at is only known at run time")
			}
		}
	}
	e := program.Of("test", programWords(args))
	for _, w := range touched(e, paths.Read) {
		cmd.Reads = append(cmd.Reads, sh.use(paths.Read, w, "argument")...)
	}
	sh.emit(cmd)
	sh.output("true", program.Effect{}, c)
}

func (sh *shell) let(cmd Command, c call) {
	sh.a.unsure("let evaluates text as arithmetic")
	sh.emit(cmd)
}

// state builtins change how the shell itself works.
func (sh *shell) state(cmd Command, c call) {
	cmd.Tags = append(cmd.Tags, "shell-state")
	args := c.args()
	for i, w := range args {
		switch {
		case cmd.Binary == "history" && i > 0 && strings.ContainsAny(args[i-1].Text, "awnr") && args[i-1].Text[0] == '-':
			cmd.Writes = append(cmd.Writes, sh.use(paths.Write, w, "history")...)
		case cmd.Binary == "shopt" && (w.Text == "expand_aliases" || w.Dynamic):
			sh.a.unsure("aliases may be enabled")
		case i > 0 && (args[i-1].Text == "-C" || args[i-1].Text == "-x") && cmd.Binary != "history":
			sub := sh.nested(cmd.Binary)
			sub.codeOf(w, cmd.Binary)
		case i > 0 && args[i-1].Text == "-f" && cmd.Binary == "enable":
			cmd.ExecFlags = append(cmd.ExecFlags, "-f")
		}
	}
	sh.emit(cmd)
	sh.out.write("", false)
}

func (sh *shell) getopts(cmd Command, c call) {
	sh.emit(cmd)
	if len(c.words) > 2 {
		sh.assigned(c.words[2].Text, unknown(""))
		sh.set("OPTARG", unknown(""))
		sh.set("OPTIND", unknown(""))
	}
}
