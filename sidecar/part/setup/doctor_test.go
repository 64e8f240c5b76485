package setup

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// patient has the built-in rules, a model server and a state folder of its own.
func patient(t *testing.T, model http.Handler) *Patient {
	t.Helper()
	p := &Patient{Set: ruletest.Shipped(t, run.Part{}.Rules()...), Rules: RulesFound{Folder: "builtin"}, URL: "http://127.0.0.1:8001/v1",
		Progress: new(bytes.Buffer)}
	p.Settings = config.Settings{State: filepath.Join(t.TempDir(), "state"), Listen: "127.0.0.1:8001"}
	if err := os.Mkdir(p.Settings.State, 0o700); err != nil {
		t.Fatal(err)
	}
	if model != nil {
		srv := httptest.NewServer(model)
		t.Cleanup(srv.Close)
		p.Settings.Upstream = srv.URL
	}
	p.World = service.World(p.Settings)
	return p
}

func find(t *testing.T, list []Check, name string) Check {
	t.Helper()
	for _, c := range list {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("nothing was looked at as %s: %+v", name, list)
	return Check{}
}

// The command line of each kind of server with which nothing is wrong.
var good = map[string]string{
	"vllm":     "--tool-call-parser openai --enable-auto-tool-choice --max-model-len 65536",
	"vllm-old": "--tool-call-parser openai --enable-auto-tool-choice --max-model-len 65536",
	"ollama":   "OLLAMA_CONTEXT_LENGTH=65536",
	"llamacpp": "--jinja -c 65536",
	"sglang":   "--tool-call-parser gpt-oss --reasoning-parser gpt-oss --context-length 65536",
	"lmstudio": "--context-length 65536",
}

func TestGoodServers(t *testing.T) {
	for _, d := range servers.Dialects() {
		t.Run(d.ID, func(t *testing.T) {
			model := servers.New(d, servers.StartOf(d, good[d.ID]))
			list := patient(t, model).servers(context.Background())
			for _, c := range list {
				if c.Status != ok || c.Fix != "" {
					t.Errorf("%+v", c)
				}
			}
			for name, want := range map[string]string{
				"dialect": strings.TrimSuffix(d.ID, "-old"), "models": "gpt-oss → " + d.Model,
				"tool_calls": "one of current_time",
				"reasoning":  "the field " + d.Reasoning, "structured_output": "followed",
				"truncation": "read whole", "output_limit": "came whole",
			} {
				if c := find(t, list, name); !strings.Contains(c.Found, want) {
					t.Errorf("no %q in %+v", want, c)
				}
			}
			if n := len(model.Requests("")); n != 4 {
				t.Errorf("%d questions", n)
			}
		})
	}
}

// Each finding is mended by the flag that its fix says: started with it, the server has no flaw.
func TestFlagsMend(t *testing.T) {
	for _, row := range []struct {
		dialect, bad, name string
		status             openclaw.Status
		found, flag        string // flag is added to the bad line
	}{
		{"vllm", "--max-model-len 65536", "tool_calls", fail, "tool calling is off", "--tool-call-parser openai --enable-auto-tool-choice"},
		{"vllm-old", "", "tool_calls", fail, "tool calling is off", "--tool-call-parser openai --enable-auto-tool-choice"},
		{"llamacpp", "-c 65536", "tool_calls", fail, "requires --jinja", "--jinja"},
		{"sglang", "--reasoning-parser gpt-oss", "tool_calls", fail, "sends the call as text", "--tool-call-parser gpt-oss"},
		{"sglang", "--tool-call-parser gpt-oss", "reasoning", warn, "no reasoning came", "--reasoning-parser gpt-oss"},
		{"llamacpp", "--reasoning-format none", "reasoning", warn, "no reasoning came", "--reasoning-format auto"},
		{"vllm", "--max-model-len 8192", "context_window", fail, "window is 8192 tokens", "--max-model-len 65536"},
		{"vllm", "--max-model-len 8192", "truncation", fail, "refused", "--max-model-len 65536"},
		{"vllm", "--max-model-len 40000", "context_window", warn, "40000 tokens", "--max-model-len 65536"},
		{"llamacpp", "-c 16384", "context_window", fail, "window is 16384 tokens", "-c 65536"},
		{"sglang", "--context-length 4096", "context_window", fail, "window is 4096 tokens", "--context-length 65536"},
		{"lmstudio", "--context-length 4096", "context_window", fail, "window is 4096 tokens", "--context-length 65536"},
		{"ollama", "", "truncation", fail, "silently truncated", "OLLAMA_CONTEXT_LENGTH=65536"},
		{"ollama", "OLLAMA_CONTEXT_LENGTH=20000", "context_window", fail, "window is 20000 tokens", "OLLAMA_CONTEXT_LENGTH=65536"},
		{"llamacpp", "-n 100", "output_limit", fail, "after ", "-n -1"},
		{"vllm", `--override-generation-config '{"max_new_tokens":100}'`, "output_limit", fail, "after ", `--override-generation-config '{"max_new_tokens":32768}'`},
	} {
		t.Run(row.dialect+" "+row.bad+" "+row.name, func(t *testing.T) {
			d := dialect(t, row.dialect)
			c := find(t, patient(t, servers.New(d,
				servers.StartOf(d, row.bad))).servers(context.Background()), row.name)
			if c.Status != row.status || !strings.Contains(c.Found, row.found) ||
				!strings.Contains(c.Fix, row.flag) {
				t.Errorf("%+v", c)
			}
			line := row.flag + " " + row.bad // of a flag that stands twice the first one counts here
			c = find(t, patient(t, servers.New(d, servers.StartOf(d, line))).servers(context.Background()),
				row.name)
			if c.Status != ok {
				t.Errorf("with %s: %+v", row.flag, c)
			}
		})
	}
}

func dialect(t *testing.T, id string) script.Dialect {
	t.Helper()
	for _, d := range servers.Dialects() {
		if d.ID == id {
			return d
		}
	}
	t.Fatalf("no dialect %s", id)
	return script.Dialect{}
}

// What is wrong with a server in every dialect, and what goes with it.
func TestFlawsOfAllDialects(t *testing.T) {
	for _, row := range []struct {
		name, found string
		spoil       func(*servers.Start)
		fix         map[string]string
	}{
		{"tool_calls", "tool calling is off", func(s *servers.Start) { s.Tools = false }, map[string]string{
			"vllm": "--enable-auto-tool-choice", "vllm-old": "--enable-auto-tool-choice",
			"ollama": "ollama pull gpt-oss:20b", "llamacpp": "--jinja",
			"sglang": "--tool-call-parser gpt-oss", "lmstudio": "lms get openai/gpt-oss-20b"}},
		{"tool_calls", "sends the call as text", func(s *servers.Start) { s.RawCalls = true }, map[string]string{
			"vllm": "--tool-call-parser openai", "vllm-old": "--tool-call-parser openai",
			"ollama": "ollama pull", "llamacpp": "--jinja", "sglang": "--tool-call-parser gpt-oss",
			"lmstudio": "lms get"}},
		{"structured_output", "silently ignored", func(s *servers.Start) { s.Schema = false }, map[string]string{
			"vllm": "--structured-outputs-config.backend", "vllm-old": "pip install --upgrade vllm",
			"ollama": "update Ollama", "llamacpp": "update llama.cpp", "sglang": "--grammar-backend",
			"lmstudio": "Leave tool calling on"}},
		{"reasoning", "no reasoning came", func(s *servers.Start) { s.Reasoning = false }, map[string]string{
			"vllm": "--reasoning-parser openai_gptoss", "vllm-old": "--reasoning-parser openai_gptoss",
			"ollama": "update Ollama", "llamacpp": "--reasoning-format auto",
			"sglang": "--reasoning-parser gpt-oss", "lmstudio": "separate reasoning_content"}},
		{"truncation", "silently truncated", func(s *servers.Start) { s.Silent, s.Window = true, 4096 }, map[string]string{
			"vllm": "--max-model-len 65536", "vllm-old": "--max-model-len 65536",
			"ollama": "OLLAMA_CONTEXT_LENGTH=65536 ollama serve", "llamacpp": "-c 65536",
			"sglang": "--context-length 65536", "lmstudio": "lms load"}},
		{"output_limit", "ends a reply after", func(s *servers.Start) { s.Reply = 50 }, map[string]string{
			"vllm": "--override-generation-config", "vllm-old": "--override-generation-config",
			"ollama": "num_predict -1", "llamacpp": "-n -1", "sglang": "--preferred-sampling-params",
			"lmstudio": "Limit Response Length"}},
		{"models", "none of them is meant by", func(s *servers.Start) { s.Model = "text-embedding-3" }, map[string]string{
			"vllm": "vllm serve openai/gpt-oss-20b", "vllm-old": "vllm serve",
			"ollama": "ollama pull gpt-oss:20b", "llamacpp": "-hf ggml-org/gpt-oss-20b-GGUF",
			"sglang": "--model-path", "lmstudio": "lms load"}},
	} {
		for _, d := range servers.Dialects() {
			t.Run(d.ID+" "+row.found, func(t *testing.T) {
				how := servers.Good()
				row.spoil(&how)
				c := find(t, patient(t, servers.New(d, how)).servers(context.Background()), row.name)
				if c.Status == ok || !strings.Contains(c.Found, row.found) ||
					!strings.Contains(c.Fix, row.fix[d.ID]) {
					t.Errorf("%+v", c)
				}
			})
		}
	}
}

// Ollama without a model, and with one that does not call, tells its window once the model is loaded.
func TestOllamaAsItIs(t *testing.T) {
	for _, row := range []struct{ name, list, check, found, fix string }{
		{"no model", `null`, "models", "lists no models", "ollama pull gpt-oss:20b"},
		{"no model", `null`, "tool_calls", "does not have gpt-oss", "ollama pull gpt-oss:20b"},
		{"no call", `[{"id":"gpt-oss:20b"}]`, "tool_calls", "the model made none", "run gpt-oss-executor doctor again"},
		{"its window", `[{"id":"gpt-oss:20b"}]`, "context_window", "is 8192 tokens", "OLLAMA_CONTEXT_LENGTH=65536"},
	} {
		var loaded atomic.Bool
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			said := map[string]string{"/v1/models": `{"object":"list","data":` + row.list + `}`,
				"/api/version": `{"version":"0.17.4"}`, "/api/ps": `{"models":[]}`}[r.URL.Path]
			switch {
			case r.URL.Path == "/api/chat" && row.list == "null":
				w.WriteHeader(http.StatusNotFound)
				said = `{"error":"model 'gpt-oss' not found"}`
			case r.URL.Path == "/api/chat":
				loaded.Store(true)
				said = `{"model":"gpt-oss:20b","created_at":"2026-11-28T19:24:28Z","message":{"role":"assistant","content":"Hello.","thinking":"Hm."},"done":true,"done_reason":"stop","prompt_eval_count":70000,"eval_count":5}`
			case r.URL.Path == "/api/ps" && loaded.Load():
				said = `{"models":[{"model":"other","context_length":4096},{"model":"gpt-oss:20b","context_length":8192}]}`
			case said == "":
				http.NotFound(w, r)
			}
			io.WriteString(w, said)
		}))
		p := patient(t, nil)
		p.Settings.Upstream = srv.URL
		if c := find(t, p.servers(t.Context()), row.check); c.Status == ok ||
			!strings.Contains(c.Found, row.found) || !strings.Contains(c.Fix, row.fix) {
			t.Errorf("%s: %+v", row.name, c)
		}
		srv.Close()
	}
}

func TestServersThatAreNone(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		_, _ = w.Write([]byte("<html>"))
	})
	locked := http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	})
	p := patient(t, nil)
	for _, row := range []struct {
		name, found, fix string
		is               http.Handler
	}{
		{"away", "it cannot be reached", "start the model server", nil},
		{"a page", "is no list of models", "--upstream", page},
		{"a wrong key", "it refuses the key", "GPTOSS_EXECUTOR_UPSTREAM_KEY", locked},
	} {
		t.Run(row.name, func(t *testing.T) {
			p.Settings.Upstream = "http://127.0.0.1:1"
			if row.is != nil {
				srv := httptest.NewServer(row.is)
				defer srv.Close()
				p.Settings.Upstream = srv.URL
			}
			c := find(t, p.servers(context.Background()), "upstream")
			if c.Status != fail || !strings.Contains(c.Found, row.found) ||
				!strings.Contains(c.Fix, row.fix) {
				t.Errorf("%+v", c)
			}
		})
	}
}
