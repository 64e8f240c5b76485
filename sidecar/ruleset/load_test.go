package ruleset

import (
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// shipped are the rules of the program, as a folder that init has written: nothing in
// programs is read before it is asked for.
func shipped(t testing.TB) rulefile.Files {
	t.Helper()
	files := builtin(t)
	for name, text := range builtin(t) {
		if isPrograms(name) {
			files[rulefile.BuiltinFolder+"/"+name] = text
		}
	}
	return files
}

func builtin(t testing.TB) rulefile.Files {
	t.Helper()
	files, err := rulefile.Builtin(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestShippedPrograms: each row of rules/programs is right, and so are its examples.
func TestShippedPrograms(t *testing.T) {
	set, problems := Full.Load(builtin(t))
	if len(problems) > 0 {
		t.Fatalf("the shipped rules have problems:\n%v", problems)
	}
	if c := set.Counts; c.Files < len(Full.FileNames())+10 || c.Examples < 400 {
		t.Errorf("loaded only %+v", c)
	}
	lazy, _ := Full.LoadShipped(builtin(t))
	for _, name := range set.Programs.Names() {
		for _, args := range [][]program.Word{nil, {{Text: "x"}}, {{Text: "-x"}, {Text: "/a"}, {Text: "b"}}} {
			if diff := cmp.Diff(set.Programs.Of(name, args), lazy.Programs.Of(name, args)); diff != "" {
				t.Errorf("%s %v is another one when it is read late:\n%s", name, args, diff)
			}
		}
	}
}

// What tests share: the shipped sets, which no test changes.
var shippedSets = NewCompiled(2)

// loaded is the set of the shipped rules.
func loaded(t testing.TB) *Set {
	t.Helper()
	set, problems := Loader{Sections: Full.Sections, Compiled: shippedSets}.Load(shipped(t))
	if len(problems) > 0 {
		t.Fatalf("the shipped rules have problems:\n%v", problems)
	}
	return set
}

func TestShippedRules(t *testing.T) {
	set := loaded(t)
	c := set.Counts
	if c.Files != len(Full.FileNames())+len(set.agents)+len(set.Families)+1 || c.Tests < 10 || c.Conditions == 0 || c.Patterns < 15 ||
		c.Examples < 60 {
		t.Errorf("loaded only %+v", c)
	}
	if len(set.Version) != 12 || set.Version != shipped(t).Version() {
		t.Errorf("version %q", set.Version)
	}
	for _, profile := range []string{DefaultProfile, "native", "prose"} {
		if set.profiles[profile] == nil {
			t.Errorf("no profile %s", profile)
		}
	}
	for _, id := range []string{"gpt-oss", "executor"} {
		if m, ok := set.Model(id); !ok || m.Profile.Value != "" || m.Mode == "" {
			t.Errorf("model %s: %+v, %v", id, m, ok)
		}
	}
	for _, fault := range allFaults {
		if r := set.Recovery.For(fault); r.Action == "" || !r.At.Known() {
			t.Errorf("no remedy for %s", fault)
		}
	}
	if set.Tools.MaxDepth != set.Limits.Depth || set.Limits.RequestBytes != 16<<20 {
		t.Errorf("limits: %+v", set.Limits)
	}
}

// TestShippedExamples: every shipped strategy and every shipped pattern but
// those that say so by themselves is kept honest by examples.
func TestShippedExamples(t *testing.T) {
	f, problems := rulefile.Decode[strategyFile](strategiesFile, shipped(t)[strategiesFile])
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	checkExamples(t, f)
	servers, problems := rulefile.Decode[serverFile](serversFile, shipped(t)[serversFile])
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, h := range servers.Common.Hints {
		if len(h.Hit) == 0 {
			t.Errorf("the hint %q has no example", h.Say)
		}
	}
}

// TestPackOfEarlierVersions: a folder that includes the pack of formats loads, with a warning.
func TestPackOfEarlierVersions(t *testing.T) {
	files := layeredShipped(t)
	files[strategiesFile] = "version: 1\ninclude: [builtin/strategies.yaml, builtin/packs/formats.yaml]\n"
	set, problems := Full.Load(files)
	if set == nil || len(problems) != 1 || !problems[0].Warning ||
		!strings.Contains(problems.Error(), "formats.yaml is a file of earlier versions") {
		t.Error(problems)
	}
}

func checkExamples(t *testing.T, f strategyFile) {
	t.Helper()
	for _, s := range f.Strategies {
		if len(s.Hit) == 0 || len(s.Miss) == 0 && s.Kind != "native" {
			t.Errorf("%s has %d hits and %d misses", s.ID.Value, len(s.Hit), len(s.Miss))
		}
	}
}

func TestCommonPatterns(t *testing.T) {
	set := loaded(t)
	for _, s := range set.Servers {
		if len(s.Overflow) == 0 || len(s.Retry) == 0 || len(s.Recover) == 0 || len(s.Hints) == 0 {
			t.Errorf("%s lacks the common patterns", s.ID.Value)
		}
		for _, p := range s.Recover {
			if p.Field == "" && p.Match == nil {
				t.Errorf("%s: a pattern that finds nothing at %s", s.ID.Value, p.At)
			}
		}
	}
	if s := set.Server("no such"); s.ID.Value != "generic" {
		t.Errorf("an unknown server is %s", s.ID.Value)
	}
	if s := set.Server("ollama"); s.ID.Value != "ollama" ||
		s.Rename["max_completion_tokens"] != "max_tokens" {
		t.Errorf("ollama is %+v", s)
	}
}

func TestProfiles(t *testing.T) {
	set := loaded(t)
	if set.Strategies("native") == set.Strategies(DefaultProfile) {
		t.Error("two profiles are one")
	}
	if set.Strategies("no such") != set.Strategies(DefaultProfile) {
		t.Error("an unknown profile is not the default one")
	}
	if n := testing.AllocsPerRun(100, func() {
		set.Strategies("prose")
		set.Model("executor")
		set.Server("generic")
	}); n != 0 {
		t.Errorf("%v allocations to look things up", n)
	}
}

// TestFuzzyStaysHarmless: with prose switched on, no tool that writes is called.
func TestFuzzyStaysHarmless(t *testing.T) {
	set := loaded(t)
	for _, name := range []string{"web_search", "print_tree", "repo_browser.print_tree"} {
		if c := set.Tools.Class(name); c != tools.Read {
			t.Errorf("%s is %s", name, c)
		}
	}
	for _, name := range []string{"exec", "write", "edit", "process", "message", "sessions_send",
		"unheard_of", "print_tree.frob", "pine.plant_tree", "search_code.delete"} {
		if c := set.Tools.Class(name); c == tools.Read {
			t.Errorf("%s counts as reading", name)
		}
	}
}

func TestCorrection(t *testing.T) {
	r := loaded(t).Recovery.For(Ambiguous)
	got := r.Correction("reed", "it is not clear", []string{"read", "write"})
	if !strings.Contains(got, "reed") || !strings.Contains(got, "read, write") ||
		strings.ContainsAny(got, "{}") {
		t.Errorf("the correction is %q", got)
	}
	r = loaded(t).Recovery.For(Timeout)
	if got := r.Say("90 s"); !strings.HasSuffix(got, ": 90 s") {
		t.Errorf("the message is %q", got)
	}
}

func TestNotText(t *testing.T) {
	for doc, want := range map[string]string{
		"version: 1\na: \x00":                  "limits.yaml:2:4: this is not text in UTF-8",
		"version: 1\né: \xff":                  "limits.yaml:2:4: this is not text in UTF-8",
		"\xff\xfev\x00e\x00":                   "limits.yaml:1:1: this is not text in UTF-8",
		strings.Repeat("# a comment\n", 1<<17): "limits.yaml: this file is longer than 1 MiB",
		"version: " + strings.Repeat("[",
			20_000): "limits.yaml:1:10: YAML cannot read what stands in these brackets",
		"\ufeffversion: 2": "version cannot be 2",
	} {
		files := maps.Clone(shipped(t))
		files[limitsFile] = doc
		set, problems := untried(files)
		if set != nil || !strings.Contains(problems.Error(), want) {
			t.Errorf("%.20q: %.300v, want %s", doc, problems, want)
		}
	}
}

// TestUnreadableValues: what has the wrong type is reported once, by whoever reads
// it, and looked at by nobody after that.
func TestUnreadableValues(t *testing.T) {
	for _, c := range []struct{ file, old, new string }{
		{strategiesFile, "when: |", "when: [x]\n    about: |"},
		{strategiesFile, "only: [native, harmony]", "only: [[native]]"},
		{strategiesFile, "  - id: react\n", "  - null\n  - null\n  - id: react\n"},
		{strategiesFile, "  - id: react\n", "  - id: [a]\n  - id: [a]\n  - id: react\n"},
		{modelsFile, "mode: provider", "mode: provider\n    upstream: [http://a/v1]\n    profile: 1\n    server: {}\n    prompt: [x]"},
		{serversFile, "servers:\n", "servers:\n  - null\n"},
		{serversFile, "      hit:\n", "      hit:\n        - {gives: {limit: 1}}\n"},
		{recoveryFile, "text: ", "text: [x] # "},
	} {
		files := maps.Clone(shipped(t))
		files[c.file] = testkit.Replace(t, files[c.file], c.old, c.new, 1)
		set, problems := untried(files)
		if set != nil {
			t.Errorf("%s is taken with %q", c.file, c.new)
		}
		for _, p := range problems {
			if p.File == c.file && (p.Line == 0 || p.Code == cond.CodeExpr) {
				t.Errorf("%q: %v", c.new, p)
			}
		}
	}
}

// FuzzLoad changes the shipped rules at random. Nothing panics, and there is
// either a set or a problem with a place.
func FuzzLoad(f *testing.F) {
	for i, cut := range []string{"x", "\n", ": ", "[", "'", "|", "\t", "- id: a\n", "null", "!x ", "&a ",
		"*a", "\x00", "9e99"} {
		f.Add(uint8(i), uint16(i*97), uint16(i), cut)
	}
	files := shipped(f)
	f.Fuzz(func(t *testing.T, which uint8, at, length uint16, with string) {
		name := Full.FileNames()[int(which)%len(Full.FileNames())]
		doc := files[name]
		from := int(at) % (len(doc) + 1)
		to := min(from+int(length)%64, len(doc))
		changed := maps.Clone(files)
		changed[name] = doc[:from] + with + doc[to:]
		set, problems := Full.Load(changed)
		if (set == nil) != problems.Fatal() {
			t.Fatalf("set %v with problems %v", set != nil, problems)
		}
		for _, p := range problems {
			if p.Code == "" || p.Msg == "" || p.Line > 0 && (p.Col < 1 || p.EndCol <= p.Col) ||
				p.Line > 1+strings.Count(changed[p.File], "\n") {
				t.Fatalf("a problem without a place: %+v", p)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	files := shipped(b)
	n := 0
	for _, text := range files {
		n += len(text)
	}
	edit := Full
	edit.Compiled = NewCompiled(0)
	for _, way := range []struct {
		name   string
		loader Loader
	}{{"first", Loader{Sections: Full.Sections}}, {"edit", edit}} {
		b.Run(way.name, func(b *testing.B) {
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				files[execFilename] = shipped(b)[execFilename] + "# " + strconv.Itoa(i) + "\n"
				if set, problems := way.loader.Load(files); set == nil {
					b.Fatal(problems)
				}
			}
		})
	}
}

func BenchmarkStrategies(b *testing.B) {
	set := loaded(b)
	b.ReportAllocs()
	for b.Loop() {
		set.Strategies("prose")
		set.Model("executor")
	}
}
