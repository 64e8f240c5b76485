package refer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/tools/refer"
)

// phrases are the lines of a file of testdata: what models may write in the place of an address
// or a file, and what looks like that and is none. No word goes into references.yaml for them.
func phrases(t testing.TB, name string) []string {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	ruletest.Must(t, err)
	lines := strings.Split(strings.TrimSuffix(string(doc), "\n"), "\n")
	if len(lines) < 30 {
		t.Fatalf("%s has %d lines", name, len(lines))
	}
	return lines
}

// What models leave open is found but for three; what says itself what is meant is always left
// alone.
func TestHeld(t *testing.T) {
	w := ruletest.Shipped(t).References.Words
	for _, c := range []struct {
		name string
		kind refer.Kind
		want bool
		most int // that may be wrong
	}{{"open_urls", refer.URL, true, 1}, {"open_paths", refer.Path, true, 2}, {"plain_urls", refer.URL, false,
		0}, {"plain_paths", refer.Path, false, 0}} {
		texts := phrases(t, c.name)
		var wrong []string
		for _, v := range texts {
			if _, got := w.Read(v, c.kind); got != c.want {
				wrong = append(wrong, v)
			}
		}
		t.Logf("%s: %d of %d are read otherwise: %q", c.name, len(wrong), len(texts), wrong)
		if len(wrong) > c.most {
			t.Errorf("%s: more than %d", c.name, c.most)
		}
	}
}

const searched = `{"query":"tides","results":[
	{"title":"Tides - Wikipedia","url":"https://en.wikipedia.org/wiki/Tide","favicon":"https://en.wikipedia.org/icon.png"},
	{"title":"Why the sea rises | Reuters","url":"https://reuters.com/sea","siteName":"https://reuters.com"},
	{"title":"Tide tables","url":"https://tides.example/tables?a=1&b=2"}]}`

// Which one is meant, of what three earlier results have.
func TestChoose(t *testing.T) {
	w := ruletest.Shipped(t).References.Words
	wiki, reuters, tables := "https://en.wikipedia.org/wiki/Tide", "https://reuters.com/sea",
		"https://tides.example/tables?a=1&b=2"
	search := refer.Result{Text: searched, Ranked: true}
	page := refer.Result{Text: "See [this](https://x.org/a_(b)), or https://y.org/c. ![p](https://z.org/p.png)", Names: []string{"https://en.wikipedia.org/wiki/Tide"}}
	one := refer.Result{Text: "It is at https://x.org/only."}
	list := refer.Result{Text: "docs/a.md\ndocs/b.md\n"}
	wrote := refer.Result{Text: "28 bytes were written.", Names: []string{"/tmp/summary.md"}}
	for _, c := range []struct {
		kind    refer.Kind
		value   string
		earlier []refer.Result
		want    string // of first; "" where it is refused
		strict  bool   // the same without first
	}{
		{refer.URL, "the top result", []refer.Result{search}, wiki, true},
		{refer.URL, "second result", []refer.Result{search}, reuters, true},
		{refer.URL, "results[2].url", []refer.Result{search}, tables, true},
		{refer.URL, "result_1", []refer.Result{search}, wiki, true},
		{refer.URL, "result 4", []refer.Result{search}, "", true},
		{refer.URL, "the Reuters article", []refer.Result{search}, reuters, true},
		{refer.URL, "the BBC article", []refer.Result{search}, "", true},
		{refer.URL, "Tide tables", []refer.Result{search}, tables, true},
		{refer.URL, "URL from above", []refer.Result{search}, wiki, false},
		{refer.URL, "URL from step 2", []refer.Result{search}, wiki, false},
		{refer.URL, "<will fill from results>", []refer.Result{search}, wiki, false},
		{refer.URL, "<" + tables + ">", nil, tables, true},
		{refer.URL, "URL: " + tables, nil, tables, true},
		{refer.URL, "https://reuters.com/...", []refer.Result{search}, reuters, true},
		{refer.URL, "https://bbc.com/...", []refer.Result{search}, "", true},
		{refer.URL, "https://example.com/{id}", []refer.Result{one}, "", true},
		{refer.URL, "the top 3 results", []refer.Result{search}, "", true},
		{refer.URL, "all results", []refer.Result{search}, "", true},
		{refer.URL, "the next result", []refer.Result{search}, "", true},
		{refer.URL, "the second result", []refer.Result{search, page}, reuters, true},
		{refer.URL, "the second link", []refer.Result{page}, "", true},
		{refer.URL, "URL from above", []refer.Result{page}, "", true},
		{refer.URL, "URL from above", []refer.Result{one}, "https://x.org/only", true},
		{refer.URL, "URL from above", nil, "", true},
		{refer.Path, "<output file>", []refer.Result{wrote}, "/tmp/summary.md", true},
		{refer.Path, "<output file>", []refer.Result{list}, "", true},
		{refer.Path, "<output file>", []refer.Result{list, wrote}, "/tmp/summary.md", true},
		{refer.Path, "the file docs above", []refer.Result{list}, "", true},
		{refer.Path, "<a.md>", []refer.Result{list}, "", true},
		{refer.Path, "/tmp/<name>.md", []refer.Result{wrote}, "", true},
		{refer.Path, "<output file>", []refer.Result{search}, "", true},
	} {
		ref, open := w.Read(c.value, c.kind)
		found := refer.Find(c.kind, c.earlier)
		got, ok := ref.Choose(found, true)
		if strict, _ := ref.Choose(found, false); !open && c.want != "" || got != c.want ||
			ok != (got != "") || (strict == got) != c.strict {
			t.Errorf("%q: %q, strictly %q, want %q (open %v, %+v, of %v)", c.value, got, strict, c.want, open,
				ref, found)
		}
	}
}

// Addresses without their scheme, and names that are none.
func TestAddScheme(t *testing.T) {
	for v, want := range map[string]string{
		"example.com": "https://example.com", "example.com/x?y=1#z": "https://example.com/x?y=1#z",
		"www.BBC.co.uk/news":     "https://www.BBC.co.uk/news",
		"//cdn.example.com/a.js": "https://cdn.example.com/a.js",
		"example.com:8443/a":     "https://example.com:8443/a", "docs.rs/serde": "https://docs.rs/serde",
		"example.md/notes": "https://example.md/notes", "notes.md": "", "index.HTML": "",
		"https://example.com": "", "localhost:3000": "", "10.0.0.1/x": "", "a b.com": "",
		"user@example.com": "", "/etc/hosts": "", "results.url": "", "mailto:a@b.c": "", "": "", ".": "",
		"//": "",
	} {
		got, ok := refer.AddScheme(v, []string{"md", "html"})
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %v, want %q", v, got, ok, want)
		}
	}
}

// Nothing is ever taken that no result has; a whole URL, and a name that begins with ./, are
// never looked at; what is found first depends on nothing but the results.
func TestNothingIsMadeUp(t *testing.T) {
	w := ruletest.Shipped(t).References.Words
	known := make([]string, 0, len(w))
	for word := range w {
		known = append(known, word)
	}
	slices.Sort(known)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(known),
			rapid.StringMatching(`[a-z]{1,6}|[0-9]{1,2}|[<{\[$.…/"]{1,3}`)), 1, 6).Draw(t, "words")
		value := strings.Join(words, rapid.SampledFrom([]string{" ", "_", ".", "", "/"}).Draw(t, "between"))
		kind := rapid.SampledFrom([]refer.Kind{refer.URL, refer.Path}).Draw(t, "kind")
		var earlier []refer.Result
		for i := range rapid.IntRange(0, 3).Draw(t, "results") {
			earlier = append(earlier, refer.Result{Ranked: rapid.Bool().Draw(t, "ranked"),
				Text: fmt.Sprintf("https://x%d.org/a\nhttps://x%d.org/b\nsrc/%d.go\n", i, i, i)})
		}
		found := refer.Find(kind, earlier)
		ref, _ := w.Read(value, kind)
		got, ok := ref.Choose(found, true)
		if ok && ref.Exact == "" && !slices.ContainsFunc(found.All,
			func(c refer.Candidate) bool { return c.Text == got }) {
			t.Fatalf("%q gives %q, which no result has", value, got)
		}
		if again, _ := ref.Choose(refer.Find(kind, slices.Clone(earlier)), true); again != got {
			t.Fatalf("%q gives %q, then %q", value, got, again)
		}
		slug := strings.Join(regexpWords(words), "-")
		if r, open := w.Read("https://example.com/"+slug, refer.URL); open {
			t.Fatalf("https://example.com/%s is taken for %+v", slug, r)
		}
		if r, open := w.Read("./"+value, refer.Path); open {
			t.Fatalf("./%s is taken for %+v", value, r)
		}
	})
}

func regexpWords(all []string) (out []string) {
	for _, word := range all {
		if !strings.ContainsAny(word, "<{[$.…/\"") {
			out = append(out, word)
		}
	}
	return out
}

func FuzzRead(f *testing.F) {
	w := ruletest.Shipped(f).References.Words
	for _, v := range slices.Concat(phrases(f, "open_urls"), phrases(f, "open_paths"),
		phrases(f, "plain_urls"), phrases(f, "plain_paths")) {
		f.Add(v, searched)
	}
	f.Fuzz(func(t *testing.T, value, text string) {
		for _, kind := range []refer.Kind{refer.URL, refer.Path} {
			ref, open := w.Read(value, kind)
			if open && strings.TrimSpace(value) == "" {
				t.Errorf("an empty argument stands for %+v", ref)
			}
			found := refer.Find(kind, []refer.Result{{Text: text, Ranked: true}})
			if got, ok := ref.Choose(found, true); ok && !strings.Contains(value, got) &&
				!slices.ContainsFunc(found.All, func(c refer.Candidate) bool { return c.Text == got }) {
				t.Errorf("%q gives %q", value, got)
			}
		}
		refer.AddScheme(value, nil)
	})
}

// A long page does not make a long list.
func TestLongTextIsFound(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "https://x.org/%d ", i)
	}
	if n := len(refer.Find(refer.URL, []refer.Result{{Text: b.String()}}).All); n != 200 {
		t.Errorf("%d are found", n)
	}
}

// A page that is nothing but brackets is read in the time of a page.
func TestDeep(t *testing.T) {
	text := strings.Repeat("[", 100_000) + `{"url":"https://example.com"}` + strings.Repeat("]", 100_000)
	if got := refer.Find(refer.URL, []refer.Result{{Text: text}}); len(got.All) != 1 {
		t.Errorf("%+v", got)
	}
}
