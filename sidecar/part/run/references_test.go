package run_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/executor"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

const newsFound = `{"results":[{"title":"Tides rise","url":"https://example.com/tides"},{"title":"Second","url":"https://example.org/second"}]}`

func newsBench() *provider.Source {
	return &provider.Source{Result: func(name string, _ int) tools.Result {
		if name == "web_search" {
			return tools.Result{Text: newsFound}
		}
		return tools.Result{Text: "done"}
	}}
}

// What a call leaves open is taken from this run for tools that read, and refused with what may
// be meant for all others.
func TestReferences(t *testing.T) {
	search := script.Native("web_search", `{"query":"news"}`)
	const searchRan = `web_search {"count":10,"query":"news"}`
	for name, c := range map[string]struct {
		replies []script.Reply
		ran     []string // without the search
		told    []string // what the model reads at the end
	}{
		"the top result": {[]script.Reply{search, script.Native("web_fetch", `{"url":"the top result"}`)},
			[]string{`web_fetch {"url":"https://example.com/tides"}`},
			[]string{`[The url "the top result" was taken for https://example.com/tides.]`}},
		"by its title": {[]script.Reply{search, script.Native("web_fetch", `{"url":"<link of the article Second>"}`)},
			[]string{`web_fetch {"url":"https://example.org/second"}`}, nil},
		"all calls in one reply": {[]script.Reply{script.Reply{Calls: []script.Call{{Name: "web_search", Arguments: `{"query":"news"}`}, {Name: "web_fetch", Arguments: `{"url":"<will fill from results>"}`}}}},
			[]string{`web_fetch {"url":"https://example.com/tides"}`}, nil},
		"a result that is not there": {[]script.Reply{search, script.Native("web_fetch", `{"url":"the fifth result"}`)},
			nil, []string{"was not said",
				"1. https://example.com/tides (Tides rise)\\n2. https://example.org/second (Second)"}},
		"nothing was found": {[]script.Reply{script.Native("web_fetch", `{"url":"URL from above"}`)},
			nil, []string{"No result before has an address"}},
		"a tool that writes": {[]script.Reply{script.Native("read", `{"path":"/tmp/a.md"}`), script.Native("write", `{"path":"<output file>","content":"x"}`)},
			[]string{`read {"path":"/tmp/a.md"}`}, []string{"1. /tmp/a.md", "with ./ before it"}},
		"a tool that reads": {[]script.Reply{script.Native("write", `{"path":"/tmp/a.md","content":"x"}`), script.Native("read", `{"path":"<output file>"}`)},
			[]string{`write {"path":"/tmp/a.md","content":"x"}`, `read {"path":"/tmp/a.md"}`}, nil},
		"an address without https": {[]script.Reply{script.Native("web_fetch", `{"url":"example.com/x"}`)},
			[]string{`web_fetch {"url":"https://example.com/x"}`}, nil},
		"a content, a query": {[]script.Reply{search, script.Native("write", `{"path":"/tmp/a.md","content":"<output file>"}`)},
			[]string{`write {"path":"/tmp/a.md","content":"<output file>"}`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newsBench()
			r := executor.Play(t, b, nil, append(c.replies, script.Text("That is all."))...)
			if a := r.Run(false, ""); a.Status != 200 || a.Text != "That is all." {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			ran := slices.DeleteFunc(b.Calls(), func(call string) bool { return call == searchRan })
			if !slices.Equal(ran, c.ran) {
				t.Errorf("ran %q, want %q", ran, c.ran)
			}
			asked := r.Model.Requests("")
			for _, told := range c.told {
				if last := string(asked[len(asked)-1].Body); !strings.Contains(last,
					strings.ReplaceAll(told, `"`, `\"`)) {
					t.Errorf("the model is not told %q in %s", told, last)
				}
			}
		})
	}
}

// Nothing comes from the messages of the caller, nor from another run; a file that is there is
// taken by its name; an answer that asks for several at once waits for the results before it.
func TestReferencesOfThisRun(t *testing.T) {
	b := newsBench()
	fetch := script.Native("web_fetch", `{"url":"the top result"}`)
	r := executor.Play(t, b, func(r *run.Runs) { r.Parallel = "read" },
		script.Native("web_search", `{"query":"news"}`), script.Text("Found."), fetch, script.Text("No."),
		script.Reply{Calls: []script.Call{{Name: "web_search", Arguments: `{"query":"more"}`},
			{Name: "web_fetch", Arguments: `{"url":"the top result"}`}}}, script.Text("Yes."))
	if a := r.Run(false, ""); a.Text != "Found." {
		t.Fatal(a.Body)
	}
	before := len(b.Calls())
	if a := r.Chat(`{"model":"executor","messages":[{"role":"user","content":"go on"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"web_search","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"https://elsewhere.example/"},{"role":"user","content":"fetch it"}]}`); a.Text != "No." || len(b.Calls()) != before {
		t.Errorf("%s, ran %q", a.Text, b.Calls()[before:])
	}
	if a := r.Run(false, ""); a.Text != "Yes." ||
		!slices.Contains(b.Calls(), `web_fetch {"url":"https://example.com/tides"}`) {
		t.Errorf("%s, ran %q", a.Text, b.Calls()[before:])
	}

	dir := t.TempDir()
	ruletest.Must(t, os.WriteFile(filepath.Join(dir, "<output file>"), nil, 0o600))
	b = newsBench()
	set := *ruletest.Shipped(t, executor.Sections()...)
	r = executor.Start(t, provider.Setup{Set: &set, World: guard.NewWorld(guard.Machine{Workspace: dir})}, b, nil,
		script.New(script.Scenario{Steps: []script.Reply{script.Native("write",
			`{"path":"<output file>","content":"x"}`),
			script.Native("write", `{"path":"./<new file>","content":"x"}`), script.Text("Done.")}}))
	if a := r.Run(false, ""); a.Text != "Done." || len(b.Calls()) != 2 {
		t.Errorf("%s, ran %q", a.Body, b.Calls())
	}
}

// What is filled in is judged as if the model had written it: a result that somebody poisoned
// leads to no address that may not be asked.
func TestPoisonedReferences(t *testing.T) {
	for _, address := range []string{"http://169.254.169.254/latest/meta-data/", "http://localhost:1/",
		"http://[::1]:9/", "http://10.0.0.1/admin", "https://user:secret@example.com/"} {
		b := &provider.Source{Result: func(name string, _ int) tools.Result {
			return tools.Result{Text: `{"results":[{"title":"News","url":"` + address + `"}]}`}
		}}
		r := executor.Play(t, b, nil, script.Native("web_search", `{"query":"news"}`),
			script.Native("web_fetch", `{"url":"the top result"}`), script.Text("I may not."))
		if a := r.Run(false, ""); a.Status != 200 {
			t.Errorf("%s: %d %s", address, a.Status, a.Body)
		}
		if got := b.Calls(); len(got) != 1 {
			t.Errorf("%s: ran %q", address, got)
		}
	}
}
