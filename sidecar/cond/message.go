package cond

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/file"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// explain turns an error of expr into a problem at its exact place, in words that need no knowledge of Go.
func explain(t rulefile.Text, err error, env reflect.Type, words Lists) *rulefile.Problem {
	if at, cut := t.Cut(); cut && !Parses(t.Value) {
		p := at.Problem(rulefile.CodeYAML, "YAML takes the rest of the line for a comment",
			"put the condition into a block: when: |")
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
		from := unclosedLiteral(t.Value)
		at = t.Span(from, from+1)
	default:
		hint = hintFor(msg, endsInDot(at.Before()), env)
	}
	p := at.Problem(code, msg, hint)
	return &p
}

// endsInDot reports whether a line ends with a dot that nothing precedes.
func endsInDot(line string) bool {
	r := []rune(line)
	return len(r) > 1 && r[len(r)-1] == '.' && strings.ContainsRune(" (,!", r[len(r)-2])
}

// fieldNames returns what a condition over a struct sees.
func fieldNames(env reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(env) {
		if n := f.Tag.Get("expr"); n != "" && n != "-" {
			names = append(names, n)
		}
	}
	return names
}

// Taken reports whether a name has a meaning in a condition over a struct.
func Taken(name string, env reflect.Type) bool {
	return slices.ContainsFunc(functions, func(f Word) bool { return f.Name == name }) ||
		slices.Contains(fieldNames(env), name)
}

// nameHint suggests a name for one that a condition does not see.
func nameHint(name string, env reflect.Type, words Lists) string {
	names := append(fieldNames(env), slices.Sorted(maps.Keys(words))...)
	known := names
	for _, f := range functions {
		known = append(known, f.Name)
	}
	otherwise := "it sees " + strings.Join(names, ", ") + "; a text needs quotes"
	if slices.ContainsFunc(builtin.Builtins, func(f *builtin.Function) bool { return f.Name == name }) {
		otherwise = "of the functions of expr, conditions have " + strings.Join(known[len(names):], ", ")
	}
	return rulefile.DidYouMeanOr(name, known, otherwise)
}

// hintFor explains the most common mistakes. bare means that nothing precedes the dot: .name is short for
// #.name.
func hintFor(msg string, bare bool, env reflect.Type) string {
	token, _, isToken := strings.Cut(strings.TrimPrefix(msg, `token "`), `" does not fit here`)
	_, part, isPart := strings.Cut(msg, " has no part ")
	low := strings.ToLower(token)
	switch {
	case isToken && token == "#":
		return "a comment in a condition begins with //"
	case isToken && token == "=":
		return "two = compare: =="
	case isToken && token != low && slices.Contains(wordOperators, low):
		return "write " + low
	case isToken && slices.Contains(wordOperators, token), isPart && slices.Contains(wordOperators, part):
		word := cmp.Or(part, token)
		return word + " stands between its two sides: a " + word + " b"
	case isToken:
		return "is an operator missing in front of it, or a quote or bracket before that?"
	case isPart && bare && !strings.HasPrefix(msg, typeWords[""]):
		return "the entry itself is #"
	case isPart:
		same := func(name string) bool { return name == part } // of something else
		return rulefile.DidYouMeanOr(part, slices.DeleteFunc(parts(env), same), "")
	case strings.Contains(msg, "means nothing"):
		return `write texts in straight quotes: "…"`
	case strings.Contains(msg, "has no entry"):
		return "a piece of a text is text[0:10]"
	case strings.HasPrefix(msg, "and does not go"), strings.HasPrefix(msg, "or does not go"):
		return "compare each side with something"
	case strings.Contains(msg, "false, not anything"):
		return "compare it with something, for example == true"
	}
	return ""
}

var wordOperators = []string{"contains", "startsWith", "endsWith", "matches", "in", "and", "or"}

// parts returns the names of all fields that a condition sees, and of those of entries of its lists.
func parts(t reflect.Type) (out []string) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return parts(t.Elem())
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if name := f.Tag.Get("expr"); name != "" && name != "-" {
				out = append(append(out, name), parts(f.Type)...)
			}
		}
	}
	return out
}

// rewordings replace messages of expr. Named groups hold Go types, which are translated. Other messages stay.
var rewordings = []struct {
	find *regexp.Regexp
	say  string
}{
	{regexp.MustCompile(`exceeds maximum allowed nodes`), fmt.Sprintf("the condition is too long: it has more than %d parts", maxNodes)},
	{regexp.MustCompile(`memory budget exceeded`), "the condition takes too much memory"},
	{regexp.MustCompile(`unexpected token EOF`), "the condition ends too early"},
	{regexp.MustCompile(`literal not terminated`), rulefile.NotClosed},
	{regexp.MustCompile(`^unexpected token \w+\("((?:[^"\\]|\\.)*)"\)`), `token "$1" does not fit here`},
	{regexp.MustCompile(`^unrecognized character: \S+ '(.+)'$`), "$1 means nothing in a condition"},
	{regexp.MustCompile(`^invalid operation: (\S+) \(mismatched types? (?P<t>.+)\)$`), "$1 does not go with $t"},
	{regexp.MustCompile(`^invalid operation: (?P<t>[^(]+) ([+*/%<>=!-]+|\.\.|in) (?P<u>.+)$`), "$2 does not go with $t and $u"},
	{regexp.MustCompile(`^(?:invalid operation: (-|!)|operator "(in)" not defined on) (?P<t>\S+)$`), "$1$2 does not go with $t"},
	{regexp.MustCompile(`^expected bool, but got (?P<t>.+)$`), "the condition must give true or false, not $t"},
	{regexp.MustCompile(`^type (?P<t>.+) has no (?:field|method) (.+)$`), "$t has no part $2"},
	{regexp.MustCompile(`^type (?P<t>.+?)(?:\[.*\] is undefined| does not support indexing)$`), "$t has no entry that could be picked"},
	{regexp.MustCompile(`^builtin (\S+) takes only array \(got (?P<t>.+)\)$`), "$1 takes a list, not $t"},
	{regexp.MustCompile(`^cannot use (?P<t>.+) as argument \(type (?P<u>.+)\) to call (\S+) ?$`), "$3 takes $u, not $t"},
	{regexp.MustCompile(`^cannot (?:use|get|fetch|slice) (?:.* from )?(?P<t>.+?)(?: as .*)?$`), "this cannot be taken from $t"},
	{regexp.MustCompile(`^interface conversion: (?:interface \{\} is )?(?P<t>.+?), not (?P<u>.+)$`), "this is $t, and $u is needed"},
	{regexp.MustCompile(`^reflect: .*|^runtime error: .*nil.*|^reflect\.`), "a part of the condition has no value"},
	{regexp.MustCompile(`^(index out of range: -?\d+) \(array length is (\d+)\)$`), "$1 in a list of $2"},
	{regexp.MustCompile(`^(non-integer slice index) (?P<t>.+)$`), "$1 $t"},
	{regexp.MustCompile(`^(.*)\((?:type |got )?(?P<t>[\w\[\]{}.* ]+)\)(.*)$`), "$1($t)$3"},
}

// typeWords are Go types in words; "" is any other.
var typeWords = map[string]string{
	"map[string]interface {}": "a mapping", "[]interface {}": "a list", "[]string": "a list of texts",
	"[]int":        "a list of numbers",
	"interface {}": "anything", "unknown": "anything", "string": "a text", "int": "a whole number",
	"uint8": "a byte", "float64": "a number",
	"bool": "true or false", "nil": "nothing", "%!s(<nil>)": "nothing", "array": "a list", "": "this value",
}

var goTypes = regexp.MustCompile(`\*?\b[a-z]\w*\.[A-Z]\w*|func\(.*|map\[string\]interface \{\}|\[\]interface \{\}|\[\](?:string|int)\b|interface \{\}|%!s\(<nil>\)|` +
	`\b(?:unknown|string|int|uint8|float64|bool|nil|array|struct)\b`)

// plainTypes translates Go types.
func plainTypes(types string) string {
	return goTypes.ReplaceAllStringFunc(types,
		func(t string) string { return cmp.Or(typeWords[t], typeWords[""]) })
}

// PlainMessage returns the message of an error of expr without its excerpt and without Go types.
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
	for _, form := range rewordings {
		m := form.find.FindStringSubmatch(msg)
		if m == nil {
			continue
		}
		var groups []string
		for i, name := range form.find.SubexpNames() {
			if name == "" {
				groups = append(groups, "$"+strconv.Itoa(i), m[i])
			} else {
				groups = append(groups, "$"+name, plainTypes(m[i]))
			}
		}
		return strings.NewReplacer(groups...).Replace(form.say)
	}
	return msg
}

// unclosedLiteral returns the index, in runes, of the quote that a condition never closes.
func unclosedLiteral(source string) int {
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
