package cond

import (
	"errors"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/file"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// explain turns what expr says about a condition into a problem at its exact
// place, in words that need no Go.
func explain(t rulefile.Text, err error, env reflect.Type, words Lists) *rulefile.Problem {
	if at, cut := t.Cut(); cut {
		p := at.Problem(rulefile.CodeYAML, "YAML takes the rest of the line for a comment", "put the condition into a block: when: |")
		return &p
	}
	at := t.All()
	var fe *file.Error
	if errors.As(err, &fe) && fe.To > fe.From {
		at = t.Span(fe.From, fe.To)
	}
	code, msg, hint := CodeExpr, PlainMessage(err), ""
	switch name, isName := strings.CutPrefix(msg, "unknown name "); {
	case isName:
		code = CodeName
		msg = "a condition here sees no " + name
		hint = nameHint(name, env, words)
	case strings.Contains(msg, "error parsing regexp"):
		code = CodeRegexp
		msg = strings.TrimPrefix(msg, "error parsing regexp: ")
	case strings.HasPrefix(msg, rulefile.NotClosed):
		from := openLiteral(t.Value)
		at = t.Span(from, from+1)
	default:
		hint = exprHint(msg, bare(at.Before()))
		if _, part, ok := strings.Cut(msg, " has no part "); ok && hint == "" {
			hint = partHint(part, env)
		}
	}
	p := at.Problem(code, msg, hint)
	return &p
}

// partHint helps with a part of a variable that it does not have.
func partHint(part string, env reflect.Type) string {
	var parts []string
	for _, v := range Variables(env, nil) {
		parts = append(parts, v.Name[strings.LastIndexByte(v.Name, '.')+1:])
	}
	if w, near := rulefile.Nearest(part, parts); near {
		return "did you mean " + w + "?"
	}
	return ""
}

// bare reports whether a line ends with a dot, and with nothing before it.
func bare(line string) bool {
	r := []rune(line)
	return len(r) > 1 && r[len(r)-1] == '.' && strings.ContainsRune(" (,!", r[len(r)-2])
}

// visible are the names of what a condition over a struct sees.
func visible(env reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(env) {
		if n := f.Tag.Get("expr"); n != "" && n != "-" {
			names = append(names, n)
		}
	}
	return names
}

// Taken reports whether a name means something in a condition over a struct.
func Taken(name string, env reflect.Type) bool {
	return slices.ContainsFunc(functions, func(f Word) bool { return f.Name == name }) || slices.Contains(visible(env), name)
}

// nameHint helps with a name that a condition does not see.
func nameHint(name string, env reflect.Type, words Lists) string {
	names := append(visible(env), slices.Sorted(maps.Keys(words))...)
	known := names
	for _, f := range functions {
		known = append(known, f.Name)
	}
	if w, ok := rulefile.Nearest(name, known); ok {
		return "did you mean " + w + "?"
	}
	if slices.ContainsFunc(builtin.Builtins, func(f *builtin.Function) bool { return f.Name == name }) {
		return "of the functions of expr, conditions have " + strings.Join(known[len(names):], ", ")
	}
	return "it sees " + strings.Join(names, ", ") + "; a text stands in quotes"
}

// words for what expr calls by the names of Go types, longest first.
var typeWords = map[string]string{
	"map[string]interface {}": "a mapping", "[]interface {}": "a list", "[]string": "a list of texts",
	"[]int": "a list of numbers", "%!s(<nil>)": "nothing", "uint8": "a byte", "interface {}": "anything", "unknown": "anything", "string": "a text", "int": "a whole number",
	"float64": "a number", "bool": "true or false", "nil": "nothing", "array": "a list",
}

var (
	goTypeName = regexp.MustCompile(`\*?\b[a-z]\w*\.[A-Z]\w*`)
	goTypeWord = regexp.MustCompile(`\((?:type |got )?([\w\[\]{} ]+)\)`)
)

// PlainMessage is the message of an error of expr without its excerpt, and
// without the names of Go types.
func PlainMessage(err error) string {
	msg := err.Error()
	var fe *file.Error
	if errors.As(err, &fe) {
		msg = fe.Message
	}
	msg, _, _ = strings.Cut(msg, "\n")
	if len(msg) > 200 { // it may quote what the condition was looking at
		msg = strings.ToValidUTF8(msg[:200], "") + "…"
	}
	switch {
	case strings.Contains(msg, "exceeds maximum allowed nodes"):
		return "the condition is too long: it has more than 300 parts"
	case strings.Contains(msg, "memory budget exceeded"):
		return "the condition takes too much memory"
	case strings.Contains(msg, "unexpected token EOF"):
		return "the condition ends too early"
	case strings.Contains(msg, "literal not terminated"):
		return rulefile.NotClosed
	}
	for _, form := range forms {
		if m := form.find.FindStringSubmatch(msg); m != nil {
			return form.say(m)
		}
	}
	msg = goTypeWord.ReplaceAllStringFunc(msg, func(s string) string {
		inner := goTypeWord.FindStringSubmatch(s)[1]
		return "(" + typeWord(inner) + ")"
	})
	return goTypeName.ReplaceAllString(msg, "value")
}

func typeWord(goType string) string {
	goType = strings.TrimSpace(strings.TrimPrefix(goType, "type "))
	if w, ok := typeWords[goType]; ok {
		return w
	}
	for _, prefix := range slices.Sorted(maps.Keys(typeWords)) {
		if strings.HasPrefix(goType, prefix+" ") {
			return typeWords[prefix]
		}
	}
	if goTypeName.MatchString(goType) || strings.HasPrefix(goType, "func") {
		return "this value"
	}
	return goType
}
