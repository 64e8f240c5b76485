package ruleset

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/vm/runtime"
)

// budget is what one evaluation of a condition may still cost, in units of about a
// nanosecond at worst. expr cannot be stopped from outside, so whatever grows with a
// text or a list is done by functions that take from the budget first.
type budget struct{ left int }

const (
	fullBudget  = 100_000_000
	perStep     = 1000 // of a loop
	perElement  = 20   // of a list that is compared
	perSearched = 1    // byte that contains looks at; long texts are looked for more slowly
	perLong     = 4
	perCopied   = 12 // byte that a function reads or makes
	perMatched  = 7  // byte and instruction of a pattern (BenchmarkPatternSize)
	anyPattern  = 16 // instructions, even of the smallest pattern
	shortText   = 63 // bytes
)

var errCostly = errors.New("the condition takes too much time; look at a part of the text, such as text[:4000]")

func (b *budget) spend(n int) error {
	if b.left -= n; b.left < 0 {
		return errCostly
	}
	return nil
}

// charged are the builtins that read or make texts.
var charged = []string{"len", "lower", "upper", "trim", "indexOf", "int", "float", "string"}

// install replaces the charged builtins, and adds the functions that do the work of
// operators. Those have a blank in their names, so no condition can call them.
func (b *budget) install(c *conf.Config) {
	for _, name := range charged {
		c.Functions[name] = b.charging(*builtin.Builtins[builtin.Index[name]])
	}
	for name, f := range map[string]func(x, y any) (any, error){
		"a contains": b.contains, "a match": b.match, "an in": b.in, "an ==": b.equal,
	} {
		c.Functions[name] = &builtin.Function{
			Name: name, Types: []reflect.Type{reflect.TypeFor[func(any, any) bool]()},
			Func: func(args ...any) (any, error) { return f(args[0], args[1]) },
		}
	}
	c.Functions["a step"] = &builtin.Function{
		Name: "a step", Types: []reflect.Type{reflect.TypeFor[func(bool) bool]()},
		Func: func(args ...any) (any, error) { return args[0], b.spend(perStep) },
	}
	c.Functions[ourSplit] = &builtin.Function{
		Name: ourSplit, Types: []reflect.Type{reflect.TypeFor[func(string, string) []string]()},
		Func: b.split,
	}
}

// charging is a builtin that pays for the texts it takes and gives.
func (b *budget) charging(f builtin.Function) *builtin.Function {
	fast, slow := f.Fast, f.Func
	f.Fast = nil
	f.Func = func(args ...any) (out any, err error) {
		if err := b.spend(held(args[0]) * perCopied); err != nil {
			return nil, err
		}
		if fast != nil {
			out = fast(args[0])
		} else if out, err = slow(args...); err != nil {
			return nil, err
		}
		return out, b.spend(held(out) * perCopied)
	}
	return &f
}

// held is how much text a value holds, lists of texts included.
func held(v any) (n int) {
	switch v := v.(type) {
	case string:
		return len(v)
	case []string:
		for _, s := range v {
			n += len(s)
		}
	}
	return n
}

func (b *budget) contains(x, y any) (any, error) {
	s, ok1 := x.(string)
	part, ok2 := y.(string)
	if !ok1 || !ok2 {
		return nil, errors.New("contains looks for a text in a text")
	}
	per := perSearched
	if len(part) > shortText {
		per = perLong
	}
	if err := b.spend(len(s) * per); err != nil {
		return nil, err
	}
	return strings.Contains(s, part), nil
}

// steps is a regular expression with the number of its instructions.
type steps struct {
	*regexp.Regexp
	n int
}

func (b *budget) match(x, y any) (any, error) {
	s, ok := x.(string)
	re := y.(steps)
	if !ok {
		return nil, errors.New("matches looks at a text")
	}
	if err := b.spend(len(s) * (re.n + anyPattern) * perMatched); err != nil {
		return nil, err
	}
	return re.MatchString(s), nil
}

func (b *budget) in(x, list any) (any, error) {
	if err := b.spend(elements(list) * perElement); err != nil {
		return nil, err
	}
	texts, ok1 := list.([]string)
	s, ok2 := x.(string)
	if ok1 && ok2 {
		return slices.Contains(texts, s), nil
	}
	return runtime.In(x, list), nil
}

func (b *budget) equal(x, y any) (any, error) {
	if err := b.spend(elements(x) * perElement); err != nil {
		return nil, err
	}
	return runtime.Equal(x, y), nil
}

func elements(v any) int {
	if list := reflect.ValueOf(v); list.Kind() == reflect.Slice {
		return list.Len()
	}
	return 1
}

// split is strings.Split with an end: loops over its parts stay short.
func (b *budget) split(args ...any) (any, error) {
	s, sep := args[0].(string), args[1].(string)
	if err := b.spend(len(s) * perLong); err != nil {
		return nil, err
	}
	parts := strings.SplitN(s, sep, maxParts+1)
	if len(parts) > maxParts {
		return nil, fmt.Errorf("split gives more than %d parts", maxParts)
	}
	return parts, nil
}
