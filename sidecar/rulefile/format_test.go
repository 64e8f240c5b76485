package rulefile_test

import (
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// format takes for conditions what ruleset does.
func format(name, text string) (string, *rulefile.Problem) {
	return rulefile.Format(name, text, cond.Parses)
}

// shipped are the rules and prompts of this repository.
func shipped(t testing.TB) rulefile.Files {
	t.Helper()
	files, err := rulefile.Builtin(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// indentWidth is how many blanks a line begins with.
func indentWidth(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

func TestFormat(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"line ends":      {"a: 1\r\nb: 2   \n\n\n\nc: 3\t\n\n", "a: 1\nb: 2\n\nc: 3\n"},
		"mark and ends":  {"\ufeffa: 1 \r\nb: 2\r\n", "a: 1\nb: 2\n"},
		"nothing to do":  {"# x\na: 1 # y\n", "# x\na: 1 # y\n"},
		"no end":         {"a: 1", "a: 1\n"},
		"blank at start": {"\n\n# x\n\n\na: 1\n", "# x\n\na: 1\n"},
		"indent": {"a:\n    b:\n        c: 1\n    # of d  \n    d: 2\n",
			"a:\n    b:\n        c: 1\n    # of d\n    d: 2\n"},
		"list":            {"a:\n- b: 1\n\n\n-   d: 3\n    e: 4\n", "a:\n- b: 1\n\n-   d: 3\n    e: 4\n"},
		"block":           {"a:\n      b: |\n            x  \n              y\n\n\n            z\n      c: 1\n", "a:\n      b: |\n            x  \n              y\n\n\n            z\n      c: 1\n"},
		"digit":           {"a:\n    b: |2\n        x\n", "a:\n    b: |2\n        x\n"},
		"kept ends":       {"a: |+\n  x\n\n\n\nb: 1\n", "a: |+\n  x\n\n\n\nb: 1\n"},
		"kept at the end": {"a: |+\n  x\n\n\n", "a: |+\n  x\n\n\n"},
		"folded":          {"a: >-\n  x\n\n\n  y  \nb: 1  \n", "a: >-\n  x\n\n\n  y  \nb: 1\n"},
		"quoted lines": {"a: 'x   \n\n\n     # no comment  '\nb: \"y \\\n   z\"  \n",
			"a: 'x   \n\n\n     # no comment  '\nb: \"y \\\n   z\"\n"},
		"brackets": {"a:\n    b: [1,  \n        2, # two\n\n\n        3\n    ]\n",
			"a:\n    b: [1,\n        2, # two\n\n        3\n    ]\n"},
		"plain":           {"- when: a == b\n", "- when: |\n    a == b\n"},
		"comment between": {"when:\n  # why\n  a == b\n", "when:\n  # why\n  a == b\n"},
		"quoted comment":  {"when: 'a == b' # why\n", "when: | # why\n  a == b\n"},
		"quoted": {"x:\n- id: a\n  when: 'text == \"it''s\"'\n  b: 1\n",
			"x:\n- id: a\n  when: |\n    text == \"it's\"\n  b: 1\n"},
		"no condition":  {"when: 'a == b # x'\n", "when: 'a == b # x'\n"},
		"double quoted": {"when: \"a == \\\"é\\\"\"\n", "when: |\n  a == \"é\"\n"},
		"over lines":    {"when: a\n  == b\nc: 1\n", "when: |\n  a == b\nc: 1\n"},
		"comment":       {"when: a == b # why\nc: 1\n", "when: | # why\n  a == b\nc: 1\n"},
		"comment cuts":  {"when: any(tools, # == 1)\n", "when: any(tools, # == 1)\n"},
		"in brackets":   {"{when: a == b, c: 1}\n", "{when: a == b, c: 1}\n"},
		"is block":      {"when: >-\n  a\n  == b\n", "when: >-\n  a\n  == b\n"},
		"control":       {"when: \"a == \\\"\\x01\\\"\"\n", "when: \"a == \\\"\\x01\\\"\"\n"},
		"wide":          {"日本:\n  - when: 'é == b' # ü   \n", "日本:\n  - when: | # ü\n      é == b\n"},
	} {
		got, p := format("a.yaml", c.in)
		if got != c.want || p != nil {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, p, got, c.want)
		}
		if again, _ := format("a.yaml", got); again != got {
			t.Errorf("%s: formatted twice it is\n%s", name, again)
		}
	}
}

func TestFormatRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"":                "a.yaml: this file is empty",
		"a: [1\n":         "a.yaml:1:4: YAML cannot read",
		"a: 1\n---\nb: 2": "a.yaml:2:1: a second document",
		"a: \xff":         "a.yaml:1:4: this is not text",
	} {
		got, p := format("a.yaml", in)
		if got != in || p == nil || !strings.HasPrefix(p.Error(), want) {
			t.Errorf("%q: %q, %v", in, got, p)
		}
	}
}

// TestShippedRulesAreFormatted: nobody who runs fmt over our rules sees a change.
func TestShippedRulesAreFormatted(t *testing.T) {
	for name, text := range shipped(t) {
		if got, p := format(name, text); strings.HasSuffix(name, ".yaml") && (p != nil || got != text) {
			t.Errorf("%s is not formatted: %v", name, p)
		}
	}
}

// checkFormat formats a text, and fails where that changes what it says, or does
// not settle.
func checkFormat(t *testing.T, text string) (changed bool) {
	t.Helper()
	got, p := format("a.yaml", text)
	if p != nil {
		if got != text {
			t.Fatalf("refused and changed: %v\n%s", p, got)
		}
		return false
	}
	var a, b any
	if err := yaml.Unmarshal([]byte(text), &a); err == nil { // keys may stand twice
		if err := yaml.Unmarshal([]byte(got), &b); err != nil {
			t.Fatalf("%v in\n%s\nof\n%s", err, got, text)
		}
		if x, y := trimmed(a), trimmed(b); x != y {
			t.Fatalf("says something else:\n%s\nof\n%s\n%s\n%s", got, text, x, y)
		}
	}
	if strings.Count(text, "#") != strings.Count(got, "#") {
		t.Fatalf("a comment is lost:\n%s\nof\n%s", got, text)
	}
	if again, p := format("a.yaml", got); again != got || p != nil {
		t.Fatalf("does not settle (%v):\n%s\nthen\n%s\nof\n%s", p, got, again, text)
	}
	return got != text
}

// plain is a value as text, without the blanks around conditions.
func trimmed(v any) string {
	if m, ok := v.(map[string]any); ok {
		if s, ok := m["when"].(string); ok {
			m["when"] = strings.TrimSpace(s)
		}
		for k := range m {
			m[k] = trimmed(m[k])
		}
	}
	if list, ok := v.([]any); ok {
		for i := range list {
			list[i] = trimmed(list[i])
		}
	}
	out, _ := yaml.Marshal(v)
	return string(out)
}

// TestFormatMutated formats the shipped files with blanks, indents and line breaks
// setMember in at random.
func TestFormatMutated(t *testing.T) {
	rounds := 600
	if testing.Short() {
		rounds = 200
	}
	rng := rand.New(rand.NewPCG(9, 10))
	bits := []string{" ", "  ", "\n", "\n\n\n", "\t", " # x", "\n# y\n", "\n      # z\n", "\r\n", "|", ">",
		"'", "\"", "-", "- ", ": ", "when: a == b\n", ">+\n", "|2\n", "# "}
	files := shipped(t)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(files)),
		func(name string) bool { return strings.Contains(name, "/") })
	formatted := 0
	for i := range rounds {
		text := files[names[i%len(names)]]
		items := beginnings(text)
		text = text[items[rng.IntN(len(items))]:]
		text = text[:rng.IntN(min(len(text), 3000))]
		if rng.IntN(2) == 0 {
			text = deeper(rng, text)
		}
		for range rng.IntN(6) {
			at := rng.IntN(len(text) + 1)
			text = text[:at] + bits[rng.IntN(len(bits))] + text[at:]
		}
		if checkFormat(t, text) {
			formatted++
		}
	}
	t.Logf("%d of %d were changed", formatted, rounds)
	if formatted < rounds/10 {
		t.Error("too few")
	}
}

// beginnings are where a mapping or an item of a list begins that a file can begin with.
func beginnings(text string) (out []int) {
	at := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  - ") || indentWidth(line) == 0 && len(line) > 1 {
			out = append(out, at)
		}
		at += len(line)
	}
	return out
}

// deeper indents by more, and some lines not.
func deeper(rng *rand.Rand, text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if n := indentWidth(l); rng.IntN(200) > 0 {
			lines[i] = strings.Repeat(" ", 2*n) + l[n:]
		}
	}
	return strings.Join(lines, "\n")
}

func FuzzFormat(f *testing.F) {
	for _, s := range []string{"a:\n- b: |\n    x\n", "when: a\n  == b # c\n", "a: |+\n  x\n\n\n",
		"? a\n: b\n", "a: &x 'b'\nc: !!str d\n", "a: [b,\n c]\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 1000 { // yaml.v3 takes long for long nonsense
			checkFormat(t, text)
		}
	})
}
