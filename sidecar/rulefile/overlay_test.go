package rulefile

import (
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

const overlaid = `version: 1
size: {reply: 1, text: 2}
strategies:
  - {id: react, priority: 70, when: a}
  - {id: markers, priority: 60}
results:
  - {tool: web_search, chars: 3000, hint: Read on.}
models: [{id: gpt-4.1}]
weights: [{id: quoted, weight: 1}]
`

// What an overlay says stands in front of the file; all else stays.
func TestOverlay(t *testing.T) {
	for _, row := range []struct {
		about string
		set   [][2]any
		want  string
		wrong string
	}{
		{"a key below a key", [][2]any{{"size.reply", 9}}, "size:\n    reply: 9\n", ""},
		{"a key that the file lacks", [][2]any{{"size.depth", 9}}, "size:\n    depth: 9\n", ""},
		{"an item, by its list", [][2]any{{"strategies.react.priority", 9}}, "strategies:\n    - id: react\n      priority: 9\n", ""},
		{"an item, alone", [][2]any{{"markers.priority", 9}, {"markers.when", "b"}}, "strategies:\n    - id: markers\n      priority: 9\n      when: b\n", ""},
		{"an item without id stands in front", [][2]any{{"web_search.chars", 9}, {"results.other.chars", 8}}, "results:\n    - chars: 9\n      tool: web_search\n    - chars: 8\n      tool: other\n", ""},
		{"another item", [][2]any{{"weights.quoted.weight", 9}}, "weights:\n    - id: quoted\n      weight: 9\n", ""},
		{"no such item", [][2]any{{"weights.told.weight", 9}}, "", "there is no told in weights"},
		{"an item with a dot in its name", [][2]any{{"models.gpt-4.1.prompt", "p"}}, "models:\n    - id: gpt-4.1\n      prompt: p\n", ""},
		{"no such item", [][2]any{{"strategies.reakt.priority", 9}}, "", "there is no reakt in strategies"},
		{"nothing of that name", [][2]any{{"markrs.priority", 9}}, "", "x.yaml has no markrs; did you mean markers?"},
		{"a list", [][2]any{{"strategies.react", 9}}, "", "strategies is a list: name an item of it, and a key of that"},
		{"below a value", [][2]any{{"size.reply.more", 9}}, "", "size.reply has nothing below it"},
		{"twice", [][2]any{{"size.reply", 9}, {"size.reply", 8}}, "", "size.reply is set twice"},
		{"a part, and then the whole", [][2]any{{"size.more.a", 1}, {"size.more", map[string]any{"b": 2}}}, "size:\n    more:\n        a: 1\n        b: 2\n", ""},
		{"the whole, and then a part", [][2]any{{"size.more", map[string]any{"b": 2}}, {"size.more.a", 1}}, "size:\n    more:\n        a: 1\n        b: 2\n", ""},
		{"a part, and the whole says another", [][2]any{{"size.more.a", 1}, {"size.more", map[string]any{"a": 2}}}, "", "size.more.a is set twice"},
		{"the whole, and the part again", [][2]any{{"size.more", map[string]any{"a": 2}}, {"size.more.a", 1}}, "", "size.more.a is set twice"},
		{"a part, and a whole that is none", [][2]any{{"size.more.a", 1}, {"size.more", 3}}, "", "size.more is set twice"},
		{"a value, and something below it", [][2]any{{"more.a", 9}}, "", "x.yaml has no more"},
	} {
		tree := ReadTree(Files{"x.yaml": overlaid}, "x.yaml", Shape{})
		over := tree.Over()
		var err error
		for _, s := range row.set {
			if err == nil {
				err = over.Set(s[0].(string), s[1])
			}
		}
		got, _ := over.Text()
		switch {
		case row.wrong != "":
			if err == nil || !strings.HasPrefix(err.Error(), row.wrong) {
				t.Errorf("%s: %v", row.about, err)
			}
		case err != nil || got != "version: 1\n"+row.want:
			t.Errorf("%s: %v\n%s", row.about, err, got)
		}
	}
}

// Each text that is said is the text that is read.
func TestOverlayTexts(t *testing.T) {
	for _, want := range []string{"\na", "\n\n  a\n", "  a\nb", " ", "\ta\n", "a\r\nb", "a\nb\n", "\u2028", "null", "1e3", "? a", "<<"} {
		over := ReadTree(Files{"x.yaml": overlaid}, "x.yaml", Shape{}).Over()
		for path, value := range map[string]any{"size.text": want, "size.list": []any{want, "x"}, "react.when": want} {
			if err := over.Set(path, value); err != nil {
				t.Fatal(err)
			}
		}
		doc, err := over.Text()
		var got struct {
			Size struct {
				Text string
				List []string
			}
			Strategies []struct{ When string }
		}
		if err == nil {
			err = yaml.Unmarshal([]byte(doc), &got)
		}
		if err != nil || got.Size.Text != want || !slices.Equal(got.Size.List, []string{want, "x"}) ||
			got.Strategies[0].When != want {
			t.Errorf("%q: %v\n%s", want, err, doc)
		}
	}
}

// An arm stands in front of the file and of its layers, the operator's extra files too.
func TestArmLayer(t *testing.T) {
	files := Files{"x.yaml": overlaid,
		"extra/x.ours.yaml": "version: 1\nsize: {reply: 5}\nstrategies: [{id: react, when: ours}]\n"}
	over := ReadTree(files, "x.yaml", Shape{}).Over()
	if err := over.Set("size.reply", 9); err != nil {
		t.Fatal(err)
	}
	if err := over.Set("react.priority", 1); err != nil {
		t.Fatal(err)
	}
	files[ArmFolder+"/x.yaml"], _ = over.Text()
	got, problems := merged(t, files, "x.yaml")
	for _, want := range []string{"reply:9", "text:2", "when:ours", "priority:1"} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %s:\n%s", want, got)
		}
	}
	if len(problems) > 0 {
		t.Error(problems)
	}
}
