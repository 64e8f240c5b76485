package program

import (
	"strings"
	"testing"
)

// FuzzOf gives random words to every kind of row: it never panics, and what it finds is
// bounded by what it is given.
func FuzzOf(f *testing.F) {
	for _, command := range []string{
		"rm -rf -- -x", "tar xzf a.tgz -C /opt", "sed -e s/a/b/w -i f", "awk '{print $2 > $1}' f", "find . ( -name a -o -delete )", "git -c core.pager=x log",
		"docker run -v /:/x alpine sh", "env -S 'sh -c \"id\"' x", "curl -F f=@a,b; -H @h <?>", "python3 -m cProfile -o x y.py", "xargs -I{} -0 sh -c {}", "make X!=id",
	} {
		f.Add(command)
	}
	f.Fuzz(func(t *testing.T, command string) {
		words := split(Word{Text: command})
		if len(words) == 0 {
			return
		}
		for i, w := range words {
			before, after, dynamic := strings.Cut(w.Text, "<?>")
			words[i] = Word{Text: before + after, Dynamic: dynamic}
		}
		e := Of(words[0].Text, words[1:])
		limit := 64 + 8*len(words) + 2*len(command)
		if n := len(e.Touches) + len(e.Fetches) + len(e.Runs) + len(e.Flags) + len(e.Tags) + len(e.Unsure); n > limit {
			t.Errorf("%d effects of %d words", n, len(words))
		}
		for _, r := range e.Runs {
			if len(r.Argv) > 2+2*len(command) {
				t.Errorf("a run of %d words", len(r.Argv))
			}
		}
	})
}

func BenchmarkOf(b *testing.B) {
	for _, command := range []string{"ls -la src", "git commit -m message", "rm -rf ./build", "grep -rn --include=*.go foo src", "find . -name *.go -exec grep -n foo {} +", "curl -sSL https://example.com/x", "unheard -rf x"} {
		words := split(Word{Text: command})
		b.Run(words[0].Text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Of(words[0].Text, words[1:])
			}
		})
	}
}
