package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Models that run tools of their own are only named for a serve that has some.
func TestOpenclawModels(t *testing.T) {
	set, err := loadRules("", "", Env{Defaults: os.DirFS("../..")})
	if err != nil {
		t.Fatal(err)
	}
	for _, runs := range []bool{false, true} {
		p := provider{url: "http://127.0.0.1:8001/v1", api: "chat", window: 131072, tokens: 8192, runs: runs}
		providers := p.settings(set)["models"].(object)["providers"].(object)
		var ids []string
		for _, m := range providers["gpt-oss-executor"].(object)["models"].([]object) {
			ids = append(ids, m["id"].(string))
		}
		for _, m := range set.Models {
			if want := runs || m.Mode != ruleset.Executor; slices.Contains(ids, m.ID.Value) != want {
				t.Errorf("--executor %v: %s named is not %v: %v", runs, m.ID.Value, want, ids)
			}
		}
	}
}

// The context window is the one that the model server tells, unless the operator gives one.
func TestOpenclawAsksForTheWindow(t *testing.T) {
	tells := func(doc string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/models" {
				http.NotFound(w, r)
				return
			}
			if got := r.Header.Get("Authorization"); got != "Bearer k" {
				t.Errorf("the key is %q", got)
			}
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(doc))
		}))
		t.Cleanup(s.Close)
		return s.URL + "/v1"
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	knows := tells(`{"object":"list","data":[{"id":"openai/gpt-oss-20b","object":"model","owned_by":"vllm","max_model_len":65536}]}`)
	for name, c := range map[string]struct {
		args   []string
		window int64
		says   string
	}{
		"it tells":          {[]string{"--upstream", knows}, 65536, "context window: 65536, as the model server says"},
		"the operator says": {[]string{"--upstream", knows, "--context-window", "50000"}, 50000, ""},
		"it does not tell":  {[]string{"--upstream", tells(`{"object":"list","data":[{"id":"x"}]}`)}, 131072, "131072 is assumed: the model server does not say it; give it with --context-window"},
		"it is not there":   {[]string{"--upstream", gone.URL + "/v1"}, 131072, "131072 is assumed: ask " + gone.URL},
	} {
		var out, said bytes.Buffer
		code := Run(append([]string{"openclaw"}, c.args...), Env{Out: &out, Err: &said, Defaults: os.DirFS("../.."), Environ: []string{"GPTOSS_EXECUTOR_UPSTREAM_KEY=k"}})
		got := gjson.Get(out.String(), "models.providers.gpt-oss-executor.models.0.contextWindow").Int()
		if code != 0 || got != c.window || !strings.Contains(said.String(), c.says) {
			t.Errorf("%s: %d, window %d: %s", name, code, got, &said)
		}
	}
}
