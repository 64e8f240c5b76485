package shell

import (
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
	if i := slices.IndexFunc(c.words[1:], func(w word) bool { return w.Text == "-" || w.Text == "" || w.Text[0] != '-' && w.Text[0] != '+' }); i >= 0 {
		target = c.words[1+i]
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
	}
	sh.emit(cmd)
	for i, w := range args {
		switch {
		case w.Dynamic && w.bare:
			sh.a.unsure("an option of set is only known at run time")
		case w.Text == "--":
			sh.args, sh.open = args[i+1:], false
			return
		case w.Text == "allexport" && i > 0 || strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "a"):
			sh.export(allExported)
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
	sh.emit(cmd)
	sh.output("true", program.Effect{}, c)
}

func (sh *shell) let(cmd Command, c call) {
	sh.a.unsure("let evaluates text as arithmetic")
	sh.emit(cmd)
}

func (sh *shell) getopts(cmd Command, c call) {
	sh.emit(cmd)
	if len(c.words) > 2 {
		sh.assigned(c.words[2].Text, unknown(""))
		sh.set("OPTARG", unknown(""))
		sh.set("OPTIND", unknown(""))
	}
}
