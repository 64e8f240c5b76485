package confine

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
)

// An address is taken apart if each part of it has a known form. All others are none.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"git@github.com:a/b.git": "ssh://git@github.com/a/b.git", "github.com:a/b": "ssh://github.com/a/b",
		"ssh://git@h:22/a/b": "ssh://git@h:22/a/b", "git+ssh://h/a": "ssh://h/a",
		"ssh://h/~sam/a": "ssh://h/~sam/a", "https://h/a/b.git": "https://h/a/b.git",
		"https://u:p@h:8443/a": "https://u:p@h:8443/a", "/srv/a.git": "file:///srv/a.git",
		"file:///srv/../etc": "file:///etc",
		"":                   "", "../a": "", "a": "", "ext::sh -c x": "", "http://h/a": "", "git://h/a": "",
		"ssh://-oProxyCommand=x/a": "", "-oProxyCommand=x:a": "", "git@-x:a": "", "-x@h:a": "",
		"git@h:-a": "", "git@h:a'b": "", "git@h:a b": "", "git@h:a;b": "", "git@h:$(x)": "",
		"ssh://git:p@h/a": "", "https://h/a?x=y": "", "https://h/a#b": "", "https://h/a%0ab": "",
		"https://h/a\nb": "",
		"file://h/a":     "", "fd::3": "",
	} {
		u, ok := guard.ParseRemote(text)
		if got := u.String(); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %v %s, want %s", text, ok, got, want)
		}
	}
}

// What the settings of the user say counts, and of no repository.
func TestUser(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(home+"/.gitconfig",
		[]byte("[url \"git@github.com:\"]\ninsteadOf = https://github.com/\n[credential]\nhelper = \"!f(){ echo username=u; echo password=p; }; f\"\n[core]\nsshCommand = ssh -i key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u := newGitUser([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}, nil)
	if at, ok := u.Address(context.Background(), "https://github.com/a/b"); !ok ||
		at.String() != "ssh://git@github.com/a/b" {
		t.Errorf("%v %s", ok, at.String())
	}
	at, _ := guard.ParseRemote("https://example.com/a")
	if name, password, err := u.Credential(context.Background(), guard.Remote{URL: at}); name != "u" ||
		password != "p" || err != nil {
		t.Errorf("%q %q %v", name, password, err)
	}
	ssh, _ := guard.ParseRemote("ssh://git@h:22/~sam/a")
	c, err := u.SSH(context.Background(), guard.Remote{URL: ssh}, guard.FetchService, "version=2; x")
	if err != nil || c.Dir != "/" || !slices.Equal(c.Args[1:], []string{"-c", `ssh -i key "$@"`, "ssh", "-T",
		"-o", "BatchMode=yes", "-o", "ClearAllForwardings=yes", "-p", "22", "git@h",
		"git-upload-pack '~sam/a'"}) {
		t.Errorf("%q %v", c.Args, err)
	}
}
