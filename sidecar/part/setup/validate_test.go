package setup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The answers are those of OpenClaw 2026.9.6; e2e asks the real one.
func TestValidate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "openclaw.json")
	if err := os.WriteFile(path, []byte("{}"), 0o640); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ says, want string }{
		"fine":                        {`echo '{"valid":true,"path":"x","warnings":[]}'`, ""},
		"refused":                     {`echo '{"ok":false,"valid":false,"issues":[{"path":"tools","message":"Unrecognized key: \"bogus\""}]}'; exit 1`, "OpenClaw refuses this config:\n  tools: Unrecognized key: \"bogus\""},
		"broken":                      {`echo 'needs Node 24' >&2; exit 1`, "needs Node 24"},
		"the text, beside the config": {`grep -q two "$OPENCLAW_CONFIG_PATH" && [ "$(dirname "$OPENCLAW_CONFIG_PATH")" = ` + filepath.Dir(path) + ` ] && echo '{"valid":true}'`, ""},
	} {
		bin := t.TempDir()
		if err := os.WriteFile(filepath.Join(bin, "openclaw"), []byte("#!/bin/sh\n"+c.says+"\n"),
			0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin+":/usr/bin:/bin")
		err := validate(context.Background(), path, []byte("two"))
		if c.want == "" && err != nil || c.want != "" &&
			(err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
		if errors.As(err, new(*refused)) != (name == "refused") {
			t.Errorf("%s: %v", name, err)
		}
		if list, _ := os.ReadDir(filepath.Dir(path)); len(list) != 1 {
			t.Errorf("%s: left: %v", name, list)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if err := validate(context.Background(), path, nil); err != errNoOpenClaw {
		t.Errorf("without OpenClaw: %v", err)
	}
}
