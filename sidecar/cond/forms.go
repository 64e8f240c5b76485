package cond

import (
	"regexp"
	"strings"
)

// form is a message of expr, and how people say it.
type form struct {
	find *regexp.Regexp
	say  func(m []string) string
}

var forms = []form{
	{regexp.MustCompile(`^invalid operation: (and|or|&&|\|\|) \(mismatched types (.+?) and (.+)\)$`), func(m []string) string {
		return m[1] + " joins two conditions, and here are " + typeWord(m[2]) + " and " + typeWord(m[3])
	}},
	{regexp.MustCompile(`^invalid operation: (\S+) \(mismatched type (.+?)\)$`), func(m []string) string {
		return m[1] + " does not take " + typeWord(m[2])
	}},
	{regexp.MustCompile(`^invalid operation: (\S+) \(mismatched types (.+?) and (.+)\)$`), func(m []string) string {
		return m[1] + " does not go with " + typeWord(m[2]) + " and " + typeWord(m[3])
	}},
	{regexp.MustCompile(`^expected bool, but got (.+)$`), func(m []string) string {
		return "the condition gives " + typeWord(m[1]) + ", not true or false"
	}},
	{regexp.MustCompile(`^type (.+) has no (?:field|method) (.+)$`), func(m []string) string { return typeWord(m[1]) + " has no part " + m[2] }},
	{regexp.MustCompile(`^cannot use (.+) as argument \(type (.+)\) to call (\S+) ?$`), func(m []string) string {
		return m[3] + " takes " + typeWord(m[2]) + ", not " + typeWord(m[1])
	}},
	{regexp.MustCompile(`^invalid argument for (\S+) \(type (.+)\)$`), func(m []string) string { return m[1] + " does not take " + typeWord(m[2]) }},
	{regexp.MustCompile(`^builtin (\S+) takes only array \(got (.+)\)$`), func(m []string) string { return m[1] + " takes a list, not " + typeWord(m[2]) }},
	{regexp.MustCompile(`^(not enough|too many) arguments to call (\S+)$`), func(m []string) string { return m[2] + " has " + m[1] + " arguments" }},
	{regexp.MustCompile(`^invalid number of arguments \(expected (\d+), got (\d+)\)$`), func(m []string) string {
		return "this takes " + arguments(m[1]) + ", not " + m[2]
	}},
	{regexp.MustCompile(`^expected at least (\d+) arguments?$`), func(m []string) string { return "this takes at least " + arguments(m[1]) }},
	{regexp.MustCompile(`^unexpected token \w+\("((?:[^"\\]|\\.)*)"\)`), func(m []string) string { return `token "` + m[1] + `" does not fit here` }},
	{regexp.MustCompile(`^unrecognized character: \S+ '(.+)'$`), func(m []string) string { return m[1] + " means nothing in a condition" }},
	{regexp.MustCompile(`^predicate should return boolean \(got (.+)\)$`), func(m []string) string {
		return "the test of a loop gives " + typeWord(m[1]) + ", not true or false"
	}},
	{regexp.MustCompile(`^non-bool expression \(type (.+)\) used as condition$`), func(m []string) string {
		return "what stands before ? gives " + typeWord(m[1]) + ", not true or false"
	}},
	{regexp.MustCompile(`^type (.+?)(?:\[.*\] is undefined| does not support indexing)$`), func(m []string) string {
		return typeWord(m[1]) + " has no entry that could be picked"
	}},
	{regexp.MustCompile(`^cannot (?:use|get|fetch|slice) (?:.* from )?(.+?)(?: as .*)?$`), func(m []string) string { return "this cannot be taken from " + typeWord(m[1]) }},
	{regexp.MustCompile(`^interface conversion: (?:interface \{\} is )?(.+?), not (.+)$`), func(m []string) string {
		return "this is " + typeWord(m[1]) + ", and " + typeWord(m[2]) + " is needed"
	}},
	{regexp.MustCompile(`^invalid operation: (\S+) ([+*/%<>=!-]+|\.\.|in) (\S+)$`), func(m []string) string {
		return m[2] + " does not go with " + typeWord(m[1]) + " and " + typeWord(m[3])
	}},
	{regexp.MustCompile(`^non-integer slice index (.+)$`), func(m []string) string {
		return "a piece is cut at whole numbers, not at " + typeWord(m[1])
	}},
	{regexp.MustCompile(`^(index out of range: -?\d+) \(array length is (\d+)\)$`), func(m []string) string {
		return m[1] + " in a list of " + m[2]
	}},
	{regexp.MustCompile(`^reflect: .*|^runtime error: .*nil.*|^reflect\.`), func([]string) string { return "a part of the condition has no value" }},
}

func arguments(n string) string {
	if n == "1" {
		return "1 argument"
	}
	return n + " arguments"
}

// exprHint is what to do about a message. bare says that nothing stands before the
// dot of what it is about: .name is short for #.name.
func exprHint(msg string, bare bool) string {
	token, _, isToken := strings.Cut(strings.TrimPrefix(msg, `token "`), `" does not fit here`)
	_, part, isPart := strings.Cut(msg, " has no part ")
	switch {
	case isToken && token == "#":
		return "a comment in a condition begins with //"
	case isToken && token == "=":
		return "two = compare: =="
	case isToken && isOperator(strings.ToLower(token)) && token != strings.ToLower(token):
		return "write " + strings.ToLower(token)
	case isToken && isOperator(token):
		return operatorHint(token)
	case isToken:
		return "is an operator missing in front of it, or a quote or bracket before that?"
	case isPart && isOperator(part):
		return operatorHint(part)
	case isPart && bare:
		return "the entry itself is #"
	case strings.Contains(msg, "has no entry"):
		return "a piece of a text is text[0:10]"
	case strings.Contains(msg, "means nothing"):
		return `texts stand in straight quotes: "…"`
	case strings.Contains(msg, "gives anything"):
		return "compare it with something, for example == true"
	case strings.Contains(msg, "joins two conditions"):
		return "compare each side with something"
	}
	return ""
}

var wordOperators = []string{"contains", "startsWith", "endsWith", "matches", "in", "and", "or", "not"}

func isOperator(word string) bool {
	for _, op := range wordOperators {
		if word == op {
			return true
		}
	}
	return false
}

func operatorHint(op string) string {
	if op == "not" {
		return "not stands in front of what it turns round"
	}
	return op + " stands between its two sides: a " + op + " b"
}

// openLiteral is where the text begins, in runes, that a condition never closes.
func openLiteral(source string) int {
	open, quote, escaped, at := 0, rune(0), false, 0
	for _, r := range source {
		switch {
		case escaped:
			escaped = false
		case quote != 0 && quote != '`' && r == '\\':
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\'' || r == '`'):
			open, quote = at, r
		}
		at++
	}
	return open
}
