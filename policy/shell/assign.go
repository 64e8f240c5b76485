package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// assigned sets a variable as the script does, which may mean something to programs.
// Each value is listed once, as an assignment.
func (sh *shell) assigned(name string, v value) {
	sh.set(name, v)
	if sh.a.exports[name] || sh.a.exports[allExported] {
		sh.handed(name)
	}
	e := program.Set(name, v.word().Word)
	if len(e.Tags)+len(e.Touches)+len(e.Fetches) == 0 && e.CodeFile.Text == "" || sh.a.settings[name+"="+v.Str] {
		return
	}
	if sh.a.settings == nil {
		sh.a.settings = map[string]bool{}
	}
	sh.a.settings[name+"="+v.Str] = true
	cmd := Command{Env: []string{name}}
	sh.apply(&cmd, e, call{words: []word{v.word()}})
	sh.emit(cmd)
}

// maxValue bounds the text of one variable.
const maxValue = 64 << 10

// assign sets a variable. With integer its text is evaluated as arithmetic.
func (sh *shell) assign(a *syntax.Assign, integer bool) (name, text string) {
	if a.Index != nil {
		sh.subscript(a.Index)
	}
	if a.Name == nil {
		return "", ""
	}
	name = a.Name.Value
	switch {
	case a.Array != nil:
		sh.assigned(name, sh.array(a.Array))
		return name, ""
	case a.Naked:
		return name, ""
	}
	w := sh.text(a.Value)
	v := w.value()
	if integer && strings.ContainsAny(w.Text, "[$`(") {
		sh.a.unsure("an integer variable evaluates its text")
	}
	old, _ := sh.get(name)
	if a.Append {
		v.Str = old.Str + v.Str
		v.unknown = v.unknown || old.unknown || !old.Set
		v.glob, v.from = v.glob || old.glob, join(v.from, old.from)
	}
	if a.Index != nil {
		v.unknown = true
	}
	if sh.a.bytes -= len(v.Str); len(v.Str) > maxValue || sh.a.bytes < 0 {
		sh.a.script.OverBudget = sh.a.script.OverBudget || !v.unknown || sh.a.bytes < 0
		v = unknown("")
	}
	if old.Kind == expand.NameRef && old.Str != "" {
		sh.assigned(old.Str, v)
		return name, w.Text
	}
	sh.assigned(name, v)
	if name == "PS4" && strings.ContainsAny(v.Str, "$`") {
		sh.a.unsure("PS4 is evaluated for each command that is traced")
	}
	return name, w.Text
}

func (sh *shell) array(a *syntax.ArrayExpr) value {
	v := value{Variable: expand.Variable{Set: true, Kind: expand.Indexed}}
	for _, e := range a.Elems {
		if e.Index != nil {
			sh.subscript(e.Index)
			v.unknown = true
		}
		if e.Value == nil {
			continue
		}
		for _, w := range sh.fields(e.Value) {
			v.List = append(v.List, w.Text)
			v.unknown = v.unknown || w.Dynamic
			v.glob = v.glob || w.Glob
			v.from = join(v.from, w.from)
		}
	}
	return v
}

// declare is export, declare, local, readonly, typeset and nameref.
func (sh *shell) declare(d *syntax.DeclClause, used redirected) {
	kind := d.Variant.Value
	cmd := Command{Binary: kind, Argv: []string{kind}, Known: true, Reads: used.reads, Writes: used.writes}
	integer, reference := false, kind == "nameref"
	for _, a := range d.Args {
		if a.Name != nil {
			name, text := sh.assign(a, integer)
			if reference {
				sh.refer(name, text)
			}
			if !a.Naked {
				name += "=" + text
			}
			cmd.Argv = append(cmd.Argv, name)
			continue
		}
		if a.Index != nil {
			sh.subscript(a.Index)
		}
		for _, w := range sh.fields(a.Value) {
			cmd.Argv = append(cmd.Argv, w.Text)
			cmd.DynamicArgs = cmd.DynamicArgs || w.Dynamic
			if strings.HasPrefix(w.Text, "-") {
				cmd.Flags = append(cmd.Flags, w.Text)
				integer = integer || strings.Contains(w.Text, "i")
				reference = reference || strings.Contains(w.Text, "n") && kind != "export"
			} else {
				sh.declareWord(w, integer)
			}
		}
	}
	sh.declared(cmd)
	sh.out.write("", len(cmd.Argv) > 1, kind)
}

// declared lists a declaration, with the names that programs may see.
func (sh *shell) declared(cmd Command) {
	if slices.Contains([]string{"export", "declare", "typeset"}, cmd.Binary) {
		cmd.Env = appended(cmd.Env, names(cmd.Argv[1:])...)
	}
	sh.exports(cmd)
	if dumps(cmd) {
		cmd.tag("dump-env")
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

// declareWord is NAME=VALUE that only comes to be by an expansion.
func (sh *shell) declareWord(w word, integer bool) {
	name, text, assigned := strings.Cut(w.Text, "=")
	if w.Dynamic || strings.Contains(name, "[") {
		sh.a.unsure("a declaration of which a part is only known at run time")
	}
	if assigned && integer && strings.ContainsAny(text, "[$`(") {
		sh.a.unsure("an integer variable evaluates its text")
	}
	if assigned && name != "" {
		v := w.value()
		v.Str = text
		sh.assigned(strings.TrimSuffix(name, "+"), v)
	}
}

// refer makes a variable another name of one.
func (sh *shell) refer(name, to string) {
	v, _ := sh.get(name)
	v.Kind = expand.NameRef
	if strings.ContainsAny(to, "[$`") {
		sh.a.unsure("a name reference with a subscript")
	}
	sh.set(name, v)
}

func names(list []string) (out []string) {
	for _, s := range list {
		if name, _, _ := strings.Cut(s, "="); name != "" && name[0] != '-' {
			out = append(out, strings.TrimSuffix(name, "+"))
		}
	}
	return out
}
