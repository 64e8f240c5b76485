package cond

import (
	"reflect"
	"testing"

	"github.com/expr-lang/expr"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

type command struct {
	Binary string   `expr:"binary"`
	Tags   []string `expr:"tags"`
	Known  bool     `expr:"known"`
}

type situation struct {
	Cmd      *command `expr:"cmd"`
	Tool     string   `expr:"tool"`
	Confined bool     `expr:"confined"`
}

// What is told without expr is what expr says; the rest is open.
func TestPlain(t *testing.T) {
	words := Lists{"everyday": {"ls", "cat"}}
	some := situation{Cmd: &command{"ls", []string{"publish"}, true}, Tool: "exec"}
	none := situation{Cmd: &command{Binary: "rm"}, Confined: true}
	for _, c := range []struct {
		condition  string
		some, none verdict
	}{
		{`cmd.known`, yes, no},
		{`not confined`, yes, no},
		{`tool == 'exec'`, yes, no},
		{`tool != 'exec'`, no, yes},
		{`cmd.binary startsWith 'l'`, yes, no},
		{`cmd.binary in ['a', 'ls']`, yes, no},
		{`cmd.binary in everyday`, yes, no},
		{`cmd.binary not in everyday`, no, yes},
		{`'publish' in cmd.tags`, yes, no},
		{`len(cmd.tags) > 0`, yes, no},
		{`any(cmd.tags, # == 'x')`, unknown, no},
		{`all(cmd.tags, # == 'x')`, unknown, yes},
		{`none(cmd.tags, # == 'x')`, unknown, yes},
		{`'publish' in cmd.tags and not confined`, yes, no},
		{`'publish' in cmd.tags && len(tool) == 4`, unknown, no},
		{`len(tool) == 4 and 'publish' in cmd.tags`, unknown, unknown},
		{`'publish' in cmd.tags or len(tool) == 4`, yes, unknown},
		{`not ('publish' in cmd.tags or cmd.binary == 'rm')`, no, no},
		{`tool matches '^e'`, unknown, unknown},
		{`tool == cmd.binary`, unknown, unknown},
	} {
		text := rulefile.Text{Value: c.condition}
		run, problem := compile[situation](text, words, expr.AsBool)
		if problem != nil {
			t.Fatal(c.condition, problem)
		}
		known := plain(c.condition, reflect.TypeFor[situation](), words)
		for env, want := range map[*situation]verdict{&some: c.some, &none: c.none} {
			got := unknown
			if known != nil {
				got = known(reflect.ValueOf(env).Elem())
			}
			if got != want {
				t.Errorf("%s: %d, want %d", c.condition, got, want)
			}
			if out, err := run(env); err != nil || got != unknown && out != (got == yes) {
				t.Errorf("%s: expr says %v, %v", c.condition, out, err)
			}
		}
	}
	nothing := situation{}
	if v := plain(`cmd.known`, reflect.TypeFor[situation](), nil)(reflect.ValueOf(nothing)); v != unknown {
		t.Error("a pointer to nothing is not open")
	}
}
