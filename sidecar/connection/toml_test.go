package connection

import (
	"strings"
	"testing"
)

// Each edit changes the lines that it must, and no other byte.
func TestSetTOML(t *testing.T) {
	for _, c := range []struct {
		name, text string
		value      any
		path, want string
	}{
		{"an empty text", "", "gpt-oss", "model", "model = \"gpt-oss\"\n"},
		{"comments alone", "# mine\n", "x", "a", "# mine\na = \"x\"\n"},
		{"a table in an empty text", "", "x", "a.b.c", "[a.b]\nc = \"x\"\n"},
		{"a value", "a = \"o\\\"ld\" # why\nb = 1\n", "new", "a", "a = \"new\" # why\nb = 1\n"},
		{"in single quotes", "a = 'old'# why\n", "new", "a", "a = \"new\"# why\n"},
		{"over lines", "a = '''x\ny'''\nb = 1\n", "new", "a", "a = \"new\"\nb = 1\n"},
		{"a list", "a = [ 1, # one\n 2,\n] # why\nb = 1\n", 7, "a", "a = 7 # why\nb = 1\n"},
		{"a number", "a = 131_072\n", 131072, "a", "a = 131_072\n"},
		{"behind the last key at the top", "a = [\n 1,\n] # list\n\n# of t\n[t]\nx = 1\n", true, "b", "a = [\n 1,\n] # list\nb = true\n\n# of t\n[t]\nx = 1\n"},
		{"at the top, above a table and its comment", "# file\n\n# of t\n[t]\nx = 1\n", 2, "b", "# file\n\nb = 2\n\n# of t\n[t]\nx = 1\n"},
		{"in a table", "[a]\nx = 1 # one\n\n[b]\ny = 1\n", 2, "a.z", "[a]\nx = 1 # one\nz = 2\n\n[b]\ny = 1\n"},
		{"in a table that is empty", "[a] # head\n[b]\n", 2, "a.z", "[a] # head\nz = 2\n[b]\n"},
		{"in a table with an indent", "[a]\n  x = 1\n", 2, "a.z", "[a]\n  x = 1\n  z = 2\n"},
		{"beside other tables", "[a.x]\nk = 1\n[[a.l]]\nk = 2", "v", "a.y.k", "[a.x]\nk = 1\n[[a.l]]\nk = 2\n\n[a.y]\nk = \"v\"\n"},
		{"a value in a table", "[a.\"x y\"]\nk = 1\n[b]\nk = 1\n", 2, "a.x y.k", "[a.\"x y\"]\nk = 2\n[b]\nk = 1\n"},
		{"a dotted key", "a.x.k = 1\nb = 2\n", 3, "a.x.l", "a.x.k = 1\na.x.l = 3\nb = 2\n"},
		{"a dotted key in a table", "[a]\nx.k = 1\n\n[c]\n", 3, "a.x.l", "[a]\nx.k = 1\nx.l = 3\n\n[c]\n"},
		{"in braces", "a = { x = { k = 1 } } # why\n", "v", "a.y.k", "a = { x = { k = 1 }, y = { k = \"v\" } } # why\n"},
		{"in inner braces", "a = {x={k = 1}}\n", 2, "a.x.l", "a = {x={k = 1, l = 2 }}\n"},
		{"in empty braces", "a = {}\n", 2, "a.x", "a = { x = 2 }\n"},
		{"a value in braces", "a = { x = 1, y = 2 }\n", 3, "a.x", "a = { x = 3, y = 2 }\n"},
		{"a key that needs quotes", "", "v\x7f\n", "a b.c.d", "[\"a b\".c]\nd = \"v\\u007f\\n\"\n"},
	} {
		for _, newline := range []string{"\n", "\r\n"} {
			at := func(s string) string { return strings.ReplaceAll(s, "\n", newline) }
			if newline == "\r\n" && !strings.Contains(c.text, "\n") {
				continue
			}
			got, err := setTOML([]byte(at(c.text)), c.value, strings.Split(c.path, ".")...)
			if err != nil || string(got) != at(c.want) {
				t.Errorf("%s: %v\n%q, want\n%q", c.name, err, got, at(c.want))
			}
			if again, err := setTOML(got, c.value, strings.Split(c.path, ".")...); err != nil ||
				string(again) != string(got) {
				t.Errorf("%s, once more: %v\n%q", c.name, err, again)
			}
		}
	}
}

// What cannot be set is refused with its place, and so is a text that cannot be read.
func TestSetTOMLRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"x = 1\na = 2\n":      "2:5: a is a number, and is to be set to something else; change it by hand",
		"[[a]]\nb = 1\n":      "1:1: a is a list, and is",
		"a = { b = { } }\n":   "1:11: a.b is an object, and is",
		"a = 1\na = 2\n":      "2:1: ",
		"x = 1\nb = \n":       "2:5: ",
		"[a]\n[a]\n":          "2:",
		"a = \"not closed\n ": "1:",
	} {
		got, err := setTOML([]byte(text), "v", "a", "b")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, %q, want %s", text, err, got, want)
		}
	}
}
