package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// parameter adds $x and those forms of ${x} that are proven to match bash. Others are unknown.
func (x *expansion) parameter(p *syntax.ParamExp, q quoting) {
	if p.Param == nil {
		x.put(unknownWord(""), q)
		return
	}
	name := p.Param.Value
	v, _ := x.sh.get(name)
	x.sh.noteRead(name)
	size := len(v.Text)
	for _, w := range v.list {
		size += len(w.Text)
	}
	if x.sh.a.bytes -= size; x.sh.a.bytes < 0 || !x.sh.a.spend(len(v.list)/64) {
		x.sh.a.exceed()
		return
	}
	all := name == "@" || name == "*"
	if i, ok := p.Index.(*syntax.Word); ok && (i.Lit() == "@" || i.Lit() == "*") {
		name, all = i.Lit(), true
		if !v.array {
			v.list = nil
			if v.set || v.Dynamic {
				v.list = []word{v.word}
			}
		}
	} else if p.Index != nil {
		n, ok := natural(p.Index)
		v = v.at(n, ok)
	}
	if v.array && !all {
		v = v.at(0, true)
	}
	odd := p.Excl || p.Width || p.IsSet || p.Names != 0 || p.Flags != nil || p.NestedParam != nil ||
		len(p.Modifiers) > 0 ||
		strings.Contains("#?-!$_", name) && !p.Short && (p.Exp != nil || p.Slice != nil || p.Repl != nil)
	switch {
	case p.Length && !odd:
		x.put(v.length(all), q)
	case odd || p.Slice != nil || p.Repl != nil || all && p.Exp != nil:
		if all {
			x.putList(v.list, true, q, name == "*")
		} else {
			x.put(v.asUnknown(), q)
		}
	case all:
		x.putList(v.list, v.Dynamic, q, name == "*")
	case p.Exp != nil:
		x.operator(name, v, p, q)
	default:
		x.put(v.word, q)
	}
}

// operator adds ${x:-text} and its like. ${x:=text} has been assigned before; what is cut off is not
// followed.
func (x *expansion) operator(name string, v value, p *syntax.ParamExp, q quoting) {
	w := p.Exp.Word
	empty := !v.set
	switch p.Exp.Op {
	case syntax.DefaultUnsetOrNull, syntax.AlternateUnsetOrNull, syntax.ErrorUnsetOrNull:
		empty = v.Text == ""
	}
	unknown := v.Dynamic && !(v.set && v.Begins && v.start > 0) // else it is set, and not empty
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		switch {
		case name == "TMPDIR" && !v.set && v.Dynamic && w.Lit() == "/tmp":
			// where it is set, to another folder like it
			x.put(word{Word: program.Word{Text: "/tmp", Dynamic: true, Fits: "/tmp"}}, q)
		case empty:
			x.putAlternative(w, unknown, q)
		default:
			x.put(v.word, q)
		}
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if !empty || unknown {
			x.putAlternative(w, unknown, q)
		} else {
			x.put(word{}, q)
		}
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		v.Dynamic = v.Dynamic || empty
		x.put(v.word, q)
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		x.put(v.word, q)
	default:
		x.put(v.asUnknown(), q)
	}
}

// putAlternative adds the text of ${x:-text}.
func (x *expansion) putAlternative(w *syntax.Word, unknown bool, q quoting) {
	if unknown {
		x.put(unknownWord(""), q)
	}
	if w == nil {
		x.put(word{}, q)
		return
	}
	inner := x.inner
	x.inner = true
	if x.addParts(w.Parts, q); unknown {
		x.put(unknownWord(""), q)
	}
	x.inner = inner
	if len(w.Parts) == 0 {
		x.put(word{}, q)
	} else if q != unquoted && !x.current.exists {
		x.put(unknownWord(""), q)
	}
}

// at returns an element of an array. An unknown one is still a number if all of them are.
func (v value) at(n int, known bool) value {
	list := v.list
	if !v.array && (v.set || v.Dynamic) {
		list = []word{v.word}
	}
	exact := known && !(v.array && v.Dynamic) && !slices.ContainsFunc(list[:min(n, len(list))], word.vague)
	v.array, v.list = false, nil
	switch {
	case exact && n < len(list):
		v.word, v.set = list[n], v.set || len(list) > 0
		return v
	case exact:
		v.word, v.set = word{}, false
		return v
	case known && n < len(list):
		v.word = list[n]
	case len(list) > 0:
		v.word = list[0]
	}
	v.word = v.word.asUnknown()
	v.number = !slices.ContainsFunc(list, func(w word) bool { return !w.isNumber() })
	return v
}

func lit(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	return w.Lit()
}

// length returns ${#x}, or the number of values.
func (v value) length(all bool) word {
	w := word{number: true}
	w.Text = strconv.Itoa(len(v.Text))
	w.Dynamic = v.Dynamic || v.Glob || !ascii(v.Text)
	if all {
		w.Text = strconv.Itoa(len(v.list))
		w.Dynamic = v.Dynamic || slices.ContainsFunc(v.list, word.vague)
	}
	if w.Dynamic {
		w.Fits = "*"
	}
	return w
}

// natural returns a literal number.
func natural(x syntax.ArithmExpr) (int, bool) {
	w, ok := x.(*syntax.Word)
	if !ok || !numberPattern.MatchString(w.Lit()) {
		return 0, false
	}
	n, err := strconv.Atoi(w.Lit())
	return n, err == nil && n >= 0
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 0x7e }) < 0
}
