package program_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// FuzzOf gives random words to every kind of row: it never panics, and what it finds is
// bounded by what it is given.
func FuzzOf(f *testing.F) {
	for _, command := range []string{
		"rm -rf -- -x", "tar xzf a.tgz -C /opt", "sed -e s/a/b/w -i f", "awk '{print $2 > $1}' f",
		"find . ( -name a -o -delete )", "git -c core.pager=x log",
		"docker run -v /:/x alpine sh", "env A=1 sh -c id", "curl -F f=@a,b; -H @h <?>",
		"python3 -m json.tool x", "xargs -I{} -0 sh -c {}", "make X!=id",
		"jq '.a|env' f", "duckdb -c \"select '\" x", "fd -x rm", "sed 's/[[:x:]/]/e' f",
		"ssh -o ProxyCommand=x h", "convert msl:x @y",
	} {
		f.Add(command)
	}
	table := testkit.ShippedPrograms()
	f.Fuzz(func(t *testing.T, command string) {
		list := words(command)
		if len(list) == 0 {
			return
		}
		e := table.Of(list[0].Text, list[1:])
		limit := 64 + 8*len(list) + 4*len(command)
		if n := len(e.Touches) + len(e.Fetches) + len(e.Runs) + len(e.Flags) + len(e.Tags) + len(e.Unsure); n > limit {
			t.Errorf("%d effects of %d words", n, len(list))
		}
	})
}

// code is what the readers of languages look at.
var code = map[string][]string{
	"sed": {"s/a/b/", "s/[/]/x/g", "s/[]/a]/;/w out/", "s/[^]/", "1d", ";", "\n", "{", "}", "/x/", "p", "e ", "touch ran", "w out", "\\", "[", "]", "a\\", "y/a/b/", "s,a,touch ran,e", "$!N", "b", ":l", "#", "'", "\"", "r /dev/null", "s/x/\\", "I", "2,3", "c\\"},
	"awk": {"{", "}", "print", " $1", ">", "\"out\"", "|", "\"touch ran\"", "/", "a", "(", ")", "[", "]", ";", "\n", "system", "getline", "<", "+", "++", ",", "BEGIN", "#", "\\", "\"", "x", "=", "||", "&&", "if", "while", "~", "1"},
}

// TestLanguagesNeverRun gives scripts that are made up to the programs themselves, in an
// empty folder: what is understood runs nothing. All that a script could run is touch.
func TestLanguagesNeverRun(t *testing.T) {
	table := testkit.ShippedPrograms()
	for name, pieces := range code {
		at, err := exec.LookPath(name)
		if err != nil {
			t.Logf("no %s here", name)
			continue
		}
		understood := 0
		rapid.Check(t, func(t *rapid.T) {
			script := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(t, "script"), "")
			e := table.Of(name, []program.Word{{Text: script}, {Text: "in"}})
			if e.Inline || len(e.NotUnderstood()) > 0 {
				return
			}
			understood++
			dir, err := os.MkdirTemp("", "language")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			if err := os.WriteFile(filepath.Join(dir, "in"), []byte("a\nx 1\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("timeout", "2", at, script, "in")
			cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin"}
			_ = cmd.Run() // most of them are wrong
			left, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range left {
				known := f.Name() == "in"
				for _, touch := range e.Touches {
					known = known || touch.Op == "write" &&
						strings.HasPrefix(f.Name(), strings.TrimSpace(touch.Word.Text))
				}
				if !known {
					t.Fatalf("%s %q has made %s, and is %s", name, script, f.Name(), shown(e))
				}
			}
		})
		if understood == 0 {
			t.Errorf("no script of %s was understood", name)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	table := testkit.ShippedPrograms()
	for _, command := range []string{"ls -la src", "git commit -m message", "rm -rf ./build",
		"find . -name *.go -exec grep -n foo {} +", "curl -sSL https://example.com/x", "unheard -rf x"} {
		list := words(command)
		b.Run(list[0].Text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				table.Of(list[0].Text, list[1:])
			}
		})
	}
	for name, text := range map[string]string{
		"awk": strings.Repeat("{print $1/2}\n", 10000), "awk-slash": strings.Repeat("(/", 60000),
		"sed": strings.Repeat("s/[/]/b/;", 14000), "sed-bracket": strings.Repeat("[[:", 40000),
		"jq": strings.Repeat(".a|", 40000),
	} {
		tool, _, _ := strings.Cut(name, "-")
		b.Run("hostile-"+name, func(b *testing.B) {
			for b.Loop() {
				table.Of(tool, []program.Word{{Text: text}})
			}
		})
	}
}
