package shell

import (
	"cmp"
	_ "embed" // of the lists
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/wordlist"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// IsBuiltin reports whether the shell itself runs a command.
func IsBuiltin(name string) bool { return builtins()[name] }

// lists are the names that this package knows.
var lists = wordlist.Of(listText)

//go:embed lists.txt
var listText string

var builtins = lists.Set("builtins")

// callBuiltin runs a builtin and reports whether the command is one.
func (sh *shell) callBuiltin(cmd Command, c call) bool {
	if !IsBuiltin(cmd.Binary) {
		return false
	}
	cmd.Known = true
	sh.flags(&cmd, c.args())
	switch cmd.Binary {
	case "cd", "pushd", "popd":
		sh.cd(cmd, c)
	case "eval":
		sh.eval(cmd, c)
	case "source", ".":
		sh.source(cmd, c)
	case "exec", "command", "builtin":
		sh.wrap(cmd, c)
	case "read":
		sh.read(cmd, c)
	case "mapfile", "readarray":
		sh.mapfile(cmd, c)
	case "set":
		sh.setOptions(cmd, c)
	case "shift":
		sh.shift(cmd, c)
	case "export", "declare", "typeset", "local", "readonly":
		sh.declareBuiltin(cmd, c)
	case "printf":
		sh.printf(cmd, c)
	case "trap":
		sh.trap(cmd, c)
	case "unset":
		sh.unset(cmd, c)
	case "test", "[":
		sh.testNames(cmd, c)
	case "getopts", "jobs", "wait":
		sh.nameBuiltin(cmd, c)
	case "let", "alias", "hash", "enable", "shopt", "complete", "compopt", "compgen", "bind", "fc", "history":
		sh.stateBuiltin(cmd, c)
	default: // it changes nothing that is followed
		sh.emit(cmd)
		sh.output(cmd.Binary, program.Effect{}, c)
	}
	return true
}

// flags sets the options and operands of a builtin.
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

func (sh *shell) cd(cmd Command, c call) {
	sh.emit(cmd)
	sh.out.write("", cmd.Binary == "cd" && !slices.Contains(cmd.Argv, "-"))
	home, _ := sh.get("HOME")
	target := home.word
	if i := slices.IndexFunc(c.args(),
		func(w word) bool {
			return w.Text == "-" || w.Text == "" || w.Text[0] != '-' && w.Text[0] != '+'
		}); i >= 0 {
		target = c.args()[i]
	}
	if path, ok := sh.get("CDPATH"); ok && (path.Text != "" || path.Dynamic) {
		target.Dynamic = true
	}
	if target.Text == "-" || cmd.Binary == "popd" {
		old, _ := sh.get("OLDPWD")
		target = old.word
	}
	sh.chdir(target)
}

func (sh *shell) eval(cmd Command, c call) {
	code := joinWords(c.args())
	cmd.tag(sh.originTags(code.from)...)
	sh.emit(cmd)
	sh.nest("eval", func() { sh.codeOf(code, "eval") })
}

// wrap is exec, command and builtin, which run a program or a builtin.
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
	sh.wrappers = appendCopy(wrappers, cmd.Binary)
	sh.depth++
	sh.call(call{words: args, program: true})
	sh.depth--
	sh.wrappers = wrappers
}

// setOptions is set, which sets options or $1 $2 ….
func (sh *shell) setOptions(cmd Command, c call) {
	args := c.args()
	if len(args) == 0 {
		cmd.tag("dump-env")
		sh.out.write("", false, "set")
	}
	sh.emit(cmd)
	for len(args) > 0 && (args[0].Dynamic && !args[0].Begins || len(args[0].Text) > 1 &&
		strings.ContainsAny(args[0].Text[:1], "-+")) {
		w := args[0]
		if args = args[1:]; w.Text == "--" {
			sh.args, sh.argsUnknown = args, false
			return
		}
		letters := strings.TrimLeft(w.Text, "-+")
		if strings.HasSuffix(letters, "o") && len(args) > 0 {
			letters = strings.TrimSuffix(letters, "o") + cmp.Or(longOptions[args[0].Text], "?")
			args = args[1:]
		}
		if w.Dynamic || letters == "" || strings.Trim(letters, "aeuxvEThbCf") != "" {
			sh.a.unsure("set changes how the shell reads commands: " + w.Text)
		}
		if strings.Contains(letters, "a") {
			sh.export(allExported)
		}
		if strings.Contains(letters, "e") && sh.conditions == 0 {
			sh.errexit = w.Text[0] == '-' && !sh.uncertain
		}
	}
	if len(args) > 0 {
		sh.args, sh.argsUnknown = args, false
	}
}

// longOptions are the letters of options of set -o.
var longOptions = map[string]string{
	"allexport": "a", "errexit": "e", "nounset": "u", "xtrace": "x", "verbose": "v", "errtrace": "E",
	"functrace": "T", "noclobber": "C", "noglob": "f", "pipefail": "h",
}

func (sh *shell) shift(cmd Command, c call) {
	sh.emit(cmd)
	switch {
	case len(c.words) > 1 || len(sh.args) > 0 && sh.args[0].vague():
		sh.args, sh.argsUnknown = nil, true
	case len(sh.args) > 0:
		sh.args = sh.args[1:]
	}
}

// testNames is test. The name after -v may have a subscript, and an unquoted word may become several.
func (sh *shell) testNames(cmd Command, c call) {
	args := c.args()
	for i, w := range args {
		if w.splits && w.vague() && !w.number {
			sh.a.unsure(cmd.Binary + ": without quotes this may become several words: " + w.Text)
		}
		if i > 0 && (args[i-1].Text == "-v" || args[i-1].Text == "-R") {
			sh.checkName(w, "test -v")
		}
	}
	sh.emit(cmd)
	sh.output("true", program.Effect{}, c)
}

// nameBuiltin is getopts, jobs and wait. getopts sets the variable that an argument names.
func (sh *shell) nameBuiltin(cmd Command, c call) {
	sh.emit(cmd)
	if cmd.Binary != "getopts" {
		if o := sh.builtinOptions(c, "lnprsfx", ""); strings.ContainsAny(o.letters, "x") ||
			cmd.Binary == "wait" && strings.Contains(o.letters, "p") {
			sh.a.unfollowed(cmd.Binary + " with -x or -p")
		}
		return
	}
	sh.setVariable("OPTARG", unknown(""))
	if len(c.words) > 2 && sh.checkName(c.words[2], cmd.Binary) {
		sh.setVariable(c.words[2].Text, unknown(""))
	}
}
