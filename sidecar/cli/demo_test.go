package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// demonstrated runs the demo with the rules of the program, of which one text is another
// one.
func demonstrated(t *testing.T, file, from, to string) (code int, out, errs string) {
	t.Helper()
	all, tmp := t.TempDir(), t.TempDir()
	for _, dir := range []string{"rules", "prompts", "schemas"} {
		if err := os.CopyFS(filepath.Join(all, dir), os.DirFS("../../"+dir)); err != nil {
			t.Fatal(err)
		}
	}
	if file != "" {
		name := filepath.Join(all, "rules", file)
		text, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(text, []byte(from)) {
			t.Fatalf("%s has no %q: %v", file, from, err)
		}
		if err := os.WriteFile(name, bytes.Replace(text, []byte(from), []byte(to), 1), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", tmp)
	var o, e bytes.Buffer
	code = Run([]string{"demo"}, Env{Parts: Parts, Out: &o, Err: &e, Defaults: os.DirFS(all)})
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return code, o.String(), e.String()
}

// The whole demo as a pipe sees it.
func TestDemo(t *testing.T) {
	code, out, errs := demonstrated(t, "", "", "")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d: %s\n%s", code, errs, out)
	}
	for _, want := range []string{
		`(?m)^  without  <\|channel\|>commentary to=functions\.exec .*\n +-> the user is shown this, and nothing runs\n  with     exec \{"command":"ls -l reports"\}\n +ok: runs`,
		`(?m)^cut-off: .*\n  without  write .*\n.*\n  with     write \{.*eggs\\n"\}\n.*the model was asked again`,
		`(?m)^  with     HTTP 400: context_length_exceeded: This model's maximum context length is 131072 tokens\. However,`,
		`(?m)^  ok: first text after \d+ ms`,
		`(?m)^  before   <<exec\(command="ls -l reports"\)>>\n.*\n  after    exec \{"command":"ls -l reports"\}$`,
		`X-Rules-Version ([0-9a-f]{12}), then [0-9a-f]{12}: \d+ ms after the file was saved`,
		`(?m)^  strategies\.yaml:\d+:\d+: .*\[E-name\]\n.*len\(txt\).*\n.*\^\^\^`,
		`(?m)^  ok: \d+ kinds of replies, \d+ calls repaired, 0 leaks, 0 wrong; rules [0-9a-f]{12} -> [0-9a-f]{12}; `,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	if strings.Contains(out, "\x1b") || strings.Contains(out, "WRONG") {
		t.Errorf("colours or mistakes in\n%s", out)
	}
}

// The demo is a check: where the rules miss a kind of damage, it says so.
func TestDemoFindsWrong(t *testing.T) {
	code, out, errs := demonstrated(t, "strategies.yaml", "priority: 60\n",
		"priority: 60\n    enabled: false\n")
	if code != 1 || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, want := range []string{`with     \[TOOL`, ` WRONG: this should be the text "" and the call exec`,
		`WRONG: \d+ kinds of replies, \d+ calls repaired, 0 leaks, 1 wrong`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// What cannot start leaves nothing behind and says why.
func TestDemoCannotStart(t *testing.T) {
	code, out, errs := demonstrated(t, "strategies.yaml", "kind: native", "kind: naive")
	if code != 1 || out != "" || !strings.Contains(errs, "^^^^^") {
		t.Errorf("exit %d: %s\n%s", code, errs, out)
	}
}
