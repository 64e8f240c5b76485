package tools

import (
	"fmt"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/tools/args"
)

// testRules are rules as an operator would write them. Every entry stands on a
// line of its own, which its Place names.
func testRules() *Rules {
	line := 0
	place := func() string { line++; return fmt.Sprintf("rules.yaml:%d", line) }
	list := func(text string) (out []Word) {
		for _, w := range strings.Fields(text) {
			out = append(out, Word{w, place()})
		}
		return out
	}
	group := func(names string) Group { return Group{Names: list(names)} }
	param := func(tool, name, from string) ParamAlias {
		return ParamAlias{tool, name, strings.Fields(from), place()}
	}
	text := func(tool, names string) TextParam { return TextParam{tool, strings.Fields(names), place()} }
	class := func(c Class, words string) ClassRule { return ClassRule{c, strings.Fields(words)} }
	return &Rules{
		Prefixes: list("functions. function. tools. default_api."),
		Glued:    list("commentary analysis json code"),
		Pseudo:   list("json response answer unknown"),
		Groups: []Group{
			group("exec shell bash sh"), group("web_fetch open_url"),
			{Names: list("web_search"), Weak: list("search")}, group("grep search code_search"),
			group("read cat open_file"), group("get_note view_note write_note"),
		},
		Params: []ParamAlias{
			param("exec", "command", "cmd shell_command commands"),
			param("exec", "workdir", "cwd dir"),
			param("", "path", "file_path filename file"),
		},
		Texts: []TextParam{text("", "code patch"), text("apply_patch", "input"), text("run_terminal_command",
			"command")},
		Classes: NewClasses(
			class(Read, "get search read list find fetch view query show ls grep glob describe status"),
			class(Write,
				"write create add set update delete remove move edit patch send save cancel del* (order) sessions_search"),
			class(Exec, "exec execute run+ spawn+ bash shell sh terminal command code python (commands)"),
			class(Agent, "agent team sessions_spawn"),
		),
	}
}

// offer makes tools without a schema.
func offer(names ...string) []Tool {
	out := make([]Tool, len(names))
	for i, n := range names {
		out[i].Name = n
	}
	return out
}

// schemaOf makes an object schema of "name:type" words; "name:type!" is required.
func schemaOf(params string) []byte {
	var props, required []string
	for _, p := range strings.Fields(params) {
		name, kind, _ := strings.Cut(p, ":")
		kind, must := strings.CutSuffix(kind, "!")
		if must {
			required = append(required, jsontext.Quote(name))
		}
		sub := `{"type":` + jsontext.Quote(kind) + `}`
		if element, ok := strings.CutPrefix(kind, "[]"); ok {
			sub = `{"type":"array","items":{"type":` + jsontext.Quote(element) + `}}`
		}
		props = append(props, jsontext.Quote(name)+":"+sub)
	}
	return []byte(`{"type":"object","properties":{` + strings.Join(props, ",") +
		`},"required":[` + strings.Join(required, ",") + `]}`)
}

// catalogOf makes a catalog of "name(param:type! …)" tools; a bare name has no schema.
func catalogOf(tools ...string) *Catalog {
	var offered []Tool
	for _, t := range tools {
		name, params, ok := strings.Cut(t, "(")
		tool := Tool{Name: name}
		if ok {
			tool.Parameters = schemaOf(strings.TrimSuffix(params, ")"))
		}
		offered = append(offered, tool)
	}
	return NewCatalog(testRules(), NewSchemas(100), offered)
}

// closed is the ending of a call that is whole.
var closed = Ending{}

// shape reads text and fits what it holds to the schema.
func (w *shaper) shape(text string) (string, *Refusal) {
	return w.read(text, func(w *shaper, r args.Reading) (string, *Refusal) { return w.fit(r.Text) })
}

// kinds lists the kinds of repairs, in order.
func kinds(repairs []Repair) string {
	var out []string
	for _, r := range repairs {
		out = append(out, r.Kind)
	}
	return strings.Join(out, " ")
}
