package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// declare runs export, declare, local, readonly, typeset and nameref.
func (sh *shell) declare(d *syntax.DeclClause, used redirected) {
	kind := d.Variant.Value
	cmd := Command{Binary: kind, Argv: []string{kind}, Known: true, Reads: used.reads, Writes: used.writes}
	decl := declaration{kind: kind}
	for _, a := range d.Args {
		if a.Name != nil {
			sh.declareName(a.Name.Value, decl)
			name, w := sh.assign(a)
			if a.Value != nil && strings.Contains(literalText(a.Value.Parts), "{") { // here braces count
				v, _ := sh.get(name)
				v.word = v.asUnknown()
				sh.set(name, v)
			}
			if a.Value != nil {
				name += "=" + w.Text
				cmd.DynamicArgs = cmd.DynamicArgs || w.Dynamic
			}
			cmd.Argv = append(cmd.Argv, name)
			continue
		}
		for _, w := range sh.fields(a.Value) {
			cmd.Argv = append(cmd.Argv, w.Text)
			cmd.DynamicArgs = cmd.DynamicArgs || w.Dynamic
			sh.declareWord(w, &decl)
		}
	}
	cmd.Flags = decl.flags
	sh.emitDeclaration(cmd)
	sh.out.write("", len(cmd.Argv) > 1 && !decl.prints, kind)
}

// declaration is what the options of a declaration say.
type declaration struct {
	kind     string
	flags    []string
	readonly bool
	global   bool
	prints   bool
}

// option reads one option and reports whether it is followed: others change what is assigned, or where.
func (s *declaration) option(text string) (ok bool) {
	s.flags = append(s.flags, text)
	on, letters := text[0] == '-', text[1:]
	has := func(list string) bool { return text != "--" && strings.ContainsAny(letters, list) }
	s.prints = s.prints || has("pfF")
	s.global = s.global || has("g")
	s.readonly = s.readonly || on && has("r")
	return text == "--" || strings.Trim(letters, "pfFgxr") == "" || s.kind == "export" && letters == "n"
}

// declareName applies the options to a name.
func (sh *shell) declareName(name string, s declaration) {
	v, set := sh.get(name)
	if sh.locals == nil && s.kind == "local" { // an error, which leaves it as it was
		v.word, v.transformed = v.asUnknown(), true
	}
	local := sh.locals != nil && !s.global && s.kind != "export" && s.kind != "readonly"
	if local {
		sh.locals[name] = true
		v = value{traits: v.traits}
		if !set {
			v.word = unknownWord("")
		}
	}
	v.readonly = v.readonly || s.readonly || s.kind == "readonly"
	if v.readonly && !s.prints {
		v.set = set && !local // its own value is not the second one
	}
	sh.set(name, v)
}

// emitDeclaration records a declaration, with the names that programs may see.
func (sh *shell) emitDeclaration(cmd Command) {
	if slices.Contains([]string{"export", "declare", "typeset"}, cmd.Binary) {
		cmd.Env = appendCopy(cmd.Env, namesOf(cmd.Argv[1:])...)
	}
	sh.noteExports(cmd)
	if printsVariables(cmd) {
		cmd.tag("dump-env")
	}
	if slices.Contains(cmd.Argv, "-p") {
		for _, name := range namesOf(cmd.Argv[1:]) {
			sh.noteRead(name)
		}
	}
	sh.emit(cmd)
}

// printsVariables reports whether a declaration without names prints variables: options alone choose which,
// except those for functions.
func printsVariables(cmd Command) bool {
	for _, w := range cmd.Argv[1:] {
		if !strings.HasPrefix(w, "-") || strings.ContainsAny(w, "fF") {
			return false
		}
	}
	return true
}

// declareWord reads a word from an expansion: an option, or NAME=VALUE.
func (sh *shell) declareWord(w word, s *declaration) {
	if w.Text != "" && strings.ContainsAny(w.Text[:1], "-+") && !w.Dynamic {
		if !s.option(w.Text) {
			sh.a.unfollowed("an option of " + s.kind + ": " + w.Text)
		}
		return
	}
	name, text, assigns := strings.Cut(w.Text, "=")
	switch {
	case s.prints:
	case !isName(name):
		sh.a.unfollowed("a declaration of which a part is only known at run time: " + w.Text)
	default:
		if sh.declareName(name, *s); assigns {
			v := value{word: w, set: true}
			v.Text, v.Fits, v.start, v.number = text, "", max(0, w.start-len(w.Text)+len(text)), false
			sh.setVariable(name, v)
		}
	}
}

func (sh *shell) declareBuiltin(cmd Command, c call) {
	s := declaration{kind: cmd.Binary}
	for _, w := range c.args() {
		sh.declareWord(w, &s)
	}
	sh.emitDeclaration(cmd)
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

// noteExported adds a command for a variable that programs see, if nothing is known of its effect on them.
func (sh *shell) noteExported(name string) {
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

// noteExports records the names that a declaration exports.
func (sh *shell) noteExports(cmd Command) {
	if cmd.Binary != "export" && !slices.ContainsFunc(cmd.Flags,
		func(f string) bool { return strings.Contains(f, "x") }) {
		return
	}
	for _, name := range namesOf(cmd.Argv[1:]) {
		sh.export(name)
		sh.noteExported(name)
	}
}

func (sh *shell) export(name string) {
	if sh.a.exports == nil {
		sh.a.exports = map[string]bool{}
	}
	sh.a.exports[name] = true
}
