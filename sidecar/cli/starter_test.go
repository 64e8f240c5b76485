package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The examples in the files of init are rules that load, all of them together.
func TestStartersLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rules")
	var out, errs strings.Builder
	env := Env{Parts: Parts, Out: io.Discard, Err: &errs, Defaults: os.DirFS("../.."), Environ: []string{}}
	if code := Run([]string{"init", dir}, env); code != 0 {
		t.Fatal(errs.String())
	}
	comment := regexp.MustCompile(`(?m)^# ?`)
	for name := range starters() {
		file := filepath.Join(dir, name+".yaml")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, example, found := strings.Cut(string(text), "# For example:\n#\n")
		if !found {
			t.Fatalf("%s has no example", file)
		}
		if err := os.WriteFile(file, []byte(head+comment.ReplaceAllString(example, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env.Out = &out
	if code := Run([]string{"check", dir}, env); code != 0 || strings.Contains(errs.String(), "warning") {
		t.Errorf("%s%s", out.String(), errs.String())
	}
}
