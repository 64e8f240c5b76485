package rulefile

import "testing"

// What a file says in a word is said anew where it stands; all else is left to say.
func TestAmend(t *testing.T) {
	for _, row := range []struct{ file, over, amended, rest string }{
		{"version: 1\nlist:\n  - id: one # mine\n    plain: 'no' # why\n", "version: 1\nlist:\n  - id: one\n    plain: maybe\n", "version: 1\nlist:\n  - id: one # mine\n    plain: maybe # why\n", ""},
		{"version: 1\nlist: [{id: \"ö\", a: 1, b: x}]", "version: 1\nlist:\n    - id: ö\n      a: 20\n      b: yy\n      c: 3\n", "version: 1\nlist: [{id: \"ö\", a: 20, b: yy}]", "version: 1\nlist:\n    - id: ö\n      c: 3\n"},
		{"version: 1\nlist: [{id: two, a: 1}]", "version: 1\nlist:\n    - id: one\n      a: 2\n", "", ""},
		{"version: 1\nlist: [{id: s, n: 1}, {mode: m, tool: t, n: 1}]", "version: 1\nlist:\n    - n: 2\n      id: s\n    - n: 3\n      tool: t\n", "version: 1\nlist: [{id: s, n: 2}, {mode: m, tool: t, n: 1}]", "version: 1\nlist:\n    - n: 3\n      tool: t\n"},
		{"version: 1\nmap: {a: {b: 1}}", "version: 1\nmap:\n    a:\n        b: 2\n", "version: 1\nmap: {a: {b: 2}}", ""},
		{"version: 1\na: 1", "version: 1\na:\n    b: 2\n", "", ""},
		{"version: 1\na: {b: 2}", "version: 1\na: 1\n", "", ""},
		{"version: 1\na: long\n  text", "version: 1\na: short\n", "", ""},
		{"version: 1\na: [x]", "version: 1\na: 'b, c'\n", "", ""},
		{"version: 1\na: &x 1\nb: *x", "version: 1\na: 2\n", "", ""},
		{"version: 1\nn: 1\nt: |\n  a\n  b\n", "version: 1\nn: 2\nt: \"\\na\\nb\"\n",
			"version: 1\nn: 2\nt: |\n  a\n  b\n", "version: 1\nt: \"\\na\\nb\"\n"},
		{"", "version: 1\na: 2\n", "", ""},
	} {
		amended, rest, err := Amend(row.file, row.over)
		if row.amended == "" {
			row.amended, row.rest = row.file, row.over
		}
		if err != nil || amended != row.amended || rest != row.rest {
			t.Errorf("%q, %q:\n%q\n%q %v", row.file, row.over, amended, rest, err)
		}
	}
	if _, _, err := Amend("a: [", "a: 1"); err == nil {
		t.Error("this is no YAML")
	}
}
