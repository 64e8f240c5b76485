package confine

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
)

// TestSSH: a service of a remote runs as the user's ssh, and of nothing else.
func TestSSH(t *testing.T) {
	dir := t.TempDir()
	ruletest.Must(t, os.WriteFile(filepath.Join(dir, "ssh"),
		[]byte("#!/bin/sh\nfor last; do :; done\nhead -c 4\nhead -c 300000 /dev/zero\necho \"$last\" >&2\ncat >/dev/null\nexit 7\n"), 0o755))
	u, _ := guard.ParseRemote("git@git.example.com:a.git")
	r := newRig(t, proxyLimits{}, echo)
	r.may(func(p *Pass) {
		p.Remotes = []guard.Remote{{URL: u}}
		p.User = newGitUser([]string{"PATH=" + dir + ":" + os.Getenv("PATH"), "HOME=" + dir}, nil)
	})
	ask := func(args ...string) (code int, out, errs string) {
		a, err := walls.ParseSSH(args, "version=2")
		ruletest.Must(t, err)
		var o, e bytes.Buffer
		code, err = a.Run(context.Background(), "http://t1:s3cret@"+r.Addr(),
			strings.NewReader("text and more"), &o, &e)
		if err != nil {
			e.WriteString(err.Error())
		}
		return code, o.String(), e.String()
	}
	if code, out, errs := ask("-o", "SendEnv=GIT_PROTOCOL", "git@git.example.com",
		"git-upload-pack 'a.git'"); code != 7 || len(out) != 300004 || out[:4] != "text" ||
		errs != "git-upload-pack 'a.git'\n" {
		t.Errorf("%d %d %q", code, len(out), errs)
	}
	for name, args := range map[string][]string{
		"another host": {"git@other.example.com", "git-upload-pack 'a.git'"}, "another repository": {"git@git.example.com", "git-upload-pack 'b.git'"},
		"another user": {"git.example.com", "git-upload-pack 'a.git'"}, "another port": {"-p", "23", "git@git.example.com", "git-upload-pack 'a.git'"},
		"a push": {"git@git.example.com", "git-receive-pack 'a.git'"}, "another program": {"git@git.example.com", "sh -c 'a.git'"}, "a word more": {"git@git.example.com", "git-upload-pack 'a.git' x"},
	} {
		if code, out, errs := ask(args...); code != 255 || out != "" ||
			!strings.Contains(errs, "do not name this repository") {
			t.Errorf("%s: %d %q %q", name, code, out, errs)
		}
	}
	if log := strings.Join(r.logged(), "\n"); !strings.Contains(log, "GIT git.example.com:22 connected") ||
		!strings.Contains(log, "GIT other.example.com:22 refused remotes") {
		t.Error(log)
	}
	if _, err := walls.ParseSSH([]string{"-oProxyCommand=x", "git@git.example.com",
		"git-upload-pack 'a.git'"}, ""); err == nil {
		t.Error("an option of ssh is taken")
	}
}
