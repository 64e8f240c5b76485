package shell

import (
	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"testing"
)

// TestAgainstBash lets bash run random texts whose facts leave nothing open, and checks
// that the marker runs in none of which the facts do not name it. SHELL_SEED and
// SHELL_TEXTS choose which texts, and how many.
func TestAgainstBash(t *testing.T) {
	box := testkit.NewBash(t, "zmark")
	seed := numberFrom("SHELL_SEED", 1)
	t.Logf("SHELL_SEED=%d", seed)
	texts := slices.Clone(pastMisses)
	for g := (generator{rand.New(rand.NewSource(seed))}); len(texts) < int(numberFrom("SHELL_TEXTS", 2000)); {
		texts = append(texts, g.text())
	}
	ran := 0
	for _, text := range texts {
		if s := Analyze(text, world); passes(s) && !slices.Contains(s.Binaries, "zmark") {
			ran++
			if box.Ran(t, text) {
				t.Errorf("bash runs the marker, the facts do not say so: %q: %q", text, commands(s))
			}
		}
	}
	t.Logf("%d of %d texts pass and were run", ran, len(texts))
}

func numberFrom(name string, otherwise int64) int64 {
	if n, err := strconv.ParseInt(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return otherwise
}

// pastMisses are texts that were once taken for harmless.
var pastMisses = []string{
	"x=true; trap 'x=zmark' DEBUG; $x",
	`[[ a == b ]] || set -- a \z\mark b c; shift; "$@"`,
	"x=$(</dev/stdin); true; $x <<< zmark",
	"cat <<'E'# | sh\nzmark\nE\n",
	"printf '%s\\n' true zmark | xargs -d '\\n' -n1 sh -c",
	"{ exec <<< zmark; }; read x; $x",
	"x=true; while :; do $x && break; x=zmark; done",
}

// passes tells whether the facts leave nothing open that a policy asks for.
func passes(s *Script) bool {
	if !s.Parsed || s.OverBudget || s.Control || s.Invisible || s.ForkBomb || len(s.Dynamic) > 0 {
		return false
	}
	return !slices.ContainsFunc(s.Commands, func(c Command) bool {
		return c.DynamicName || c.Inline || c.CodeFile != "" || !c.Known && c.Binary != "" ||
			len(c.ExecFlags) > 0 || slices.ContainsFunc(c.Tags, func(tag string) bool {
			return slices.Contains([]string{"foreign-code", "runs-created-file", "hash-poison", "shell-state",
				"interactive-shell"}, tag)
		}) || slices.ContainsFunc(c.Env, func(name string) bool {
			return slices.Contains([]string{"PATH", "IFS", "PROMPT_COMMAND", "BASH_ENV", "ENV", "PS4"}, name)
		})
	})
}
