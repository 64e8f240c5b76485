package shell

import (
	"slices"
	"strings"
)

// IsShell reports whether a program runs shell code as bash does, or nearly.
func IsShell(name string) bool { return shells()[name] }

var shells = lists.Set("shells")

// options are the parsed options of a shell.
type options struct {
	code, stdin, interactive bool
	startup                  []word
	rest                     []word
}

// interpret runs a shell: sh -c CODE, sh FILE, or sh with code on its standard input.
func (sh *shell) interpret(cmd Command, c call) {
	o := sh.options(&cmd, c.args())
	cmd.Known = sh.a.programs.Knows(cmd.Binary)
	for _, w := range o.startup {
		sh.codeFile(&cmd, w)
	}
	switch {
	case o.code:
		sh.interpretArgument(cmd, o)
	case len(o.rest) > 0 && !o.stdin && o.rest[0].Text != "-":
		sh.runFile(cmd, o.rest[0], func(how string, run func(*shell)) {
			run(sh.newShell(cmd.Binary, how, o.rest[1:]))
		})
	default:
		cmd.tag("shell-stdin")
		cmd.tag(sh.originTags(sh.in.From)...)
		if o.interactive || sh.in.Kind == "" {
			cmd.tag("interactive-shell")
		}
		sh.emit(cmd)
		sh.newShell(cmd.Binary, " stdin", o.rest).codeFromInput(cmd.Binary)
		sh.in.consume()
	}
}

func (sh *shell) options(cmd *Command, args []word) (o options) {
	i := 0
	for ; i < len(args); i++ {
		w := args[i]
		s := w.Text
		if w.Dynamic && (s == "" || s[0] == '-' || s[0] == '+') && !o.code {
			sh.a.unsure("an option of " + cmd.Binary + " is only known at run time")
		}
		if s == "--" || s == "-" {
			i++
			break
		}
		if len(s) < 2 || s[0] != '-' && s[0] != '+' {
			break
		}
		cmd.Flags = append(cmd.Flags, s)
		switch {
		case s == "--init-file" || s == "--rcfile":
			if i++; i < len(args) {
				o.startup = append(o.startup, args[i])
			}
		case strings.HasPrefix(s, "--"):
			o.interactive = o.interactive || s == "--login"
		default:
			if strings.ContainsAny(s[1:], " \"'/=") {
				sh.a.unsure("an option of " + cmd.Binary + " that is none")
			}
			o.code = o.code || s[0] == '-' && strings.Contains(s, "c")
			o.stdin = o.stdin || strings.Contains(s, "s")
			o.interactive = o.interactive || strings.Contains(s, "i")
			if strings.ContainsAny(s[1:], "oO") {
				i++
			}
		}
	}
	o.rest = args[min(i, len(args)):]
	return o
}

// interpretArgument is sh -c CODE NAME ARGUMENTS.
func (sh *shell) interpretArgument(cmd Command, o options) {
	cmd.tag("shell-c")
	if o.interactive {
		cmd.tag("interactive-shell")
	}
	if len(o.rest) == 0 {
		sh.a.unsure("the code of " + cmd.Binary + " -c is only known at run time")
		sh.emit(cmd)
		return
	}
	cmd.tag(sh.originTags(o.rest[0].from)...)
	sh.emit(cmd)
	sub := sh.newShell(cmd.Binary, " -c", o.rest[min(2, len(o.rest)):])
	sub.wrappers = appendCopy(sub.wrappers, cmd.Binary)
	sub.set("0", known(cmd.Binary))
	if len(o.rest) > 1 {
		sub.set("0", value{word: o.rest[1], set: true})
	}
	sub.codeOf(o.rest[0], cmd.Binary+" -c")
}

// runFile is sh FILE and . FILE; in runs the code in the right shell. The code of a file that the script has
// made may be known.
func (sh *shell) runFile(cmd Command, file word, in func(how string, run func(*shell))) {
	if strings.HasPrefix(file.Text, "/dev/fd/") || slices.Contains(standardInput, file.Text) {
		input := sh.openFile(file)
		cmd.Stdin = input.Stdin
		cmd.tag("shell-stdin")
		cmd.tag(sh.originTags(input.From)...)
		sh.emit(cmd)
		in(" <()", func(sub *shell) {
			before := sub.in
			sub.in = input
			sub.codeFromInput(cmd.Binary)
			sub.in = before
		})
		return
	}
	made := sh.created(file)
	sh.codeFile(&cmd, file)
	sh.emit(cmd)
	sh.out.write("", made != nil && made.known)
	if made != nil {
		in(" file", func(sub *shell) { sub.codeOf(literal(made.text.String()), "") })
	}
}

// newShell returns a new shell. Others than bash may read a text differently.
func (sh *shell) newShell(name, how string, args []word) *shell {
	sub := sh.fresh(name + how)
	sub.posix = name != "bash"
	sub.args, sub.argsUnknown = args, false
	return sub
}

// source is . FILE, which runs in this shell.
func (sh *shell) source(cmd Command, c call) {
	if len(c.words) < 2 {
		sh.emit(cmd)
		return
	}
	sh.runFile(cmd, c.words[1], func(_ string, run func(*shell)) {
		sh.nest(cmd.Binary, func() { run(sh) })
	})
}
