package cond

import "regexp/syntax"

// PatternTooLarge replaces the message that Go gives only after using a lot of memory.
const PatternTooLarge = "the pattern is too large"

// maxPattern is about how many instructions a pattern may have.
const maxPattern = 10_000

// LargePattern reports whether a pattern has too many instructions, without compiling it.
func LargePattern(pattern string) bool {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil && weight(tree) > maxPattern
}

// weight estimates the number of instructions of a pattern.
func weight(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	if re.Op == syntax.OpCharClass {
		n = 1
	}
	for _, sub := range re.Sub {
		n += weight(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// Steps returns the number of instructions of a pattern; 0 if it does not compile.
func Steps(pattern string) int {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0
	}
	return len(prog.Inst)
}
