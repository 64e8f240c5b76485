package connection

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

var side = Sidecar{URL: "http://127.0.0.1:8001/v1", Models: []string{"gpt-oss", "gpt-oss-20b"},
	Serves: []string{"gpt-oss", "gpt-oss-20b", "executor"},
	Window: Tokens{Number: 65536}, Reply: Tokens{Number: 8192, Guessed: true}}

func shipped(t *testing.T) Agents {
	t.Helper()
	names, err := filepath.Glob("../../rules/agents/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	type file struct {
		Version int        `rule:"version"`
		Connect Connection `rule:"connect"`
	}
	agents := Agents{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, connect, is := strings.Cut(string(text), "\nconnect:")
		f, problems := rulefile.Decode[file](name, "version: 1\nconnect:"+connect)
		if problems = append(problems, f.Connect.Problems()...); is && len(problems) > 0 {
			t.Fatal(problems)
		}
		if f.Connect.Known() {
			agents[strings.TrimSuffix(filepath.Base(name), ".yaml")] = f.Connect
		}
	}
	if len(agents) < 7 {
		t.Fatalf("%d agents", len(agents))
	}
	return agents
}

// changed are the lines of a difference, in short.
func changed(before, after []byte) (out []string) {
	for i, line := range strings.Split(string(diff.Diff("a", before, "b", after)), "\n") {
		if i > 3 && (strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+")) {
			out = append(out, line)
		}
	}
	return out
}

// What a config holds stays, byte for byte, but for the lines that lead elsewhere; written twice, nothing
// changes.
func TestMergeKeeps(t *testing.T) {
	agents := shipped(t)
	for _, c := range []struct {
		agent, text string
		gone        []string // lines of the text that are replaced
		has         []string // in what becomes of it
	}{
		{"opencode", `{
  // my providers
  "$schema": "https://example.org/mine.json",
  "model": "anthropic/claude",
  "theme": "system", /* keep */
  "provider": {
    "ollama": { "npm": "@ai-sdk/openai-compatible", "options": { "baseURL": "http://localhost:11434/v1" } },
    "gpt-oss-executor": { "options": { "baseURL": "http://old:1/v1", "timeout": 600000 }, "models": { "gpt-oss": { "name": "Mine", "limit": { "context": 32768, "output": 4096 } } } },
  },
  "permission": { "bash": "ask" },
}
`, []string{`-  "model": "anthropic/claude",`, `-    "gpt-oss-executor": { "options": { "baseURL": "http://old:1/v1", "timeout": 600000 }, "models": { "gpt-oss": { "name": "Mine", "limit": { "context": 32768, "output": 4096 } } } },`},
			[]string{`"model": "gpt-oss-executor/gpt-oss"`,
				`"baseURL": "http://127.0.0.1:8001/v1", "timeout": 600000`, `"name": "Mine"`,
				`"context": 65536, "output": 4096`, `"gpt-oss-20b"`, `"apiKey": "none"`}},
		{"codex", `# my Codex
model = "gpt-5.5" # the big one
approval_policy = "never"

[mcp_servers.files] # tools
command = "npx"
args = ["-y",
  "files", # all
]

[model_providers.azure]
name = "Azure"
base_url = 'https://x/v1'

[projects."/home/me/code"]
trust_level = "trusted"
`, []string{`-model = "gpt-5.5" # the big one`},
			[]string{`model = "gpt-oss" # the big one`,
				"approval_policy = \"never\"\nmodel_provider = \"gpt-oss-executor\"\nmodel_context_window = 65536\n\n[mcp",
				"\n[model_providers.gpt-oss-executor]\nname = \"gpt-oss-executor\"\nbase_url = \"http://127.0.0.1:8001/v1\"\nwire_api = \"responses\"\n"}},
		{"pi", `{
  "providers": { // mine
    "ollama": {"baseUrl": "http://localhost:11434/v1", "api": "openai-completions", "apiKey": "ollama", "models": [{"id": "gpt-oss"}]}
  }
}`, []string{`-    "ollama": {"baseUrl": "http://localhost:11434/v1", "api": "openai-completions", "apiKey": "ollama", "models": [{"id": "gpt-oss"}]}`},
			[]string{`"models": [{"id": "gpt-oss"}]}`, `"api": "openai-responses"`, `"id": "gpt-oss-20b"`,
				`"contextWindow": 65536`}},
		{"qwen-code", `{
  "ui": { "theme": "x" },
  "modelProviders": {
    "openai": [
      { "id": "gpt-oss", "name": "gpt-oss", "baseUrl": "http://localhost:11434/v1" }
    ]
  },
  "security": { "auth": { "selectedType": "qwen-oauth" } },
  "$version": 4
}
`, []string{`-      { "id": "gpt-oss", "name": "gpt-oss", "baseUrl": "http://localhost:11434/v1" }`, `-  "security": { "auth": { "selectedType": "qwen-oauth" } },`, `-  "$version": 4`},
			[]string{`{ "id": "gpt-oss", "name": "gpt-oss", "baseUrl": "http://localhost:11434/v1" },`,
				`"selectedType": "openai"`, `"name": "gpt-oss-20b (gpt-oss-executor)"`,
				`"GPTOSS_EXECUTOR_KEY": "none"`}},
		{"continue", `# mine
name: Assistant # whose
version: 0.0.1
schema: v1
models:
  - name: Ollama # at home
    provider: ollama
    model: gpt-oss
  - name: gpt-oss (gpt-oss-executor)
    provider: openai
    model: gpt-oss
    apiBase: http://old:1/v1 # was there
    capabilities:
      - image_input
    requestOptions: {timeout: 900}

context:
  - provider: code
`, []string{`-    apiBase: http://old:1/v1 # was there`},
			[]string{"name: Assistant # whose", "apiBase: http://127.0.0.1:8001/v1 # was there",
				"      - image_input\n      - tool_use\n    requestOptions: {timeout: 900}\n    apiKey: none\n", "  - name: gpt-oss-20b (gpt-oss-executor)\n", "\n\ncontext:\n"}},
		{"cline", `{"version":1,"lastUsedProvider":"cline","modes":{"plan":{"provider":"cline"}},"providers":{"cline":{"settings":{"provider":"cline"},"updatedAt":"2026-11-28T19:42:34.768Z","tokenSource":"oauth"}}}`, nil,
			[]string{`"plan":{"provider":"cline"}`,
				`"cline":{"settings":{"provider":"cline"},"updatedAt":"2026-11-28T19:42:34.768Z","tokenSource":"oauth"}`, `"lastUsedProvider":"openai-compatible"`}},
		{"goose", `extensions:
  developer:
    enabled: true
    args: []
GOOSE_PROVIDER: "anthropic" # for now
# GOOSE_MODEL: other
GOOSE_MODE: auto`, []string{`-GOOSE_PROVIDER: "anthropic" # for now`},
			[]string{`GOOSE_PROVIDER: "openai" # for now`,
				"GOOSE_MODE: auto\nGOOSE_MODEL: gpt-oss\nOPENAI_HOST: http://127.0.0.1:8001\n",
				"GOOSE_CONTEXT_LIMIT: 65536"}},
	} {
		a := agents[c.agent]
		got, err := a.Configs[0].Merge([]byte(c.text), a.Key, side)
		if err != nil {
			t.Errorf("%s: %v", c.agent, err)
			continue
		}
		if again, err := a.Configs[0].Merge(got, a.Key, side); err != nil || string(again) != string(got) {
			t.Errorf("%s, once more: %v\n%s", c.agent, err, changed(got, again))
		}
		for _, line := range changed([]byte(c.text), got) {
			if line[0] == '-' && !slices.Contains(c.gone, line) && strings.Contains(c.text, "\n") &&
				!strings.HasSuffix(c.text, line[1:]) {
				t.Errorf("%s lost %s", c.agent, line)
			}
		}
		for _, has := range c.has {
			if !strings.Contains(string(got), has) {
				t.Errorf("%s has no %s:\n%s", c.agent, has, got)
			}
		}
	}
}

// Each agent has a config where there was none, which is what Merge wants of one, whatever the key is.
func TestMergeIntoNothing(t *testing.T) {
	for name, a := range shipped(t) {
		for key, want := range map[string]string{"": "none", "s3cret": "s3cret", "${GX_TOKEN}": "GX_TOKEN"} {
			s := side
			s.Key = key
			all := ""
			for _, config := range a.Configs {
				got, err := config.Merge(nil, a.Key, s)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if again, err := config.Merge(got, a.Key, s); err != nil || string(again) != string(got) {
					t.Errorf("%s: %v\n%s", name, err, changed(got, again))
				}
				all += string(got)
			}
			for _, text := range slices.Concat(a.Commands, a.Remarks) {
				said, _ := s.Say(text.Value, a.Key)
				all += said + "\n"
			}
			if strings.Contains(all, "{url}") || strings.Contains(all, "{model}") ||
				!strings.Contains(all, "http://127.0.0.1:8001") || !strings.Contains(all, "gpt-oss") {
				t.Errorf("%s: %s", name, all)
			}
			if none := a.Key.None.Value == "" && key == "" || key == "${GX_TOKEN}" && name == "cline"; !none &&
				!strings.Contains(all, want) {
				t.Errorf("%s with the key %q: no %s in\n%s", name, key, want, all)
			}
			if key == "${GX_TOKEN}" && strings.Contains(all, "none") && name != "codex" &&
				name != "qwen-code" && strings.Contains(all, `"none"`) {
				t.Errorf("%s: a key that is none:\n%s", name, all)
			}
		}
	}
}

// A value that is as good stays; one that is told does not.
func TestMergeTokens(t *testing.T) {
	a := shipped(t)["codex"]
	for _, c := range []struct {
		window     Tokens
		text, want string
	}{
		{Tokens{131072, true}, "model_context_window = 40000\n", "model_context_window = 40000\n"},
		{Tokens{131072, false}, "model_context_window = 40000\n", "model_context_window = 131072\n"},
		{Tokens{131072, true}, "model_context_window = \"many\"\n", "model_context_window = 131072\n"},
		{Tokens{131072, true}, "model = \"gpt-oss-20b\" # smaller\n", "model = \"gpt-oss-20b\" # smaller\n"},
		{Tokens{131072, true}, "model = \"gpt-4\"\n", "model = \"gpt-oss\"\n"},
	} {
		s := side
		s.Window = c.window
		if got, err := a.Configs[0].Merge([]byte(c.text), a.Key, s); err != nil ||
			!strings.HasPrefix(string(got), c.want) {
			t.Errorf("%s: %v\n%s", c.text, err, got)
		}
	}
}

// A config that cannot be read, or has something else in the place, is refused with a place.
func TestMergeRefuses(t *testing.T) {
	agents := shipped(t)
	for _, c := range []struct{ agent, text, want string }{
		{"opencode", "{\n  \"a\": 1\n  \"b\": 2 }", `3:3: invalid character '"' after object value (expecting ',' or '}')`},
		{"opencode", "{\n  \"model\": 'x',\n}", "2:12: a string stands in single quotes, as JSON5 alone has it; write it in double quotes"},
		{"opencode", "[]", "1:1: the config is a list, and must be an object"},
		{"opencode", "{\n \"provider\": \"x\" }", "2:14: provider is a string, and must be an object here"},
		{"codex", "a = 1\nmodel = \n", "2:9: "},
		{"codex", "[[model_providers]]\n", "1:1: model_providers "},
		{"continue", "a: 1\nb: [1, 2\nc: 3\n", "2:4: "},
		{"continue", "models: none of them\n", "1:9: models is a string, and must be a list here"},
		{"continue", "a: 1\n---\nb: 2\n", "2:1: a second document begins with ---"},
		{"goose", "- a\n", "1:1: the config is a list, and must be an object"},
	} {
		a := agents[c.agent]
		got, err := a.Configs[0].Merge([]byte(c.text), a.Key, side)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %q: %v, want %s\n%s", c.agent, c.text, err, c.want, got)
		}
	}
}

// The config is where the agent looks for it.
func TestPath(t *testing.T) {
	agents := shipped(t)
	for _, c := range []struct {
		agent  string
		env    map[string]string
		exists string
		want   string
	}{
		{"codex", nil, "", "/home/me/.codex/config.toml"},
		{"codex", map[string]string{"CODEX_HOME": "/c"}, "", "/c/config.toml"},
		{"opencode", map[string]string{"XDG_CONFIG_HOME": "/x"}, "", "/x/opencode/opencode.json"},
		{"opencode", nil, "/home/me/.config/opencode/opencode.jsonc", "/home/me/.config/opencode/opencode.jsonc"},
		{"cline", map[string]string{"CLINE_DIR": "/l"}, "", "/l/data/settings/providers.json"},
		{"pi", map[string]string{"PI_CODING_AGENT_DIR": "~/pi"}, "", "/home/me/pi/models.json"},
	} {
		variable := func(name string) string {
			if name == "HOME" {
				return "/home/me"
			}
			return c.env[name]
		}
		a := agents[c.agent]
		if got := a.Configs[0].Path(variable,
			func(path string) bool { return path == c.exists }); got != c.want {
			t.Errorf("%s: %s, want %s", c.agent, got, c.want)
		}
	}
}

// Whatever a config holds, what becomes of it holds each comment, and stays as it is when it is written
// again. That all other values stay is seen to by Merge itself.
func TestMergeAny(t *testing.T) {
	agents := shipped(t)
	lines := map[string][]string{
		"codex": {"a = 1", "model = 'x' # was", "[t] # tail", "[t.u]", "x.y = { z = 1, w = [1, 2] }", "[[l]]", "k = \"\"\"\nb # no comment\n\"\"\"", "# c", "",
			"model_providers.mine.name = \"x\"", "[model_providers.gpt-oss-executor]", "name = 'y'",
			"base_url = ''", "[model_providers]", "model_providers = {}", "  i = [\n    1, # one\n  ]"},
		"continue": {"a: 1", "name: 'x' # was", "t: # tail", "  u: {x: 1}", "  v: [a, b]", "models:", "models: []", "models: # none", "- name: x", "  - name: gpt-oss (gpt-oss-executor) # ours", "    provider: y",
			"    roles: [chat]", "# c", "    # deep", "", "s: |", "  # text", "  more", "l:\n- 1\n- b: 2",
			"q: \"a\n  b\"", "n: ~", "z: &x {k: 1}", "y: *x"},
	}
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom([]string{"codex", "continue"}).Draw(rt, "agent")
		newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "newline")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines[name]), 0, 9).Draw(rt, "lines"), "\n")
		text = strings.ReplaceAll(text+rapid.SampledFrom([]string{"", "\n"}).Draw(rt, "end"), "\n", newline)
		a := agents[name]
		got, err := a.Configs[0].Merge([]byte(text), a.Key, side)
		if err != nil {
			rt.Skip("refused, which TestMergeRefuses looks at")
		}
		for line := range strings.Lines(text) {
			_, comment, found := strings.Cut(strings.TrimSpace(line), "#")
			if found && strings.Count(string(got), "#"+comment) < strings.Count(text, "#"+comment) {
				rt.Fatalf("%q lost #%s:\n%q", text, comment, got)
			}
		}
		if again, err := a.Configs[0].Merge(got, a.Key, side); err != nil || string(again) != string(got) {
			rt.Fatalf("%q became %q, and then %q: %v", text, got, again, err)
		}
	})
}
