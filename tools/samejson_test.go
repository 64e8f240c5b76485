package tools

import "testing"

func TestSameJSON(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a": 1, "b": [2, "x"]}`, `{"b":[2,"x"],"a":1}`, true},
		{`{"n": 12345678901234567890}`, `{"n": 12345678901234567891}`, false},
		{`1.50`, `1.5`, true},
		{`1e2`, `100`, true},
		{`1`, `"1"`, false},
		{`[1, 2]`, `[2, 1]`, false},
		{`null`, `false`, false},
		{`{"a": null}`, `{}`, false},
		{`1 2`, `1 3`, false},
		{`{"a": 1} x`, `{"a":1}`, false},
		{`{`, `{`, true},
		{`{`, `{ `, false},
	} {
		if got := SameJSON([]byte(c.a), []byte(c.b)); got != c.same {
			t.Errorf("%s and %s: same is %v", c.a, c.b, got)
		}
	}
}
