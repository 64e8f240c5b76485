package turn

import (
	"math"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// exact refuses calls with a number that the server has rounded, before judge is asked; judge may be nil. The
// model is told to write the number in quotes: it is kept then, and becomes a number where the schema wants
// one.
func (t *Turn) exact(judge func(*tools.Call) *tools.Refusal) func(*tools.Call) *tools.Refusal {
	if !t.srv.RoundsIntegers {
		return judge
	}
	return func(c *tools.Call) *tools.Refusal {
		if n := rounded(gjson.ParseBytes(c.Arguments)); n != "" {
			why := "the model server keeps no more than 15 digits of an integer, and made " + n + " of one"
			return &tools.Refusal{Code: tools.BadSchema, Name: c.Name, Text: string(c.Arguments),
				Why: why + ": write it in quotes", Person: why}
		}
		if judge == nil {
			return nil
		}
		return judge(c)
	}
}

// maxExact is the largest integer up to which a float64 has all of them.
const maxExact = 1 << 53

// rounded is the first integer of a value that looks as a program writes a float64 which may have been
// another integer.
func rounded(v gjson.Result) (n string) {
	switch {
	case v.IsObject(), v.IsArray():
		v.ForEach(func(_, inner gjson.Result) bool {
			n = rounded(inner)
			return n == ""
		})
	case v.Type == gjson.Number && math.Abs(v.Num) > maxExact && v.Num == math.Trunc(v.Num):
		long := len(v.Raw) > len("1.23456789012345e+21") // else the model wrote it so
		if v.Raw == strconv.FormatFloat(v.Num, 'f', -1, 64) ||
			long && v.Raw == strconv.FormatFloat(v.Num, 'e', -1, 64) {
			return v.Raw
		}
	}
	return n
}
