package jsonrepair

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A comment at any place between the tokens of an object changes no value of it: the value
// comes back, or the result is unsure, cut or an error.
func TestCommentsAtEveryPlace(t *testing.T) {
	values := []string{`"ls -la"`, `"#fff"`, `"a // b"`, `"https://a.example/#b"`, `"say \"x\" # y"`,
		`"/* c */"`, `12`, `true`, `["a","b"]`, `ls -la`}
	comments := []string{" # all of it\n", " #all\n", " # \"quoted\"\n", " // why\n", " /* why */ ",
		" # it's {\n", "# x\n", " # to the end"}
	same, all := 0, 0
	for _, v := range values {
		meant := fmt.Sprintf(`{"a":%s,"b":"x"}`, v)
		if !json.Valid([]byte(meant)) {
			meant = fmt.Sprintf(`{"a":"%s","b":"x"}`, v)
		}
		tokens := []string{"{", `"a"`, ":", v, ",", `"b"`, ":", `"x"`, "}"}
		for _, c := range comments {
			for at := 1; at < len(tokens); at++ {
				text := strings.Join(tokens[:at], "") + c + strings.Join(tokens[at:], "")
				got, err := Repair(text, 0)
				all++
				switch {
				case err == nil && sameJSON(t, got.JSON, []byte(meant)):
					same++
				case err == nil && !got.Unsure && got.Cut < Unquoted:
					t.Errorf("%q\n gives %s\n want  %s", text, got.JSON, meant)
				}
			}
		}
	}
	t.Logf("%d of %d are read", same, all)
	if same*2 < all {
		t.Errorf("only %d of %d are read", same, all)
	}
}
