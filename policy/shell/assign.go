package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxValue is the longest value of a variable that is followed.
const maxValue = 64 << 10

// setVariable assigns a value. The traits of the name stay.
func (sh *shell) setVariable(name string, v value) {
	old, _ := sh.get(name)
	v.traits = old.traits
	switch {
	case specialVariable(name):
		sh.requireNumber(v.word)
		for _, w := range v.list {
			sh.requireNumber(w)
		}
		if strings.HasPrefix(name, "BASH_") || name == "POSIXLY_CORRECT" || name == "histchars" ||
			name == "FUNCNEST" {
			sh.a.unsure("a variable that changes how bash works: " + name)
		}
		number := v.isNumber()
		v.word = v.asUnknown()
		v.number = number
	case v.transformed, v.readonly && old.set:
		v.word = v.asUnknown()
	}
	sh.set(name, v)
	if sh.a.exports[name] || sh.a.exports[allExported] {
		sh.noteExported(name)
	}
	sh.noteSetting(name, v.word)
}

// noteSetting adds a command for an assignment that means something to programs, once per value.
func (sh *shell) noteSetting(name string, w word) {
	setting := fmt.Sprint(name, "=", w.Dynamic, w.Text)
	if sh.a.settings[setting] {
		return
	}
	if sh.a.settings == nil {
		sh.a.settings = map[string]bool{}
	}
	sh.a.settings[setting] = true
	e := sh.a.programs.Set(name, w.Word)
	if len(e.Tags)+len(e.Touches)+len(e.Fetches) == 0 && e.CodeFile.Text == "" {
		return
	}
	cmd := Command{Env: []string{name}}
	sh.apply(&cmd, e, call{words: []word{w}})
	sh.emit(cmd)
}

// assign runs an assignment and returns the name and the assigned text.
func (sh *shell) assign(a *syntax.Assign) (name string, w word) {
	if a.Name == nil {
		return "", word{}
	}
	name = a.Name.Value
	old, _ := sh.get(name)
	if a.Index != nil || a.Append && a.Array != nil || old.array && a.Array == nil && !a.Naked {
		sh.a.unfollowed("an array that changes: " + name)
		sh.expansion(a)
		sh.setVariable(name, unknown(""))
		return name, word{}
	}
	switch {
	case a.Array != nil:
		sh.setVariable(name, sh.array(name, a.Array))
		return name, word{}
	case a.Naked:
		return name, word{}
	}
	w = sh.text(a.Value)
	v := value{word: w, set: true}
	if a.Append {
		v.word = sh.appendedText(old, w)
	}
	if sh.a.bytes -= len(v.Text); len(v.Text) > maxValue || sh.a.bytes < 0 {
		if !v.Dynamic || sh.a.bytes < 0 {
			sh.a.exceed()
		}
		v = unknown("")
	}
	sh.setVariable(name, v)
	return name, w
}

// appendedText is x+=text.
func (sh *shell) appendedText(old value, w word) word {
	x := &expansion{sh: sh}
	x.current.exists = true
	x.current.add(old.word)
	x.current.add(w)
	x.endWord()
	return x.words[0]
}

// array returns the value of NAME=(…).
func (sh *shell) array(name string, a *syntax.ArrayExpr) value {
	v := value{set: true, array: true}
	for _, e := range a.Elems {
		if e.Index != nil {
			sh.a.unfollowed("an array with keys: " + name)
			sh.expansion(e)
		}
		if e.Value != nil {
			v.list = append(v.list, sh.fields(e.Value)...)
		}
	}
	if len(v.list) > maxFields {
		v.list, v.Dynamic = []word{anyOf(v.list)}, true
	}
	return v
}
