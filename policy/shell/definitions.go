package shell

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

func (sh *shell) declareBuiltin(cmd Command, c call) {
	integer := slices.ContainsFunc(cmd.Flags, func(f string) bool { return strings.Contains(f, "i") })
	for _, w := range c.args() {
		if !strings.HasPrefix(w.Text, "-") {
			sh.declareWord(w, integer)
		}
	}
	sh.declared(cmd)
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
			cmd.tag("hash-poison")
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
		cmd.tag(origin(code.from)...)
	}
	sh.emit(cmd)
	sh.out.write("", code != nil)
	if code == nil || code.Text == "-" || len(c.words) < 3 && !code.Dynamic {
		return
	}
	sets := sh.branch(func(b *shell) {
		b.out = nil
		b.inside("trap", func() { b.codeOf(*code, "trap") })
	})
	if last := c.words[len(c.words)-1].Text; sets && last != "EXIT" && last != "0" {
		sh.a.unsure("a trap changes variables while other commands run")
	}
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
			sh.set(w.Text, value{})
		}
		if !slices.Contains(cmd.Flags, "-v") && sh.function(w.Text) != nil {
			sh.define(w.Text)
		}
	}
}

// state builtins change how the shell itself works.
func (sh *shell) state(cmd Command, c call) {
	cmd.tag("shell-state")
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
