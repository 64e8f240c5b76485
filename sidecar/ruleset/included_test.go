package ruleset

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// TestLayersSlips: what people do wrong in a file that includes others is said once,
// rootsIn its place, and hides nothing else.
func TestLayersSlips(t *testing.T) {
	for _, c := range []struct{ file, more, want string }{
		{strategiesFile, "strategies:\n  - {id: react_tags, enabled: false}\n  - {id: react_tags, enabled: true}\n", "strategies.yaml:5:10: the id react_tags stands here twice [E-dup]"},
		{strategiesFile, "strategies: [{id: tags, enabled: false}]\nstrategies: [{id: react, enabled: false}]\n", "strategies.yaml:4:1: strategies stands here twice [E-dup]"},
		{strategiesFile, "include: [builtin/aliases.yaml]\n", "strategies.yaml:3:1: include stands here twice [E-dup]"},
		{execFilename, "rules: [{id: disk, deny: No., audit: No.}]\n", "exec.yaml:3:26: disk is both"},
		{execFilename, "lists:\n", "exec.yaml:3:7: lists has no value [E-missing]"},
		{execFilename, "rules:\n# - id: mine", "exec.yaml:3:7: rules has no value"},
		{execFilename, "rules:\n  - id: everyday\n    when:\n", "exec.yaml:5:10: when has no value"},
		{resultsFile, "results: [{mode: executor, tool: raed, delete: true}]\n", "results.yaml:3:11: there is no executor raed to take away"},
	} {
		files := layeredShipped(t)
		files[c.file] += c.more
		set, problems := Full.Load(files)
		if set != nil || len(problems) != 1 || !strings.Contains(problems.Error(), c.want) {
			t.Errorf("%s%v\nwant %s", c.more, problems, c.want)
		}
	}
	files := layeredShipped(t)
	files[execFilename] += "rules:\n  - {id: signal, deny: Never.}\n  - {id: power, audit: Only tried.}\n"
	set, problems := Full.Load(files)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got := effect("kill 7")(set); got != "deny" {
		t.Errorf("a question that became a denial gives %s", got)
	}
	if got := effect("reboot")(set); got != "audit" {
		t.Errorf("a denial that became a dry run gives %s", got)
	}
}

// What is named by another key than id is changed, taken away and kept apart like what has one.
func TestLayersOfOtherNames(t *testing.T) {
	files := layeredShipped(t)
	for name, text := range map[string]string{
		"results.a":    "results: [{mode: executor, tool: web_fetch, chars: 999}, {mode: executor, tool: '*', chars: 777}]",
		"references.a": "arguments: [{tools: [browser], names: [url, targetUrl], resolve: one}]",
	} {
		files["extra/"+name+".yaml"] = "version: 1\n" + text
	}
	l := Full.prepare(files, false)
	if len(l.problems) > 0 {
		t.Fatal(l.problems)
	}
	fetched, other := l.set.Results.Bounds(OfRuns, "web_fetch", 0, 0), l.set.Results.Bounds(OfRuns, "mine", 0,
		0)
	_, browser := l.set.References.Of("browser")
	switch {
	case fetched.Chars != 999 || fetched.Hint == "" || other.Chars != 777:
		t.Errorf("%+v %+v", fetched, other)
	case browser[0].Resolve != "one" || !browser[0].HTTPS:
		t.Errorf("%+v", browser[0])
	}
	files["extra/results.b.yaml"] = "version: 1\nresults: [{mode: executor, tool: web_fetch, chars: 998}]"
	if problems := Full.prepare(files, false).problems; !strings.Contains(problems.Error(),
		"extra/results.b.yaml:2:52: another file says something else here [E-dup]") {
		t.Error(problems)
	}
}

// layeredShipped are files that include everything and say nothing themselves.
func layeredShipped(t testing.TB) rulefile.Files {
	t.Helper()
	out := rulefile.Files{}
	for _, name := range Full.FileNames() {
		out[name] = "version: 1\ninclude: [builtin/" + name + "]\n"
	}
	whole, err := Full.Source("", "", shipped(t)).Whole(out)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// sameLimits compares all but the places of texts.
func sameLimits(a, b Limits) bool {
	texts := func(r Circles) string {
		return fmt.Sprint(r.Tell, r.End, values(r.Except), values(r.Ignore), r.Note.Value, r.Say.Value)
	}
	same := texts(a.Loop) == texts(b.Loop)
	a.Loop, b.Loop = Circles{}, Circles{}
	return same && reflect.DeepEqual(a, b)
}

// TestLayersOfBuiltin: a folder of files that only include the program's own says
// the same as the program, and differences of a few lines take effect.
func TestLayersOfBuiltin(t *testing.T) {
	plain, problems := Full.Load(layeredShipped(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want, counts := loaded(t), plain.Counts
	counts.Files, counts.Tests = want.Counts.Files, want.Counts.Tests // a folder has tests of its own
	// those of programs stay with the program
	counts.Examples = want.Counts.Examples
	if counts != want.Counts || !sameLimits(plain.Limits, want.Limits) ||
		len(plain.Servers) != len(want.Servers) || len(plain.Tools.Groups) != len(want.Tools.Groups) {
		t.Errorf("%+v, not %+v", plain.Counts, want.Counts)
	}
	files := layeredShipped(t)
	files[aliasesFile] += "tools:\n  exec: [zsh]\nhit:\n  - {name: zsh, tools: [exec], gives: exec}\n"
	files[limitsFile] += "size: {text: 64KiB}\n"
	files[modelsFile] += "models:\n  - id: mine\n    about: mine\n    mode: provider\n  - id: executor\n    profile: native\n"
	files[strategiesFile] += "strategies:\n  - {id: markers, enabled: false}\n"
	set, problems := Full.Load(files)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if first := set.Models[0].ID.Value; first != want.Models[0].ID.Value {
		t.Errorf("a new model in front is the default: %s", first)
	}
	if set.Limits.TextBytes != 64<<10 || set.Limits.RequestBytes != want.Limits.RequestBytes {
		t.Errorf("limits %+v", set.Limits)
	}
	if m, _ := set.Model("executor"); set.Models[0].ID.Value != "gpt-oss" ||
		set.Models[1].ID.Value != "mine" || m.Profile.Value != "native" || m.Mode != "executor" ||
		len(set.Models) != len(want.Models)+1 {
		t.Errorf("models %+v", set.Models)
	}
	names := set.Tools.Groups[0].Names
	if a := names[1]; names[0].Text != "exec" || a.Text != "zsh" || a.Place != "aliases.yaml:4" {
		t.Errorf("the first alias is %+v", a)
	}
	if a := names[2]; a.Text != "bash" || !strings.HasPrefix(a.Place, "builtin/aliases.yaml:") {
		t.Errorf("the second alias is %+v", a)
	}
}

// TestLayersPlaces: a problem stands where its text stands, in whichever file.
func TestLayersPlaces(t *testing.T) {
	files := layeredShipped(t)
	files[strategiesFile] += "strategies:\n  - {id: markrs, enabled: false}\n"
	files["builtin/limits.yaml"] = testkit.Replace(t, files["builtin/limits.yaml"], "depth: 128", "depth: deep",
		1)
	_, problems := Full.Load(files)
	if len(problems) != 2 || problems[0].File != "builtin/limits.yaml" ||
		problems[0].Msg != "depth must be a whole number, not deep" {
		t.Fatal(problems)
	}
	if p := problems[1]; p.File != strategiesFile || p.Line != 4 ||
		p.Hint != "nothing that is included has the id markrs; did you mean markers?" {
		t.Errorf("%+v", p)
	}
}

// An extra file has the name of the file that it says more of. Problems in it stand there,
// and one that says more of nothing is one.
func TestExtraFiles(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"extra/limits.mine.yaml":  {"version: 1\nsize: {text: 64KiB}\n", ""},
		"extra/limits.a.b.yaml":   {"version: 1\n", ""},
		"extra/limits.wrong.yaml": {"version: 1\nsize: {txt: 64KiB}\n", "extra/limits.wrong.yaml:2:8: unknown key txt [E-key]"},
		"extra/exec.wrong.yaml": {"version: 1\nrules: [{id: x, deny: No., when: nothing}]\n",
			"extra/exec.wrong.yaml:2:34: a condition here sees no nothing"},
		"extra/exec.hit.yaml": {"version: 1\nrules: [{id: x, deny: No., when: \"cmd.binary == 'x'\", hit: [y]}]\n", "extra/exec.hit.yaml:2:"},
		"extra/limits.yaml": {"version: 1\n",
			"extra/limits.yaml: this says more of no rule file [E-file]"},
		"extra/mine.yaml": {"version: 1\n",
			"name it after one, with a word of your own, as in exec.ours.yaml"},
		"extra/limit.mine.yaml":    {"version: 1\n", "did you mean limits.yaml?"},
		"extra/recovery.none.yaml": {"", "extra/recovery.none.yaml: this file is empty"},
	} {
		for kind, files := range map[string]rulefile.Files{"full": maps.Clone(shipped(t)),
			"layered": layeredShipped(t)} {
			files[name] = c.text
			load := untried
			if strings.Contains(c.text, "hit: ") {
				load = Full.Load
			}
			set, problems := load(files)
			if (set != nil) != (c.want == "") || !strings.Contains(problems.Error(), c.want) {
				t.Errorf("%s in a %s folder: %v", name, kind, problems)
			}
			if name == "extra/limits.mine.yaml" && set.Limits.TextBytes != 64<<10 {
				t.Errorf("%s in a %s folder: %d", name, kind, set.Limits.TextBytes)
			}
		}
	}
}

// A text of one's own stands beside the prompts of the program; one of the same name in
// pathTerm of that one.
func TestPromptsByName(t *testing.T) {
	own := layeredShipped(t)
	for name := range own {
		if !rulefile.IsRuleFile(name) || strings.HasPrefix(name, rulefile.PromptFolder+"/") {
			delete(own, name)
		}
	}
	own["prompts/ours.txt"], own["prompts/another.txt"] = "ours", "another"
	whole, err := Full.Source("", "", shipped(t)).Whole(own)
	check(t, err)
	set, problems := Full.Load(whole)
	if set == nil {
		t.Fatal(problems)
	}
	want := map[string]string{"ours": "ours", "another": "another"}
	for name, p := range loaded(t).Prompts {
		want[name] = p.Text()
	}
	got := map[string]string{}
	for name, p := range set.Prompts {
		got[name] = p.Text()
	}
	if len(want) != 6 || !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := whole.Own(); !maps.Equal(got, own) {
		t.Errorf("the operator's own are %v", slices.Sorted(maps.Keys(got)))
	}
}

// FuzzIncluding: no file that includes others panics, however wild it is.
func FuzzIncluding(f *testing.F) {
	f.Add("version: 1\ninclude: [packs/b.yaml]\nx: [{id: a}]",
		"version: 1\ninclude: [packs/a.yaml, packs/b.yaml]\nx: [{id: a, l: [1]}]")
	f.Fuzz(func(t *testing.T, a, b string) {
		l := Full.prepare(rulefile.Files{"a.yaml": a, "packs/a.yaml": a, "packs/b.yaml": b, "extra/a.1.yaml": b,
			"extra/a.2.yaml": a, "secret.yaml": "s: 1"}, false)
		l.decode("a.yaml", new(strategyFile), false)
	})
}

// A folder of an earlier version has a text react.txt: a model that names it gets that text, and
// the style goes on with the template of the program.
func TestEarlierPrompts(t *testing.T) {
	own := layeredShipped(t)
	for name := range own {
		if !rulefile.IsRuleFile(name) || strings.HasPrefix(name, rulefile.PromptFolder+"/") {
			delete(own, name)
		}
	}
	own["prompts/react.txt"] = "Write {{three}} lines."
	own["extra/models.ours.yaml"] = "version: 1\nmodels:\n  - {id: gpt-oss, prompt: react, style: react}\n"
	whole, err := Full.Source("", "", shipped(t)).Whole(own)
	check(t, err)
	set, problems := Full.Load(whole)
	if set == nil {
		t.Fatal(problems)
	}
	said, err := set.Prompts["react"].Say(prompt.Facts{})
	check(t, err)
	style, err := set.Style(set.Models[0], StyleEnv{Native: true})
	check(t, err)
	if said != own["prompts/react.txt"] || style == nil || style.ID != "react" || !style.Form.IsStyle() {
		t.Errorf("%q %+v", said, style)
	}
}
