package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// declare is export, declare, local, readonly, typeset and nameref.
func (sh *shell) declare(d *syntax.DeclClause, used redirected) {
	kind := d.Variant.Value
	cmd := Command{Binary: kind, Argv: []string{kind}, Known: true, Reads: used.reads, Writes: used.writes}
	said := saying{kind: kind}
	for _, a := range d.Args {
		if a.Name != nil {
			sh.declareName(a.Name.Value, said)
			name, w := sh.assign(a)
			if a.Value != nil && strings.Contains(written(a.Value.Parts), "{") { // here braces count
				v, _ := sh.get(name)
				v.word = v.blurred()
				sh.set(name, v)
			}
			if a.Value != nil {
				if said.arrays && (w.Dynamic || strings.HasPrefix(w.Text, "(")) {
					sh.a.unsure("a declaration takes a text as an array: " + w.Text)
				}
				name += "=" + w.Text
				cmd.DynamicArgs = cmd.DynamicArgs || w.Dynamic
			}
			cmd.Argv = append(cmd.Argv, name)
			continue
		}
		for _, w := range sh.fields(a.Value) {
			cmd.Argv = append(cmd.Argv, w.Text)
			cmd.DynamicArgs = cmd.DynamicArgs || w.Dynamic
			sh.declareWord(w, &said)
		}
	}
	cmd.Flags = said.flags
	sh.declared(cmd)
	sh.out.write("", len(cmd.Argv) > 1 && !said.prints, kind)
}

// saying is what the options of a declaration say.
type saying struct {
	kind   string
	flags  []string
	traits traits
	arrays bool // -a or -A: a text in brackets is taken as an array, and evaluated
	global bool
	prints bool
}

// option reads one option. Those that are not listed are not known.
func (s *saying) option(text string) (ok bool) {
	s.flags = append(s.flags, text)
	on, letters := text[0] == '-', text[1:]
	has := func(list string) bool { return text != "--" && strings.ContainsAny(letters, list) }
	s.prints = s.prints || has("pfF")
	s.global = s.global || has("g")
	s.arrays = s.arrays || has("aA")
	s.traits.fixed = on && has("r") || s.traits.fixed && !has("r")
	s.traits.keyed = on && has("A") || s.traits.keyed && !has("A")
	s.traits.integer = on && has("i") || s.traits.integer
	s.traits.odd = has("tulc") || s.traits.odd || s.kind != "export" && has("n")
	return text == "--" || strings.Trim(letters, "pfFgaAxritulc") == "" || s.kind == "export" &&
		letters == "n"
}

// declareName gives a name what the options say.
func (sh *shell) declareName(name string, s saying) {
	v, set := sh.get(name)
	if sh.locals == nil && s.kind == "local" { // an error, which leaves it as it was
		v.word, v.odd = v.blurred(), true
	}
	local := sh.locals != nil && !s.global && s.kind != "export" && s.kind != "readonly"
	if local {
		sh.locals[name] = true
		v = value{traits: v.traits}
		if !set {
			v.word = guessed("")
		}
	}
	v.fixed = v.fixed || s.traits.fixed || s.kind == "readonly"
	v.integer = v.integer || s.traits.integer
	v.odd = v.odd || s.traits.odd
	v.keyed = v.keyed || s.traits.keyed
	if s.traits.keyed && !set {
		v.array, v.set = true, true
	}
	if v.fixed && !s.prints {
		v.set = set && !local // its own value is not the second one
	}
	if v.integer && set {
		v.word = v.blurred()
		v.number = true
	}
	sh.set(name, v)
}

// declared lists a declaration, with the names that programs may see.
func (sh *shell) declared(cmd Command) {
	if slices.Contains([]string{"export", "declare", "typeset"}, cmd.Binary) {
		cmd.Env = appended(cmd.Env, namesOf(cmd.Argv[1:])...)
	}
	sh.exports(cmd)
	if dumps(cmd) {
		cmd.tag("dump-env")
	}
	if slices.Contains(cmd.Argv, "-p") {
		for _, name := range namesOf(cmd.Argv[1:]) {
			sh.takes(name)
		}
	}
	sh.emit(cmd)
}

// dumps tells whether a declaration without names prints variables. Attributes alone
// choose which; functions are no variables.
func dumps(cmd Command) bool {
	for _, w := range cmd.Argv[1:] {
		if !strings.HasPrefix(w, "-") || strings.ContainsAny(w, "fF") {
			return false
		}
	}
	return true
}

// declareWord is an option, or NAME=VALUE that only comes to be by an expansion.
func (sh *shell) declareWord(w word, s *saying) {
	if w.Text != "" && strings.ContainsAny(w.Text[:1], "-+") && !w.Dynamic {
		if !s.option(w.Text) {
			sh.a.unsure("an option of " + s.kind + " that is not followed: " + w.Text)
		}
		return
	}
	name, text, assigns := strings.Cut(w.Text, "=")
	switch {
	case s.prints:
	case !isName(name) || s.arrays && (w.Dynamic || strings.HasPrefix(text, "(")):
		sh.a.unsure("a declaration of which a part is only known at run time: " + w.Text)
		sh.evaluate(w.Text)
	default:
		if sh.declareName(name, *s); assigns {
			v := value{word: w, set: true}
			v.Text, v.Fits, v.start, v.number = text, "", max(0, w.start-len(w.Text)+len(text)), false
			sh.assigned(name, v)
		}
	}
}

func (sh *shell) declareBuiltin(cmd Command, c call) {
	s := saying{kind: cmd.Binary}
	for _, w := range c.args() {
		sh.declareWord(w, &s)
	}
	sh.declared(cmd)
}

func namesOf(list []string) (out []string) {
	for _, s := range list {
		if name, _, _ := strings.Cut(s, "="); name != "" && name[0] != '-' {
			out = append(out, strings.TrimSuffix(name, "+"))
		}
	}
	return out
}

// allExported stands for every name, after set -a.
const allExported = "*"

// handed lists a variable that programs see, if what they do with its value is unknown.
func (sh *shell) handed(name string) {
	v, set := sh.get(name)
	w := v.Word
	w.Dynamic = w.Dynamic && len(v.from) > 0 // what the text has not set is the user's own
	odd, code := sh.a.programs.Odd(name, w)
	cmd := Command{Env: []string{name}, OddEnv: []string{name}}
	if code {
		cmd.tag("code-variable")
	}
	if set && odd {
		sh.emit(cmd)
	}
}

// exports takes note of names that a declaration exports, or a call of set -a.
func (sh *shell) exports(cmd Command) {
	if cmd.Binary != "export" && !slices.ContainsFunc(cmd.Flags,
		func(f string) bool { return strings.Contains(f, "x") }) {
		return
	}
	for _, name := range namesOf(cmd.Argv[1:]) {
		sh.export(name)
		sh.handed(name)
	}
}

func (sh *shell) export(name string) {
	if sh.a.exports == nil {
		sh.a.exports = map[string]bool{}
	}
	sh.a.exports[name] = true
}
