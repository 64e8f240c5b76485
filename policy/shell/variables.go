package shell

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// get is a variable. One that the script has not set can hold anything.
func (sh *shell) get(name string) (v value, set bool) {
	if v, is := sh.parameter(name); is {
		return v, v.set
	}
	left := false
	for s := sh.scope; s != nil; s = s.up {
		v, is := s.vars[name]
		if !is && s.up == nil {
			v, is = sh.a.initial(name)
		}
		if is {
			if left {
				v = value{word: v.blurred()}
			}
			return v, v.set
		}
		left = left || s.fresh
	}
	if name == "PWD" && sh.dir.path != "" {
		v := known(sh.dir.path)
		v.Dynamic = !sh.dir.known || len(sh.dir.or) > 0
		return v, true
	}
	v = value{word: guessed("")}
	if slices.Contains(numeric, name) {
		v.word = counted().word
	}
	return v, false
}

// initial is a variable of the shell that runs the outermost text, before that has set it.
func (a *analysis) initial(name string) (v value, is bool) {
	switch name {
	case "HOME":
		v = known(a.guard.Roots.Home)
		v.Dynamic = v.Text == ""
		return v, true
	case "IFS":
		return known(" \t\n"), true
	case "OLDPWD":
		return unknown(a.guard.Roots.Cwd), true
	case "0":
		return unknown("bash"), true
	}
	return value{}, false
}

// takes notes a variable of which the script uses the value that it has outside.
func (sh *shell) takes(name string) {
	if _, set := sh.get(name); !set && !slices.Contains(sh.a.script.Variables, name) {
		sh.a.script.Variables = append(sh.a.script.Variables, name)
	}
}

// numeric are variables that bash sets, and that hold a number.
var numeric = []string{"$", "!", "?", "RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "PPID", "UID", "EUID",
	"BASHPID", "LINENO", "SHLVL", "BASH_SUBSHELL"}

// special tells whether bash gives a variable a meaning and a value of its own. What is
// assigned to it may be evaluated, and is not what it holds afterwards.
func special(name string) bool { return specialNames.MatchString(name) }

var specialNames = regexp.MustCompile(`^(_|S?RANDOM|SECONDS|EPOCH.*|P?PID|E?UID|LINENO|HISTCMD|OPTIND|BASH.*|GROUPS|DIRSTACK|FUNCNAME|PIPESTATUS|SHELLOPTS|COMP_.*|MAILCHECK|TMOUT|POSIXLY_CORRECT|histchars|FUNCNEST|PWD|OLDPWD)$`)

func (sh *shell) set(name string, v value) {
	if sh.scope.vars == nil {
		sh.scope.vars = map[string]value{}
	}
	sh.scope.vars[name] = v
}

// parameter is $1, $2 …, $@, $* or $#.
func (sh *shell) parameter(name string) (v value, is bool) {
	switch name {
	case "@", "*":
		v = value{set: len(sh.args) > 0, array: true, list: sh.args}
		v.Dynamic = sh.open
		return v, true
	case "#":
		v = known(strconv.Itoa(len(sh.args)))
		v.number = true
		if v.Dynamic = sh.open || slices.ContainsFunc(sh.args, word.vague); v.Dynamic {
			v.Fits = "*"
		}
		return v, true
	}
	if name == "" || name[0] < '1' || name[0] > '9' {
		return value{}, false
	}
	n, err := strconv.Atoi(name)
	before := sh.args[:max(0, min(n-1, len(sh.args)))]
	switch {
	case err != nil, sh.open:
		return value{word: guessed("")}, true
	case n > len(sh.args):
		v = value{}
	default:
		v = value{word: sh.args[n-1], set: true}
	}
	if slices.ContainsFunc(before, word.vague) { // it may have become several words
		v.word = v.word.blurred()
	}
	return v, true
}

// or is a value that may have been replaced by another.
func (v value) or(other value) value {
	number := (v.number || v.isNumber()) && (other.number || other.isNumber()) || !v.set && other.isNumber()
	out := other
	out.word = out.word.blurred()
	out.number, out.set = number, true
	if number {
		out.Fits = "*"
	}
	out.keyed = v.keyed && other.keyed
	out.fixed, out.integer, out.odd = v.fixed || other.fixed, v.integer || other.integer, v.odd || other.odd
	return out
}

func isName(s string) bool { return nameOnly.MatchString(s) }

var nameOnly = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// defaultIFS tells whether words are split by white space.
func (sh *shell) defaultIFS() bool {
	v, _ := sh.get("IFS")
	return v.set && !v.Dynamic && v.Text == " \t\n"
}

// name notes the name of a variable that a builtin looks at or sets: a subscript in it
// would be evaluated.
func (sh *shell) name(w word, what string) bool {
	base, index, subscripted := strings.Cut(strings.TrimSuffix(w.Text, "]"), "[")
	ok := !w.vague() && isName(base) && (!subscripted || sums.MatchString(index))
	if !ok {
		sh.a.unsure(what + ": the name of a variable is not plain: " + w.Text)
		sh.evaluate(w.Text)
	}
	return ok
}
