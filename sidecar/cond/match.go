package cond

import (
	"regexp/syntax"
	"unicode"
)

// Pattern is what can be told of a regular expression before it runs.
type Pattern struct {
	Steps  int  // instructions that it becomes
	Nested int  // how often counted repetitions inside each other repeat in all; 1: none do
	Never  bool // there is no text that it matches
}

// PatternOf looks at a regular expression; not ok where it does not compile.
func PatternOf(pattern string) (Pattern, bool) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return Pattern{}, false
	}
	prog := program(pattern)
	if prog == nil {
		return Pattern{}, false
	}
	return Pattern{len(prog.Inst), nestedCount(tree), !canMatch(prog)}, true
}

// nestedCount is the largest product of the counts of repetitions that stand
// inside each other; 1 where none do.
func nestedCount(re *syntax.Regexp) int {
	most, _ := counts(re)
	return most
}

// counts gives the largest product of two or more counts, and of one or more.
func counts(re *syntax.Regexp) (nested, any int) {
	nested, any = 1, 1
	for _, sub := range re.Sub {
		n, a := counts(sub)
		nested, any = max(nested, n), max(any, a)
	}
	if times := max(re.Min, re.Max); re.Op == syntax.OpRepeat && times > 1 {
		if any > 1 {
			nested = max(nested, any*times)
		}
		any *= times
	}
	return nested, any
}

// What stands at one side of a position in a text, as far as ^ $ \b can tell.
const (
	sideEnd  = iota // nothing: the text begins or ends
	sideLine        // a line break
	sideWord        // a letter, digit or _ of ASCII
	sideElse        // anything else
	sides
)

// canMatch reports whether there is any text that a program matches. It walks all
// ways through the program at once; a step knows what stands before it, and has
// guessed what stands behind it, which the next rune must then be. So the answer
// is exact.
func canMatch(prog *syntax.Prog) bool {
	type step struct {
		pc           uint32
		before, next int
	}
	var todo []step
	seen := make([]bool, len(prog.Inst)*sides*sides)
	add := func(s step) {
		if i := (int(s.pc)*sides+s.before)*sides + s.next; !seen[i] {
			seen[i] = true
			todo = append(todo, s)
		}
	}
	for i := range sides * sides {
		add(step{uint32(prog.Start), i / sides, i % sides})
	}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch inst := &prog.Inst[s.pc]; inst.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstFail:
		case syntax.InstAlt, syntax.InstAltMatch:
			add(step{inst.Out, s.before, s.next})
			add(step{inst.Arg, s.before, s.next})
		case syntax.InstCapture, syntax.InstNop:
			add(step{inst.Out, s.before, s.next})
		case syntax.InstEmptyWidth:
			if holds(syntax.EmptyOp(inst.Arg), s.before, s.next) {
				add(step{inst.Out, s.before, s.next})
			}
		default: // takes a rune
			if !takes(inst, s.next) {
				continue
			}
			for next := range sides {
				add(step{inst.Out, s.next, next})
			}
		}
	}
	return false
}

// holds reports whether an assertion is true between two sides.
func holds(op syntax.EmptyOp, before, next int) bool {
	boundary := (before == sideWord) != (next == sideWord)
	for _, c := range []struct {
		op syntax.EmptyOp
		is bool
	}{
		{syntax.EmptyBeginText, before == sideEnd},
		{syntax.EmptyEndText, next == sideEnd},
		{syntax.EmptyBeginLine, before == sideEnd || before == sideLine},
		{syntax.EmptyEndLine, next == sideEnd || next == sideLine},
		{syntax.EmptyWordBoundary, boundary},
		{syntax.EmptyNoWordBoundary, !boundary},
	} {
		if op&c.op != 0 && !c.is {
			return false
		}
	}
	return true
}

// takes reports whether an instruction takes a rune of a kind.
func takes(inst *syntax.Inst, kind int) bool {
	switch kind {
	case sideEnd:
		return false
	case sideLine:
		return inst.MatchRune('\n')
	case sideWord:
		for r := rune('0'); r <= 'z'; r++ {
			if syntax.IsWordChar(r) && inst.MatchRune(r) {
				return true
			}
		}
		return false
	}
	return takesElse(inst)
}

// takesElse reports whether an instruction takes a rune that is neither a line
// break nor part of a word.
func takesElse(inst *syntax.Inst) bool {
	if inst.Op == syntax.InstRuneAny || inst.Op == syntax.InstRuneAnyNotNL {
		return true
	}
	isElse := func(r rune) bool { return r != '\n' && !syntax.IsWordChar(r) && inst.MatchRune(r) }
	if len(inst.Rune) == 1 { // with all its cases
		for r := unicode.SimpleFold(inst.Rune[0]); r != inst.Rune[0]; r = unicode.SimpleFold(r) {
			if isElse(r) {
				return true
			}
		}
		return isElse(inst.Rune[0])
	}
	for i := 0; i+1 < len(inst.Rune); i += 2 {
		for r := inst.Rune[i]; r <= min(inst.Rune[i+1], inst.Rune[i]+'z'); r++ {
			if isElse(r) {
				return true
			}
		}
	}
	return false
}
