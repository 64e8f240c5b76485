package program

import (
	"slices"
	"strings"
)

// Odd says whether the value of a variable may be more than a plain word to the programs
// that get it: a path or an address, also if that is only known at run time; or code, which a shell runs if it evaluates the text.
// What variables do whose names are known, Set says.
func Odd(name string, value Word) (odd, code bool) {
	if slices.ContainsFunc(variables, func(v variable) bool { return fits(v.names, name) }) {
		return false, false
	}
	code = strings.Contains(value.Text, "$(") || strings.Contains(value.Text, "`")
	return code || value.Dynamic || strings.ContainsAny(value.Text, "/;\n"), code
}
