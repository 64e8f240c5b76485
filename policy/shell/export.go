package shell

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// allExported stands for every name, after set -a.
const allExported = "*"

// handed lists a variable that programs see if nobody knows what its value means to them.
func (sh *shell) handed(name string) {
	v, set := sh.get(name)
	w := v.Word
	w.Dynamic = w.Dynamic && len(v.from) > 0 // what the text has not set is the user's own
	odd, code := program.Odd(name, w)
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
	if cmd.Binary != "export" && !slices.ContainsFunc(cmd.Flags, func(f string) bool { return strings.Contains(f, "x") }) {
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
