package shell

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

func (sh *shell) printf(cmd Command, c call) {
	sh.emit(cmd)
	args := c.args()
	var name *word
	for len(args) > 1 && strings.HasPrefix(args[0].Text, "-v") { // the last one counts
		n := args[0]
		n.Text = n.Text[2:]
		if args = args[1:]; n.Text == "" {
			n, args = args[0], args[1:]
		}
		name = &n
	}
	if name == nil {
		sh.output("printf", program.Effect{}, c)
		return
	}
	text, ok := outputText("printf", texts(args), &stream{})
	v := known(text)
	all := joinWords(args)
	v.Dynamic, v.from = !ok || all.Dynamic, all.from
	if sh.checkName(*name, "printf -v") {
		sh.setVariable(name.Text, v)
	}
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
		cmd.tag(sh.originTags(code.from)...)
	}
	sh.emit(cmd)
	sh.out.write("", code != nil)
	if code == nil || code.Text == "-" || len(c.words) < 3 && !code.Dynamic {
		return
	}
	sets := sh.branch(func(b *shell) {
		b.out = nil
		b.nest("trap", func() { b.codeOf(*code, "trap") })
	})
	if last := c.words[len(c.words)-1].Text; sets && last != "EXIT" && last != "0" {
		sh.a.unsure("a trap changes variables while other commands run")
	}
	sh.a.traps = append(sh.a.traps, *code)
}

func (sh *shell) unset(cmd Command, c call) {
	sh.emit(cmd)
	o := sh.builtinOptions(c, "fvn", "")
	for _, w := range o.rest {
		if strings.Contains(o.letters, "f") {
			sh.define(w.Text)
			continue
		}
		if !sh.checkName(w, "unset") {
			continue
		}
		switch old, set := sh.get(w.Text); {
		case old.readonly || old.transformed || specialVariable(w.Text) || sh.locals != nil:
			old.word, old.set = old.asUnknown(), true // the value outside of a function may come back
			sh.set(w.Text, old)
		default:
			sh.set(w.Text, value{})
			if o.letters == "" && !set {
				sh.define(w.Text)
			}
		}
	}
}

// stateBuiltin runs builtins that change how the shell works; some of them run code.
func (sh *shell) stateBuiltin(cmd Command, c call) {
	args := strings.Join(texts(c.args()), " ")
	switch {
	case cmd.Binary == "let":
		for _, w := range c.args() {
			sh.requireNumber(w)
		}
	case cmd.Binary == "alias" && len(cmd.Operands) > 0:
		sh.a.unsure("an alias changes what a name means")
	case cmd.Binary == "hash" && strings.Contains(args, "-") && strings.Contains(args, "p"):
		cmd.tag("hash-poison")
	case cmd.Binary == "history":
		for _, w := range c.args() {
			cmd.Writes = append(cmd.Writes, sh.use(paths.Write, w, "history")...)
		}
	}
	if !slices.Contains([]string{"let", "alias", "hash"}, cmd.Binary) {
		cmd.tag("shell-state")
	}
	sh.emit(cmd)
	sh.out.write("", false)
}
