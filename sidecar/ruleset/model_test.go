package ruleset

import (
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"maps"
	"strings"
	"testing"
	"time"
)

// The default is the model that is named, wherever it stands; without a name the first one.
// So a model more is nobody's default until somebody says so.
func TestDefaultModel(t *testing.T) {
	models := "models:\n  - {id: a, about: x, mode: provider}\n  - {id: b, about: x, mode: provider}\n  - {id: c, about: x, mode: provider}\n"
	for said, want := range map[string]string{
		"": "a b c", "default: a\n": "a b c", "default: b\n": "b a c", "default: c\n": "c a b",
		"default: d\n":     "models.yaml:2:10: there is no model d [E-ref]",
		"default: bb\n":    "one of: a, b, c",
		"default: [a]\n":   "default must be a text",
		"default: ''\n":    "there is no model",
		"default: a b\n":   "there is no model a b",
		"defaults: a\n":    "did you mean default?",
		"default: b # x\n": "b a c",
	} {
		files := maps.Clone(shipped(t))
		files[modelsFile] = "version: 1\n" + said + models
		set, problems := untried(files)
		if set == nil {
			if !strings.Contains(problems.Error(), want) {
				t.Errorf("%q: %v", said, problems)
			}
			continue
		}
		var ids []string
		for _, m := range set.Models {
			ids = append(ids, m.ID.Value)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q: %s, want %s", said, got, want)
		}
	}
}

// A model that is added to the shipped ones is there, and the default stays.
func TestModelMore(t *testing.T) {
	const mine = "models:\n  - {id: mine, about: x, mode: provider}\n"
	for name, c := range map[string]struct{ file, text, want string }{
		"below the include": {modelsFile, layeredShipped(t)[modelsFile] + mine, "gpt-oss"},
		"as an extra file":  {"extra/models.mine.yaml", "version: 1\n" + mine, "gpt-oss"},
		"as the default":    {"extra/models.mine.yaml", "version: 1\ndefault: mine\n" + mine, "mine"},
	} {
		files := layeredShipped(t)
		files[c.file] = c.text
		set, problems := untried(files)
		if set == nil {
			t.Fatal(problems)
		}
		if _, ok := set.Model("mine"); !ok || set.Models[0].ID.Value != c.want {
			t.Errorf("%s: the default is %s", name, set.Models[0].ID.Value)
		}
	}
}

// Models name their servers; each name means one address, and every address is the program's own.
func TestUpstreams(t *testing.T) {
	const servers = "upstreams: {far: 'http://gpu.lan:8000/v1', near: 'http://127.0.0.1:9000'}\n"
	for _, row := range []struct{ servers, model, want string }{
		{servers, "upstreams: [far, main]", "far=http://gpu.lan:8000/v1 main="},
		{servers, "upstreams: [near]", "near=http://127.0.0.1:9000"},
		{servers, "mode: provider", "main="},
		{"", "upstream: 'http://x/v1'", "=http://x/v1"},
		{"", "upstreams: [main]", "main="},
		{"", "upstreams: []", "main="},
		{servers, "upstreams: [fra]", "did you mean far?"},
		{servers, "upstreams: [far, far]", "the upstream far stands here twice"},
		{servers, "{upstreams: [far], upstream: 'http://x'}", "upstream and upstreams cannot go together"},
		{servers, "upstreams: far", "upstreams must be a list"},
		{"upstreams: {main: 'http://x'}\n", "mode: provider", "main is the model server of the settings"},
		{"upstreams: {a b: 'http://x'}\n", "mode: provider", "cannot be an id"},
		{"upstreams: {a: 'x'}\n", "mode: provider", "upstream is not a base URL"},
		{"upstreams: {a: 'http://x', b: 'http://x'}\n", "mode: provider", "the address http://x stands here twice"},
	} {
		files := maps.Clone(shipped(t))
		more := strings.Trim(row.model, "{}")
		if !strings.Contains(more, "mode") {
			more += ", mode: provider"
		}
		files[modelsFile] = "version: 1\n" + row.servers + "models:\n  - {id: a, about: x, " + more + "}\n"
		set, problems := untried(files)
		if set == nil {
			if !strings.Contains(problems.Error(), row.want) {
				t.Errorf("%s%s: %v", row.servers, row.model, problems)
			}
			continue
		}
		var got []string
		for _, u := range set.UpstreamsOf(set.Models[0]) {
			got = append(got, u.Name+"="+u.URL)
		}
		if s := strings.Join(got, " "); s != row.want {
			t.Errorf("%s%s: %s, want %s", row.servers, row.model, s, row.want)
		}
	}
}

// When a server is left alone may be left out, and the locked folder bounds it.
func TestCircuitLimits(t *testing.T) {
	head, rest, _ := strings.Cut(shipped(t)[limitsFile], "circuit:\n")
	_, rest, _ = strings.Cut(rest, "\n\n")
	for says, want := range map[string]state.CircuitBounds{
		"":                                   {Failures: 3, Open: 10 * time.Second},
		"circuit: {failures: 5}\n":           {Failures: 5, Open: 10 * time.Second},
		"circuit: {open: 1m, failures: 1}\n": {Failures: 1, Open: time.Minute},
		"circuit: {open: 0s}\n":              {},
		"circuit: {failures: 0}\n":           {},
	} {
		files := maps.Clone(shipped(t))
		files[limitsFile] = head + says + "\n" + rest
		set, problems := untried(files)
		if (set == nil) != (want == state.CircuitBounds{}) || set != nil && set.Limits.Circuit != want {
			t.Errorf("%q: %v", says, problems)
		}
	}
}
