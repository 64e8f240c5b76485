package shell

import (
	"context"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestAgainstBash lets bash run random texts that the facts would let pass, in an empty
// folder with a few harmless programs, and checks that the one program that the facts
// do not name does not run. SHELL_SEED and SHELL_TEXTS choose which and how many.
func TestAgainstBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("SKIPPED: no bash")
	}
	number := func(name string, otherwise int64) int64 {
		if n, err := strconv.ParseInt(os.Getenv(name), 10, 64); err == nil {
			return n
		}
		return otherwise
	}
	seed := number("SHELL_SEED", 1)
	t.Logf("SHELL_SEED=%d", seed)
	box := newSandbox(t, bash)
	texts := slices.Clone(pastMisses)
	for g := (generator{rand.New(rand.NewSource(seed))}); len(texts) < int(number("SHELL_TEXTS", 2000)); {
		texts = append(texts, g.text())
	}
	ran := 0
	for _, text := range texts {
		if s := Analyze(text, world); passes(s) && !slices.Contains(s.Binaries, "zmark") {
			ran++
			if box.marks(text) {
				t.Errorf("bash runs the marker, the facts do not say so: %q: %q", text, commands(s))
			}
		}
	}
	t.Logf("%d of %d texts pass and were run", ran, len(texts))
}

// pastMisses are texts that were once taken for harmless.
var pastMisses = []string{
	"x=true; trap 'x=zmark' DEBUG; $x",
	`[[ a == b ]] || set -- a \z\mark b c; shift; "$@"`,
	"x=$(</dev/stdin); true; $x <<< zmark",
	"cat <<'E'# | sh\nzmark\nE\n",
	"{ exec <<< zmark; }; read x; $x",
	"x=true; while :; do $x && break; x=zmark; done",
}

// passes tells whether the facts leave nothing open that a policy asks for.
func passes(s *Script) bool {
	if !s.Parsed || s.OverBudget || s.Control || s.Invisible || s.ForkBomb || len(s.Dynamic) > 0 {
		return false
	}
	return !slices.ContainsFunc(s.Commands, func(c Command) bool {
		return c.DynamicName || c.Inline || c.CodeFile != "" || !c.Known && c.Binary != "" || len(c.ExecFlags) > 0 || slices.ContainsFunc(c.Tags, func(tag string) bool {
			return slices.Contains([]string{"foreign-code", "runs-created-file", "hash-poison", "shell-state", "interactive-shell"}, tag)
		}) || slices.ContainsFunc(c.Env, func(name string) bool {
			return slices.Contains([]string{"PATH", "IFS", "PROMPT_COMMAND", "BASH_ENV", "ENV", "PS4"}, name)
		})
	})
}

// sandbox runs texts with a short list of programs and sees whether zmark was one.
type sandbox struct{ bash, bin, work, log string }

func newSandbox(t *testing.T, bash string) sandbox {
	dir := t.TempDir()
	s := sandbox{bash, filepath.Join(dir, "bin"), filepath.Join(dir, "work"), filepath.Join(dir, "log")}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(s.bin, 0o700))
	for _, name := range strings.Fields("cat rev tr base64 seq env xargs head tail tac tee sort cut timeout nice") {
		if path, err := exec.LookPath(name); err == nil {
			must(os.Symlink(path, filepath.Join(s.bin, name)))
		}
	}
	for _, name := range []string{"sh", "bash"} {
		must(os.Symlink(bash, filepath.Join(s.bin, name)))
	}
	must(os.WriteFile(filepath.Join(s.bin, "zmark"), []byte("#!"+bash+"\necho x >> "+s.log+"\n"), 0o700))
	return s
}

func (s sandbox) marks(text string) bool {
	_ = os.RemoveAll(s.work)
	_ = os.Remove(s.log)
	if os.Mkdir(s.work, 0o700) != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.bash, "--noprofile", "--norc", "-c", "ulimit -t 1 -f 1000; cd "+s.work+"\n"+text)
	cmd.Env = []string{"PATH=" + s.bin, "HOME=" + s.work}
	cmd.WaitDelay = time.Second
	_ = cmd.Run()
	_, err := os.Stat(s.log)
	return err == nil
}
