package shell

import (
	"regexp"
	"slices"
	"strconv"
)

// get returns a variable. One that the script has not set can hold anything.
func (sh *shell) get(name string) (v value, set bool) {
	if v, is := sh.parameter(name); is {
		return v, v.set
	}
	crossed := false
	for s := sh.scope; s != nil; s = s.up {
		v, is := s.vars[name]
		if !is && s.up == nil {
			v, is = sh.a.initial(name)
		}
		if is {
			if crossed {
				v = value{word: v.asUnknown()}
			}
			return v, v.set
		}
		crossed = crossed || s.fresh
	}
	if name == "PWD" && sh.dir.path != "" {
		v := known(sh.dir.path)
		v.Dynamic = !sh.dir.known || len(sh.dir.alternatives) > 0
		return v, true
	}
	v = value{word: unknownWord("")}
	if slices.Contains(lists.List("numeric"), name) {
		v.word = unknownNumber().word
	}
	return v, false
}

// initial returns a variable that the outermost shell has from the start.
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

// noteRead records a variable whose outer value the script uses.
func (sh *shell) noteRead(name string) {
	if _, set := sh.get(name); !set && !slices.Contains(sh.a.script.Variables, name) {
		sh.a.script.Variables = append(sh.a.script.Variables, name)
	}
}

// specialVariable reports whether bash gives a variable its own meaning: it may evaluate what is assigned,
// and change the value.
func specialVariable(name string) bool { return specialNames.MatchString(name) }

var specialNames = regexp.MustCompile(`^(_|S?RANDOM|SECONDS|EPOCH.*|P?PID|E?UID|LINENO|HISTCMD|OPTIND|BASH.*|GROUPS|DIRSTACK|FUNCNAME|PIPESTATUS|SHELLOPTS|COMP_.*|MAILCHECK|TMOUT|POSIXLY_CORRECT|histchars|FUNCNEST|PWD|OLDPWD)$`)

func (sh *shell) set(name string, v value) {
	if sh.scope.vars == nil {
		sh.scope.vars = map[string]value{}
	}
	sh.scope.vars[name] = v
}

// parameter returns $1, $2 …, $@, $* or $#.
func (sh *shell) parameter(name string) (v value, is bool) {
	switch name {
	case "@", "*":
		v = value{set: len(sh.args) > 0, array: true, list: sh.args}
		v.Dynamic = sh.argsUnknown
		return v, true
	case "#":
		v = known(strconv.Itoa(len(sh.args)))
		v.number = true
		if v.Dynamic = sh.argsUnknown || slices.ContainsFunc(sh.args, word.vague); v.Dynamic {
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
	case err != nil, sh.argsUnknown:
		return value{word: unknownWord("")}, true
	case n > len(sh.args):
		v = value{}
	default:
		v = value{word: sh.args[n-1], set: true}
	}
	if slices.ContainsFunc(before, word.vague) { // it may have become several words
		v.word = v.word.asUnknown()
	}
	return v, true
}

// orElse returns a value that may have been replaced by another.
func (v value) orElse(other value) value {
	number := (v.number || v.isNumber()) && (other.number || other.isNumber()) || !v.set && other.isNumber()
	out := other
	out.word = out.word.asUnknown()
	out.number, out.set = number, true
	if number {
		out.Fits = "*"
	}
	out.readonly, out.transformed = v.readonly || other.readonly, v.transformed || other.transformed
	return out
}

func isName(s string) bool { return nameOnly.MatchString(s) }

var nameOnly = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// defaultIFS reports whether words are split by white space.
func (sh *shell) defaultIFS() bool {
	v, _ := sh.get("IFS")
	return v.set && !v.Dynamic && v.Text == " \t\n"
}

// checkName checks the name of a variable in an argument of a builtin: bash would evaluate a subscript in it.
func (sh *shell) checkName(w word, what string) bool {
	ok := !w.vague() && isName(w.Text)
	if !ok {
		sh.a.unfollowed(what + ": the name of a variable is not plain: " + w.Text)
	}
	return ok
}
