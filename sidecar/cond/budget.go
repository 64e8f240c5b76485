package cond

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
	perWritten  = 1000 // entry of a list or mapping that is made a text
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

// charged are the builtins that read or make texts, or go through lists.
var charged = []string{"len", "lower", "upper", "trim", "indexOf", "int", "float", "string", "min", "max", "keys", "values"}

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
		for _, arg := range args {
			if _, isText := arg.(string); f.Name == "len" && !isText {
				continue // lists know how long they are
			}
			if err := b.weigh(arg, perCopied, perWritten); err != nil {
				return nil, err
			}
		}
		if fast != nil {
			out = fast(args[0])
		} else if out, err = slow(args...); err != nil {
			return nil, err
		}
		return out, b.weigh(out, perCopied, perElement)
	}
	return &f
}

// weigh pays for all that a value holds: for each byte of its texts, and for each
// entry of its lists and mappings. It stops where the budget does.
func (b *budget) weigh(v any, perByte, perEntry int) error {
	switch v := v.(type) {
	case string:
		return b.spend(len(v) * perByte)
	case []string:
		for _, s := range v {
			if err := b.spend(perEntry + len(s)*perByte); err != nil {
				return err
			}
		}
	case []any:
		for _, e := range v {
			if err := b.pay(perEntry, e, perByte, perEntry); err != nil {
				return err
			}
		}
	case map[string]any:
		for k, e := range v {
			if err := b.pay(perEntry+len(k)*perByte, e, perByte, perEntry); err != nil {
				return err
			}
		}
	}
	return nil
}

// pay is spend, and then weigh.
func (b *budget) pay(n int, v any, perByte, perEntry int) error {
	if err := b.spend(n); err != nil {
		return err
	}
	return b.weigh(v, perByte, perEntry)
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
	texts, ok1 := list.([]string)
	s, ok2 := x.(string)
	if ok1 && ok2 {
		return slices.Contains(texts, s), b.spend(len(texts) * perElement)
	}
	if err := b.weigh(list, perSearched, perElement); err != nil {
		return nil, err
	}
	for range elements(list) { // each is compared with all of x
		if err := b.pay(perElement, x, perSearched, perElement); err != nil {
			return nil, err
		}
	}
	return runtime.In(x, list), nil
}

func (b *budget) equal(x, y any) (any, error) {
	if err := b.weigh(x, perSearched, perElement); err != nil {
		return nil, err
	}
	if err := b.weigh(y, perSearched, perElement); err != nil {
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
