package rulefile

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
)

// Each edit changes the lines that it must, and no other byte.
func TestSetYAML(t *testing.T) {
	model := jsonc.Make("name", "gpt-oss", "apiBase", "http://127.0.0.1:8001/v1", "capabilities",
		jsonc.Strings("tool_use"))
	for _, c := range []struct {
		name, text string
		value      any
		path, want string
	}{
		{"an empty text", "", "gpt-oss", "a", "a: gpt-oss\n"},
		{"comments alone", "# mine\n", "gpt-oss", "a.b", "# mine\na:\n  b: gpt-oss\n"},
		{"a plain text", "a: old # why\nb: 1\n", "new", "a", "a: new # why\nb: 1\n"},
		{"in double quotes", "a: \"o\\\"ld\" # why\n", "new", "a", "a: \"new\" # why\n"},
		{"in single quotes", "a: 'it''s' # why\n", "new", "a", "a: 'new' # why\n"},
		{"an empty one in quotes", "a: '' # why\n", "new", "a", "a: 'new' # why\n"},
		{"over two lines", "a: old\n  and more\nb: 1\n", "new", "a", "a: new\nb: 1\n"},
		{"a number", "a: 5 # why\n", 7, "a", "a: 7 # why\n"},
		{"the same", "a: 'x'\n", "x", "a", "a: 'x'\n"},
		{"a text that looks like a number", "a: 5\n", "7", "a", "a: \"7\"\n"},
		{"a key more", "a: 1\n\n# the end\n", 2, "b", "a: 1\nb: 2\n\n# the end\n"},
		{"without a line break at the end", "a: 1", 2, "b", "a: 1\nb: 2"},
		{"behind a nested one", "a:\n  x: 1\n  y:\n  - 1\n# c\nb: 2\n", 3, "a.z", "a:\n  x: 1\n  y:\n  - 1\n  z: 3\n# c\nb: 2\n"},
		{"behind a block", "a: |\n  # text\n\n  more\nb: 1\n", 2, "c.d", "a: |\n  # text\n\n  more\nb: 1\nc:\n  d: 2\n"},
		{"behind brackets over lines", "b: 1\na: [1,\n  2]\n", 2, "c", "b: 1\na: [1,\n  2]\nc: 2\n"},
		{"a key without a value", "a:\nb: 1\n", 2, "a", "a: 2\nb: 1\n"},
		{"with a comment behind it", "a: # why\nb: 1\n", 2, "a.x", "a: # why\n  x: 2\nb: 1\n"},
		{"null", "a: null # why\n", 2, "a", "a: 2 # why\n"},
		{"in braces", "a: {x: 1, y: [1, 2]} # why\n", "z, z", "a.z", "a: {x: 1, y: [1, 2], z: \"z, z\"} # why\n"},
		{"a text that YAML would take for a comment", "", "x # y", "a", "a: 'x # y'\n"},
		{"in empty braces", "a: {} # why\n", 1, "a.z", "a: {z: 1} # why\n"},
		{"in an empty list", "a: [] # why\n", model, "a.0", "a: [{name: gpt-oss, apiBase: http://127.0.0.1:8001/v1, capabilities: [tool_use]}] # why\n"},
		{"an item more", "models:\n  - name: x # mine\n    roles:\n      - chat\n\nb: 1\n", model, "models.1",
			"models:\n  - name: x # mine\n    roles:\n      - chat\n  - name: gpt-oss\n    apiBase: http://127.0.0.1:8001/v1\n    capabilities: [tool_use]\n\nb: 1\n"},
		{"at the indent of its key", "models:\n- name: x\n  r: [1]\nb: 1\n", model, "models.1",
			"models:\n- name: x\n  r: [1]\n- name: gpt-oss\n  apiBase: http://127.0.0.1:8001/v1\n  capabilities: [tool_use]\nb: 1\n"},
		{"a list of its own", "b: 1\n", jsonc.List{model}, "models", "b: 1\nmodels:\n  - name: gpt-oss\n    apiBase: http://127.0.0.1:8001/v1\n    capabilities: [tool_use]\n"},
		{"in an item", "models:\n  - name: x\n    apiBase: y\n  - name: z\n", "q", "models.0.r", "models:\n  - name: x\n    apiBase: y\n    r: q\n  - name: z\n"},
		{"behind a rune of several bytes", "ä: 'ö' # ü\nb: {ä: ö, x: 1}\n", 2, "b.x", "ä: 'ö' # ü\nb: {ä: ö, x: 2}\n"},
	} {
		for _, newline := range []string{"\n", "\r\n"} {
			at := func(s string) string { return strings.ReplaceAll(s, "\n", newline) }
			if newline == "\r\n" && !strings.Contains(c.text, "\n") {
				continue
			}
			got, err := SetYAML([]byte(at(c.text)), c.value, strings.Split(c.path, ".")...)
			if err != nil || string(got) != at(c.want) {
				t.Errorf("%s: %v\n%q, want\n%q", c.name, err, got, at(c.want))
			}
			again, err := SetYAML(got, c.value, strings.Split(c.path, ".")...)
			if _, isList := c.value.(jsonc.List); err != nil || string(again) != string(got) && !isList {
				t.Errorf("%s, once more: %v\n%q", c.name, err, again)
			}
		}
	}
}

// What cannot be set is refused with its place, and so is a text that cannot be read.
func TestSetYAMLRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"a: x\n":                "1:4: a is x, and must hold more values here",
		"b: &x {z: 1}\na: *x\n": "2:4: a is *x, and must hold more values here",
		"a: {b: [1]}\n":         "1:8: a.b is a list, and is to be set to something else; change it by hand",
		"a:\n  b: |\n   x\n":    "2:6: a.b is ",
		"a: [1\nb: 2\n":         "1:",
		"a: 1\na: 2\n":          "2:1: a stands here twice",
		"a: 1\n---\nb: 1\n":     "2:1: a second document begins with ---",
	} {
		got, err := SetYAML([]byte(text), "v", "a", "b")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, %q, want %s", text, err, got, want)
		}
	}
}
