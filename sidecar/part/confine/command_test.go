package confine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
)

// confines runs confine, and returns its exit code and what it writes.
func confines(env []string, args ...string) (code int, out, said string) {
	var o, e strings.Builder
	code = cli.Run(append([]string{"confine"}, args...), cli.Env{Parts: []cli.Part{Part{}}, Out: &o, Err: &e,
		Environ: env})
	return code, o.String(), e.String()
}

func TestConfineMisused(t *testing.T) {
	for _, c := range []struct {
		args []string
		said string
	}{
		{nil, "no command to run; it stands behind --"},
		{[]string{"--probe", "--", "true"}, "--probe runs no command"},
		{[]string{"--json", "--", "true"}, "--json has an effect only with --probe"},
		{[]string{"--probe", "--write", "x"}, "--write has no effect with --probe"},
		{[]string{"--ticket", "x", "--write", "x", "--", "true"}, "--write has no effect with --ticket"},
		{[]string{"--net", "some", "--", "true"}, `--net takes none, proxy or open, not "some"`},
		{[]string{"--net", "proxy", "--", "true"}, "--net proxy and --proxy URL go together"},
		{[]string{"--proxy", "http://127.0.0.1:1", "--", "true"}, "--net proxy and --proxy URL go together"},
		{[]string{"--net", "proxy", "--proxy", "127.0.0.1", "--", "true"}, "--proxy takes a URL with a port"},
		{[]string{"--limits", "memory=much", "--", "true"}, `the limit memory is a size such as 64M or 4G, not "much"`},
		{[]string{"--limit", "x", "--", "true"}, "unknown flag: --limit"},
	} {
		code, _, said := confines(nil, c.args...)
		if code != 2 || !strings.Contains(said, c.said) || !strings.Contains(said, "confine --help") {
			t.Errorf("%q: %d %s, want %s", c.args, code, said, c.said)
		}
	}
}

func TestConfine(t *testing.T) {
	code, text, said := confines(nil, "--probe", "--json")
	var offer walls.Offer
	if err := json.Unmarshal([]byte(text), &offer); err != nil {
		t.Fatal(err, said)
	}
	if len(offer.Parts) == 0 || (code != 0) != (code == walls.ExitUnfit) {
		t.Errorf("%d %+v", code, offer)
	}
	if !offer.Has(walls.PartFiles) {
		t.Skip("this machine cannot confine")
	}
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	env := []string{"PATH=/usr/bin:/bin", "COLOUR=red", "MY_TOKEN=x", "OUTSIDE=" + outside}
	for _, c := range []struct {
		args []string
		code int
		out  string
		said string
	}{
		{[]string{"--", "sh", "-c", `echo "$COLOUR$MY_TOKEN"; exit 3`}, 3, "red\n", ""},
		{[]string{"--write", dir, "--", "sh", "-c", `cd "$0"; echo x > f; cat f`, dir}, 0, "x\n", ""},
		{[]string{"--write", dir, "--", "sh", "-c", `echo x > "$OUTSIDE"`}, 2, "", "Permission denied"},
		{[]string{"--write", dir, "--fixed", dir + "/f", "--", "sh", "-c", `echo y > "$0/f"`, dir}, 2, "", "Read-only file system"},
		{[]string{"--write", dir, "--deny", dir + "/f", "--", "cat", dir + "/f"}, 1, "", "Permission denied"},
		{[]string{"--read", dir, "--", "cat", dir + "/f"}, 0, "x\n", ""},
		{[]string{"--net", "proxy", "--proxy", "http://127.0.0.1:9", "--", "sh", "-c", `echo "$https_proxy"`}, 0, "http://127.0.0.1:9\n", ""},
		{[]string{"--limits", "time=50ms", "--", "sleep", "60"}, 137, "", "ended: it took longer than its limit of 50ms"},
		{[]string{"--", "no-such-program"}, 127, "", "gpt-oss-executor confine: no-such-program: command not found"},
	} {
		if !offer.Has(walls.PartBelow) && (strings.Contains(c.said, "Read-only") || c.args[2] == "--deny") {
			continue
		}
		code, out, said := confines(env, c.args...)
		if code != c.code || out != c.out || !strings.Contains(said, c.said) {
			t.Errorf("%q: %d %q %q", c.args, code, out, said)
		}
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("something was written outside")
	}
}
