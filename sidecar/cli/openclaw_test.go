package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// Models that run tools of their own are only named for a serve that has some; --models names any.
func TestOpenclawModels(t *testing.T) {
	for args, want := range map[string]string{
		"":                               "gpt-oss gpt-oss-20b gpt-oss-120b",
		"--executor":                     "gpt-oss executor gpt-oss-20b gpt-oss-120b",
		"--models gpt-oss-20b,executor":  "gpt-oss-20b executor",
		"--models gpt-oss --models gpt4": "",
	} {
		var out, said bytes.Buffer
		code := Run(append([]string{"openclaw", "--context-window", "65536"}, strings.Fields(args)...),
			Env{Parts: Parts, Out: &out, Err: &said, Defaults: os.DirFS("../..")})
		var ids []string
		for _, m := range gjson.Get(out.String(), "models.providers.gpt-oss-executor.models.#.id").Array() {
			ids = append(ids, m.Str)
		}
		if got := strings.Join(ids, " "); got != want || (code == 0) != (want != "") {
			t.Errorf("%s: %d %s, want %s: %s", args, code, got, want, &said)
		}
		if want == "" && !strings.Contains(said.String(),
			`there is no model "gpt4"; there are gpt-oss, executor, gpt-oss-20b, gpt-oss-120b`) {
			t.Errorf("%s", &said)
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
		"it tells": {[]string{"--upstream", knows}, 65536,
			"context window: 65536, as the model server says"},
		"the operator says": {[]string{"--upstream", knows, "--context-window", "50000"}, 50000, ""},
		"it does not tell": {[]string{"--upstream", tells(`{"object":"list","data":[{"id":"x"}]}`)}, 32768,
			"32768 is assumed, and --context-window names another: the model server does not say it"},
		"it is not there": {[]string{"--upstream", gone.URL + "/v1"}, 32768,
			"32768 is assumed, and --context-window names another: " + gone.URL + "/v1: it cannot be reached: "},
	} {
		var out, said bytes.Buffer
		code := Run(append([]string{"openclaw"}, c.args...),
			Env{Parts: Parts, Out: &out, Err: &said, Defaults: os.DirFS("../.."),
				Environ: []string{"GPTOSS_EXECUTOR_UPSTREAM_KEY=k"}})
		got := gjson.Get(out.String(), "models.providers.gpt-oss-executor.models.0.contextWindow").Int()
		if code != 0 || got != c.window || !strings.Contains(said.String(), c.says) {
			t.Errorf("%s: %d, window %d: %s", name, code, got, &said)
		}
	}
}
