package shell

import (
	"cmp"
	"slices"
	"strings"

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
		switch {
		case w.Text == "--":
			cmd.Operands = append(cmd.Operands, texts(args[i+1:])...)
			return
		case len(w.Text) > 1 && w.Text[0] == '-':
			cmd.Flags = append(cmd.Flags, w.Text)
		default:
			cmd.Operands = append(cmd.Operands, w.Text)
		}
	}
}

// IsBuiltin tells whether the shell itself does what a name stands for.
func IsBuiltin(name string) bool { return builtinOf(name) != nil }

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
		return (*shell).testNames
	case "let":
		return (*shell).let
	case "enable", "shopt", "complete", "compopt", "compgen", "bind", "fc", "history":
		return (*shell).state
	case "getopts":
		return (*shell).getopts
	case "jobs":
		return (*shell).jobs
	case "wait":
		return (*shell).wait
	case "unalias", "true", "false", ":", "pwd", "echo", "dirs", "disown", "fg", "bg", "type", "times", "umask", "ulimit",
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
	if i := slices.IndexFunc(c.words[1:], func(w word) bool { return w.Text == "-" || w.Text == "" || w.Text[0] != '-' && w.Text[0] != '+' }); i >= 0 {
		target = c.words[1+i]
	}
	if home, _ := sh.get("HOME"); len(c.words) == 1 {
		target = home.word
	}
	if path, ok := sh.get("CDPATH"); ok && (path.Text != "" || path.Dynamic) {
		target.Dynamic = true
	}
	if target.Text == "-" {
		old, _ := sh.get("OLDPWD")
		target = old.word
	}
	sh.chdir(target)
}

func (sh *shell) popd(cmd Command, c call) {
	sh.emit(cmd)
	sh.out.write("", false)
	old, _ := sh.get("OLDPWD")
	sh.chdir(old.word)
}

func (sh *shell) eval(cmd Command, c call) {
	code := joined(c.args())
	cmd.tag(origin(code.from)...)
	sh.emit(cmd)
	sh.inside("eval", func() { sh.codeOf(code, "eval") })
}

// wrap is exec, command and builtin: they run a program, or a builtin.
func (sh *shell) wrap(cmd Command, c call) {
	args := c.args()
	for len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' {
		option := args[0].Text
		args = args[1:]
		switch {
		case cmd.Binary == "command" && strings.ContainsAny(option, "vV"):
			cmd.tag("lookup")
			sh.emit(cmd)
			sh.output("command", program.Effect{}, c)
			return
		case cmd.Binary == "exec" && strings.HasSuffix(option, "a") && len(args) > 0:
			args = args[1:]
		}
		if option == "--" {
			break
		}
	}
	if len(args) > 0 {
		cmd.tag("wrapper")
	}
	sh.emit(cmd)
	if len(args) == 0 {
		return
	}
	wrappers := sh.wrappers
	sh.wrappers = appended(wrappers, cmd.Binary)
	sh.depth++
	sh.call(call{words: args, program: true})
	sh.depth--
	sh.wrappers = wrappers
}

// setOptions is set: it sets options, or $1 $2 ….
func (sh *shell) setOptions(cmd Command, c call) {
	args := c.args()
	if len(args) == 0 {
		cmd.tag("dump-env")
		sh.out.write("", false, "set")
	}
	sh.emit(cmd)
	for len(args) > 0 && (args[0].Dynamic && !args[0].Begins || len(args[0].Text) > 1 && strings.ContainsAny(args[0].Text[:1], "-+")) {
		w := args[0]
		if args = args[1:]; w.Text == "--" {
			sh.args, sh.open = args, false
			return
		}
		letters := strings.TrimLeft(w.Text, "-+")
		if strings.HasSuffix(letters, "o") && len(args) > 0 {
			letters = strings.TrimSuffix(letters, "o") + cmp.Or(settings[args[0].Text], "?")
			args = args[1:]
		}
		if w.Dynamic || letters == "" || strings.Trim(letters, "aeuxvEThbCf") != "" {
			sh.a.unsure("set changes how the shell reads commands: " + w.Text)
		}
		if strings.Contains(letters, "a") {
			sh.export(allExported)
		}
		if strings.Contains(letters, "e") && sh.tested == 0 {
			sh.errexit = w.Text[0] == '-' && !sh.uncertain
		}
	}
	if len(args) > 0 {
		sh.args, sh.open = args, false
	}
}

// settings are the long names of what set may set, and their letters.
var settings = map[string]string{
	"allexport": "a", "errexit": "e", "nounset": "u", "xtrace": "x", "verbose": "v", "errtrace": "E", "functrace": "T", "noclobber": "C", "noglob": "f", "pipefail": "h",
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

// testNames: the name after -v may have a subscript.
func (sh *shell) testNames(cmd Command, c call) {
	args := c.args()
	for i, w := range args {
		if i > 0 && (args[i-1].Text == "-v" || args[i-1].Text == "-R") {
			sh.name(w, "test -v")
		}
	}
	sh.emit(cmd)
	sh.output("true", program.Effect{}, c)
}

func (sh *shell) let(cmd Command, c call) {
	for _, w := range c.args() {
		sh.evaluates(w)
	}
	sh.emit(cmd)
}

func (sh *shell) getopts(cmd Command, c call) {
	sh.emit(cmd)
	if len(c.words) > 2 && sh.name(c.words[2], "getopts") {
		sh.assigned(c.words[2].Text, unknown(""))
		sh.assigned("OPTARG", unknown(""))
	}
}

// jobs can run a command: jobs -x.
func (sh *shell) jobs(cmd Command, c call) {
	sh.emit(cmd)
	if o := sh.builtinOptions(c, "lnprs", ""); strings.Contains(o.letters, "x") && len(o.rest) > 0 {
		sh.call(call{words: o.rest, program: true})
	}
}

func (sh *shell) wait(cmd Command, c call) {
	sh.emit(cmd)
	if w, ok := sh.builtinOptions(c, "fnp", "p").values['p']; ok && sh.name(w, "wait -p") {
		sh.assigned(w.Text, counted())
	}
}
