package upstream

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// fake answers the probes with these bodies, all else with 404.
func fake(answers map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, ok := answers[strings.TrimPrefix(r.URL.Path, "/prefix")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write([]byte(body))
	}
}

func TestServer(t *testing.T) {
	tests := []struct {
		want    string
		answers map[string]string
		window  int
		models  string
	}{
		{"vllm", map[string]string{"/v1/models": `{"data":[{"id":"openai/gpt-oss-20b","owned_by":"vllm","max_model_len":65536},{"id":"lora"}]}`, "/version": `{"version":"0.12"}`}, 65536, "openai/gpt-oss-20b lora"},
		{"ollama", map[string]string{"/v1/models": `{"object":"list","data":[{"id":"gpt-oss:20b","owned_by":"library"}]}`, "/api/version": `{ "version" : "0.9" }`}, 0, "gpt-oss:20b"},
		{"llamacpp", map[string]string{"/v1/models": `{"data":[{"id":"gpt-oss.gguf","owned_by":"llamacpp"}]}`, "/props": `{"default_generation_settings":{"n_ctx":4096}}`}, 4096, "gpt-oss.gguf"},
		{"sglang", map[string]string{"/v1/models": `{"data":[{"id":"m"}]}`, "/get_server_info": `{}`}, 0, "m"},
		{"lmstudio", map[string]string{"/api/v0/models": `{"data":[]}`}, 0, ""},
		{"generic", map[string]string{"/v1/models": `{"data":[{"id":"a"},{"id":"b"}]}`, "/props": `<html>default_generation_settings-free</html>`, "/get_server_info": `not JSON`}, 0, "a b"},
		{"generic", nil, 0, ""},
	}
	for _, tt := range tests {
		s := httptest.NewServer(fake(tt.answers))
		for _, prefix := range []string{"", "/prefix", "/prefix/v1"} {
			set := testSet()
			c := client(t, s.URL+prefix, func(c *Config) { c.Server = "" })
			if got := c.Server(t.Context(), set); got.ID.Value != tt.want {
				t.Errorf("%s%s: recognised as %s", tt.want, prefix, got.ID.Value)
			}
			if got := c.Window(c.Server(t.Context(), set), "openai/gpt-oss-20b"); got != tt.window {
				t.Errorf("%s: window %d", tt.want, got)
			}
			if got := strings.Join(c.Models(t.Context(), set), " "); got != tt.models {
				t.Errorf("%s: models %q", tt.want, got)
			}
		}
		s.Close()
	}
}

func TestServerIsConfigured(t *testing.T) {
	c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("asked") })
	if got := c.Server(t.Context(), testSet()); got.ID.Value != "vllm" {
		t.Error(got.ID.Value)
	}
}

func TestModel(t *testing.T) {
	c := serve(t, fake(map[string]string{"/v1/models": `{"data":[{"id":"first"},{"id":"openai/gpt-oss-20b"}]}`}))
	set := testSet()
	for _, tt := range []struct{ name, asked, want string }{
		{"own", "gpt-oss", "own"},
		{"", "first", "first"},
		{"", "gpt-oss", "openai/gpt-oss-20b"},
	} {
		got, err := c.Model(t.Context(), set, ruleset.Model{Name: tt.name, Mode: "provider"}, tt.asked)
		if err != nil || got.Name != tt.want || got.Mode != "provider" {
			t.Errorf("%+v: %+v, %v", tt, got, err)
		}
	}
	_, err := c.Model(t.Context(), set, ruleset.Model{}, "gpt-oss-120b")
	if apiErr := new(openai.Error); !errors.As(err, &apiErr) || apiErr.Status != http.StatusNotFound ||
		!strings.Contains(apiErr.Message, "first, openai/gpt-oss-20b") {
		t.Errorf("%v", err)
	}
	deaf := serve(t, fake(nil))
	if got, err := deaf.Model(t.Context(), set, ruleset.Model{}, "gpt-oss"); err != nil ||
		got.Name != "gpt-oss" {
		t.Errorf("without a list: %+v, %v", got, err)
	}
}

// What servers list, and which of it an id means; "": none.
func TestMeant(t *testing.T) {
	const unsloth = "hf.co/unsloth/gpt-oss-20b-GGUF:Q4_K_M"
	for _, tt := range []struct {
		asked, want string
		listed      []string
	}{
		{"gpt-oss", "gpt-oss:20b", []string{"nomic-embed-text:latest", "gpt-oss:20b"}},
		{"gpt-oss-20b", "gpt-oss:20b", []string{"nomic-embed-text:latest", "gpt-oss:120b", "gpt-oss:20b"}},
		{"gpt-oss-120b", "", []string{"gpt-oss:20b"}},
		{"gpt-oss-20b", "", []string{"nomic-embed-text"}},
		{"gpt-oss", "", []string{"nomic-embed-text"}},
		{"gpt-oss-20b", "openai/gpt-oss-20b", []string{"openai/gpt-oss-20b"}},
		{"gpt-oss-20b", "openai.gpt-oss-20b-1:0", []string{"openai.gpt-oss-120b-1:0", "openai.gpt-oss-20b-1:0"}},
		{"gpt-oss-20b", unsloth, []string{"qwen3:8b", unsloth}},
		{"gpt-oss-20b", "/models/gpt-oss-20b-mxfp4.gguf", []string{"/models/gpt-oss-20b-mxfp4.gguf"}},
		{"gpt-oss-20b", "GPT_OSS_20B", []string{"GPT_OSS_20B"}},
		{"gpt-oss-20b", "gptoss-20b", []string{"gptoss-20b"}},
		{"gpt-oss-20b", "", []string{"gpt-oss-safeguard-20b"}},
		{"gpt-oss", "gpt-oss-20b", []string{"gpt-oss-safeguard-20b", "gpt-oss-20b"}},
		{"gpt-oss", "gpt-oss-safeguard-20b", []string{"gpt-oss-safeguard-20b", "qwen3:8b"}},
		{"gpt-oss:20b-q4", "gpt-oss-20b", []string{"gpt-oss-20b"}},
		{"executor", "gpt-oss-120b", []string{"qwen3:8b", "gpt-oss-120b"}},
		{"executor", "local", []string{"local"}},
		{"executor", "", []string{"local", "other"}},
		{"coder", "coder-7b", []string{"other", "coder-7b"}},
	} {
		if got, ok := matchModel(tt.asked, tt.listed); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%q of %q: %q, %v", tt.asked, tt.listed, got, ok)
		}
	}
}

// Probes are asked once for all callers, and again when their answers are old:
// then nobody waits for them.
func TestProbesAreShared(t *testing.T) {
	var lists atomic.Int32
	held := make(chan struct{})
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == modelsPath {
			if lists.Add(1) > 1 {
				<-held
			}
		}
		w.Write([]byte(`{"data":[{"id":"m","owned_by":"vllm"}]}`))
	}, func(c *Config) { c.Server = "" })
	defer close(held)
	set := testSet()
	set.Limits.ProbeEvery, set.Limits.ProbeTimeout = 50*time.Millisecond, time.Hour
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got := c.Server(t.Context(), set); got.ID.Value != "vllm" {
				t.Error(got.ID.Value)
			}
		})
	}
	wg.Wait()
	if n := lists.Load(); n != 1 {
		t.Fatalf("%d questions for 20 callers", n)
	}
	ruletest.Soon(t, "old answers are renewed", func() bool { // and no request waits for that, as it is held
		if got := c.Server(t.Context(), set); got.ID.Value != "vllm" {
			t.Error(got.ID.Value)
		}
		return lists.Load() == 2
	})
}

func TestProbesNeverHoldAChatForLong(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		func(c *Config) { c.Server = "" })
	set := testSet()
	set.Limits.ProbeTimeout = 50 * time.Millisecond
	if got := c.Server(t.Context(), set); got.ID.Value != "generic" {
		t.Error(got.ID.Value)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := c.Server(ctx, set); got.ID.Value != "generic" {
		t.Error(got.ID.Value)
	}
}

func TestProbesRememberAServerThatIsAway(t *testing.T) {
	s := httptest.NewServer(fake(map[string]string{"/props": `{"default_generation_settings":{"n_ctx":1}}`}))
	set := testSet()
	set.Limits.ProbeEvery = time.Nanosecond
	c := client(t, s.URL, func(c *Config) { c.Server = "" })
	c.Server(t.Context(), set)
	s.Close()
	for range 3 {
		if got := c.Server(t.Context(), set); got.ID.Value != "llamacpp" {
			t.Fatal(got.ID.Value)
		}
		time.Sleep(20 * time.Millisecond) // its answers get old meanwhile
	}
}

func TestReady(t *testing.T) {
	status, asked, body := http.StatusOK, 0, `{"object":"list","data":[]}`
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
	for range 3 {
		if err := c.Ready(t.Context(), 5*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	for code, want := range map[int]string{401: "key", 500: "HTTP 500"} {
		status, c.readyAt = code, time.Time{}
		if err := c.Ready(t.Context(), 5*time.Second); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("HTTP %d: %v", code, err)
		}
	}
	status, body, c.readyAt = http.StatusOK, `{"object":"list","data":null}`, time.Time{}
	if err := c.Ready(t.Context(), 5*time.Second); err != nil {
		t.Errorf("a server without a model: %v", err)
	}
	status, body, c.readyAt = http.StatusOK, "<html><title>It works</title></html>", time.Time{}
	if err := c.Ready(t.Context(), 5*time.Second); err == nil ||
		!strings.Contains(err.Error(), "no list of models") || !strings.Contains(err.Error(), "It works") {
		t.Errorf("a page: %v", err)
	}
	away := client(t, "http://127.0.0.1:1")
	if err := away.Ready(t.Context(), 5*time.Second); err == nil ||
		!strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("away: %v", err)
	}
}

// What a server says of a model that it has loaded only now is asked for again after the first reply.
func TestWindowOfALoadedModel(t *testing.T) {
	set := testSet()
	for i := range set.Servers {
		if s := &set.Servers[i]; s.ID.Value == "ollama" {
			s.Props, s.Window = "/api/ps", []string{`models.#(model=="{model}").context_length`}
		}
	}
	var loaded atomic.Bool
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		answers := map[string]string{"/api/version": `{"version":"0.17.4"}`, "/api/ps": `{"models":[]}`,
			"/v1/models": `{"data":[{"id":"m"}]}`, "/v1/chat/completions": `{}`}
		if loaded.Load() {
			answers["/api/ps"] = `{"models":[{"model":"other","context_length":4096},{"model":"m","context_length":8192}]}`
		}
		fake(answers)(w, r)
	}, func(c *Config) { c.Server = "" })
	srv := c.Server(t.Context(), set)
	if n := c.Window(srv, "m"); n != 0 {
		t.Fatalf("window %d of a model that is not loaded", n)
	}
	loaded.Store(true)
	reply, err := c.Ask(t.Context(), set, srv, []byte(`{"model":"m"}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	c.Server(t.Context(), set) // looks again, and does not wait
	ruletest.Soon(t, "the window is known", func() bool { return c.Window(srv, "m") == 8192 })
	if n := c.Window(srv, "another"); n != 0 {
		t.Errorf("window %d of a model that is not loaded", n)
	}
}

// Another kind of server that takes the place of one is recognised, also if it lists the same model.
func TestProbesSeeAnotherServer(t *testing.T) {
	const list = `{"data":[{"id":"gpt-oss","owned_by":"OWNER"}]}`
	vllm := map[string]string{modelsPath: strings.Replace(list, "OWNER", "vllm", 1)}
	sglang := map[string]string{modelsPath: strings.Replace(list, "OWNER", "sglang", 1),
		"/get_server_info": `{}`}
	ollama := map[string]string{modelsPath: strings.Replace(list, "OWNER", "library", 1),
		"/api/version": `{"version":"0.9"}`}
	llamacpp := map[string]string{modelsPath: strings.Replace(list, "OWNER", "library", 1),
		"/props": `{"default_generation_settings":{"n_ctx":1}}`}
	var now atomic.Pointer[map[string]string]
	c := serve(t, func(w http.ResponseWriter, r *http.Request) { fake(*now.Load())(w, r) },
		func(c *Config) { c.Server = "" })
	set := testSet()
	for i, one := range []struct {
		pages map[string]string
		want  string
	}{{ollama, "ollama"}, {llamacpp, "llamacpp"}, {vllm, "vllm"}, {sglang, "sglang"}, {ollama, "ollama"},
		{vllm, "vllm"}} {
		now.Store(&one.pages)
		c.probe(t.Context(), set, time.Second, make(chan struct{}))
		if got := c.Server(t.Context(), set); got.ID.Value != one.want {
			t.Errorf("%d: %s, want %s", i, got.ID.Value, one.want)
		}
	}
}

// A known upstream is asked only what it answered before, until it lists other
// models: then it may have become another server.
func TestProbesSpareTheServersLog(t *testing.T) {
	var mu sync.Mutex
	asked, model := map[string]int{}, "a"
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.URL.Path]++
		fake(map[string]string{modelsPath: `{"data":[{"id":"` + model + `","owned_by":"vllm"}]}`})(w, r)
	})
	set := testSet()
	for i, want := range []int{1, 1, 2} {
		mu.Lock()
		if i == 2 {
			model = "b"
		}
		mu.Unlock()
		c.probe(t.Context(), set, time.Second, make(chan struct{}))
		if got := asked["/props"]; got != want {
			t.Errorf("round %d: /props asked %d times, want %d", i, got, want)
		}
	}
	if want := []string{"/api/v0/models", "/api/version", "/get_server_info", "/props",
		"/v1/models"}; !slices.Equal(probePaths(set.Servers), want) {
		t.Errorf("questions: %v", probePaths(set.Servers))
	}
}
