package demo

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shipped copies the rules of the program, with one text replaced.
func shipped(t *testing.T, file, from, to string) Config {
	t.Helper()
	dir, rules := t.TempDir(), os.DirFS("../../rules")
	names, err := fs.Glob(rules, "*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(rules, name)
		if err != nil {
			t.Fatal(err)
		}
		if name == file {
			if !bytes.Contains(text, []byte(from)) {
				t.Fatalf("%s has no %q", file, from)
			}
			text = bytes.Replace(text, []byte(from), []byte(to), 1)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Config{Dir: dir, Defaults: os.DirFS("../..")}
}

// The whole demo as a pipe sees it.
func TestRun(t *testing.T) {
	cfg := shipped(t, "", "", "")
	var out bytes.Buffer
	cfg.Out = &out
	ok, err := Run(t.Context(), cfg)
	if !ok || err != nil {
		t.Fatalf("ok %v, %v\n%s", ok, err, &out)
	}
	for _, want := range []string{
		`(?m)^  without  <\|channel\|>commentary to=functions\.exec .*\n +-> the user is shown this, and nothing runs\n  with     exec \{"command":"ls -l reports"\}\n +ok: runs`,
		`(?m)^cut-off: .*\n  without  write .*\n.*\n  with     write \{.*eggs\\n"\}\n.*the model was asked again`,
		`(?m)^  with     HTTP 400: context_length_exceeded: This model's maximum context length is 131072 tokens\. However,`,
		`(?m)^  ok: first text after \d+ ms`,
		`(?m)^  before   <<read\(path="notes/todo\.md"\)>>\n.*\n  after    read \{"path":"notes/todo\.md"\}$`,
		`X-Rules-Version ([0-9a-f]{12}), then [0-9a-f]{12}: \d+ ms after the file was saved`,
		`(?m)^  strategies\.yaml:\d+:\d+: .*\[E-name\]\n.*len\(txt\).*\n.*\^\^\^`,
		`(?m)^  ok: \d+ kinds of replies, \d+ calls repaired, 0 leaks, 0 wrong; rules [0-9a-f]{12} -> [0-9a-f]{12}; `,
	} {
		if !regexp.MustCompile(want).Match(out.Bytes()) {
			t.Errorf("no %s in\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), "WRONG") {
		t.Errorf("colours or mistakes in\n%s", &out)
	}
}

// The demo is a check: where the rules miss a kind of damage, it says so.
func TestRunFindsWrong(t *testing.T) {
	cfg := shipped(t, "strategies.yaml", "priority: 60\n", "priority: 60\n    enabled: false\n")
	var out bytes.Buffer
	cfg.Out, cfg.Look = &out, terminal.Look{Width: 100}
	ok, err := Run(t.Context(), cfg)
	if ok || err != nil {
		t.Fatalf("ok %v, %v", ok, err)
	}
	for _, want := range []string{`marker  \[TOOL`, `│ WRONG: the text should be ""`, `WRONG: \d+ kinds of replies, \d+ calls repaired, 0 leaks, 1 wrong`} {
		if !regexp.MustCompile(want).Match(out.Bytes()) {
			t.Errorf("no %s in\n%s", want, &out)
		}
	}
}

// What cannot start leaves nothing behind and says why.
func TestRunCannotStart(t *testing.T) {
	cfg := shipped(t, "strategies.yaml", "kind: native", "kind: naive")
	var out bytes.Buffer
	cfg.Out = &out
	if _, err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "^^^^^") {
		t.Errorf("the error has no place: %v", err)
	}
	if out.Len() > 0 {
		t.Errorf("a demo of broken rules began: %s", &out)
	}
}

func TestRunStops(t *testing.T) {
	cfg := shipped(t, "", "", "")
	cfg.Out = new(bytes.Buffer)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Run(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("a demo that was stopped says %v", err)
	}
}
