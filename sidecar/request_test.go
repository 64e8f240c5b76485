package sidecar_test

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

func TestBadRequests(t *testing.T) {
	r := provider.Play(t)
	const path, responsesPath = "/v1/chat/completions", "/v1/responses"
	for _, row := range []struct {
		name, method, path, body string
		status                   int
		says                     string
	}{
		{"empty", "POST", path, "", 400, "empty"},
		{"broken", "POST", path, "{\"model\":\"gpt-oss\",\n \"messages\":[{]}", 400, "line 2, column 15"},
		{"cut", "POST", path, `{"model":"gpt-oss","messages":[`, 400, "line 1, column 32"},
		{"no UTF-8", "POST", path, "{\"model\":\"gpt-oss\",\n \"messages\":[{\"role\":\"user\",\"content\":\"a�\x80\"}]}", 400, "not valid UTF-8 (line 2, column 42)"},
		{"no object", "POST", path, `[]`, 400, "object"},
		{"more than one", "POST", path, provider.Body("") + "{}", 400, ""},
		{"messages is text", "POST", path, `{"messages":"hello"}`, 400, "messages"},
		{"no messages", "POST", path, `{"messages":[]}`, 400, "messages"},
		{"a message is text", "POST", path, `{"messages":["hello"]}`, 400, "messages[0]"},
		{"role is a number", "POST", path, `{"messages":[{"role":1,"content":"x"}]}`, 400, "messages[0].role"},
		{"stream is text", "POST", path, provider.Body(`"stream":"yes"`), 400, "stream"},
		{"tools is an object", "POST", path, provider.Body(`"tools":{}`), 400, "tools"},
		{"deep", "POST", path, provider.Body(`"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000)), 400, ""},
		{"unknown model", "POST", path, `{"model":"gpt-4","messages":[{"role":"user","content":"x"}]}`, 404, `gpt-4`},
		{"responses: broken", "POST", responsesPath, "{\"input\":\n [{]}", 400, "line 2, column 4"},
		{"responses: no UTF-8", "POST", responsesPath, "{\"input\":\"\xc3\"}", 400, "not valid UTF-8 (line 1, column 11)"},
		{"responses: no input", "POST", responsesPath, "{}", 400, "input"},
		{"responses: stored", "POST", responsesPath, `{"input":"x","previous_response_id":"resp_1"}`, 400, "previous_response_id"},
		{"responses: unknown model", "POST", responsesPath, `{"model":"gpt-4","input":"x"}`, 404, "gpt-4"},
		{"a stored Response", "GET", responsesPath + "/resp_1", "", 404, "POST /v1/responses"},
		{"method of responses", "GET", responsesPath, "", 405, "POST"},
		{"unknown path", "POST", "/v1/completions", "{}", 404, "/v1/completions"},
		{"root", "GET", "/", "", 404, "not served"},
		{"method of chat", "GET", path, "", 405, "POST"},
		{"method of models", "DELETE", "/v1/models", "", 405, "GET"},
		{"unknown model entry", "GET", "/v1/models/gpt-4", "", 404, "gpt-4"},
	} {
		a := r.Ask(row.method, row.path, row.body)
		if a.Status != row.status || !strings.Contains(a.Fault.Message+a.Fault.Param, row.says) ||
			a.Fault.Type != "invalid_request_error" {
			t.Errorf("%s: %d %s", row.name, a.Status, a.Body)
		}
		if a.Header.Get(web.RulesVersion) == "" || a.Header.Get("Content-Type") != provider.Document ||
			row.status == 405 && a.Header.Get("Allow") == "" {
			t.Errorf("%s: %v", row.name, a.Header)
		}
	}
	if n := len(r.Model.Requests("")); n > 0 {
		t.Errorf("%d of them reached the model", n)
	}
	if a := r.Chat(`{"model":"gpt-4","messages":[{"role":"user","content":"x"}]}`); a.Fault.Code != "model_not_found" {
		t.Errorf("%s", a.Body)
	}
}

// A body that is too long costs no more than the limit, told or not.
func TestTooLarge(t *testing.T) {
	r := provider.Play(t)
	for _, told := range []bool{true, false} {
		const size = 200 << 20
		body := io.Reader(io.LimitReader(zeros{}, size))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.URL+"/v1/chat/completions",
			body)
		if err != nil {
			t.Fatal(err)
		}
		if told {
			req.ContentLength = size
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		res, err := r.HTTP.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		a := provider.ReadAnswer(t, res)
		runtime.ReadMemStats(&after)
		if a.Status != http.StatusRequestEntityTooLarge || a.Fault.Code != "request_too_large" ||
			!strings.Contains(a.Fault.Message, "16777216") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		most := uint64(160 << 20)
		if told {
			most = 4 << 20
		}
		if after.TotalAlloc-before.TotalAlloc > most {
			t.Errorf("%d bytes allocated, want at most %d", after.TotalAlloc-before.TotalAlloc, most)
		}
	}
}

// A compressed body is named, and not read as JSON.
func TestCompressed(t *testing.T) {
	r := provider.Play(t, script.Text("Yes."))
	for coding, want := range map[string]int{"gzip": 415, "deflate": 415, "zstd": 415, "Identity": 200} {
		a := r.Ask(http.MethodPost, "/v1/chat/completions", provider.Body(""), "Content-Encoding", coding)
		if a.Status != want || want == 415 && (a.Fault.Param != "Content-Encoding" ||
			!strings.Contains(a.Fault.Message, "uncompressed")) {
			t.Errorf("%s: %d %s", coding, a.Status, a.Body)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestToken(t *testing.T) {
	r := provider.Start(t, provider.Setup{Token: "s3cret"},
		script.New(script.Scenario{Steps: []script.Reply{script.Text("Yes.")}, Loop: true}))
	for _, row := range []struct {
		given  string
		status int
	}{
		{"", 401}, {"Bearer wrong!", 401}, {"Bearer s3cre", 401}, {"Bearer s3cret2", 401}, {"s3cret", 401}, {"Basic s3cret", 401}, {"Bearer ", 401}, {"Bearer s3cret", 200}, {"bearer s3cret", 200}, {"BEARER S3CRET", 401},
	} {
		for _, path := range []string{"/v1/models", "/v1/chat/completions"} {
			method, body := http.MethodGet, ""
			if path != "/v1/models" {
				method, body = http.MethodPost, provider.Body("")
			}
			a := r.Ask(method, path, body, "Authorization", row.given)
			if a.Status != row.status || row.status == 401 && a.Fault.Code != "invalid_api_key" ||
				strings.Contains(a.Body, "s3cret") {
				t.Errorf("%q %s: %d %s", row.given, path, a.Status, a.Body)
			}
		}
	}
	if a := r.Ask(http.MethodGet, "/healthz", ""); a.Status != 200 {
		t.Errorf("healthz asks for a token: %d", a.Status)
	}
	// The caller's token is not for the model server.
	if got := r.Model.Requests("")[0].Header.Get("Authorization"); got != "" {
		t.Errorf("the model server got %q", got)
	}
}

func TestService(t *testing.T) {
	r := provider.Play(t, script.Native("read", `{"path":"a",}`), script.Text("Yes."))
	r.Stream()
	r.Chat(provider.Body(""))
	for _, row := range []struct{ path, says string }{
		{"/healthz", `"ok":true`},
		{"/readyz", `"ready":true`},
		{"/readyz", `"server":"vllm"`},
		{"/v1/models", `{"id":"executor","object":"model"`},
		{"/v1/models/gpt-oss", `"id":"gpt-oss"`},
		{"/metrics", `gptoss_executor_requests_total{model="gpt-oss",status="200"} 2`},
		{"/metrics", `gptoss_executor_calls_total{arm="",model="gpt-oss",strategy="native"} 1`},
		{"/metrics", `gptoss_executor_untouched_total 1`},
		{"/metrics", `gptoss_executor_open_streams 0`},
	} {
		res, err := r.Do(t.Context(), http.MethodGet, row.path, "")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != 200 || !strings.Contains(string(body), row.says) ||
			res.Header.Get(web.RulesVersion) == "" {
			t.Errorf("%s: %s %v\n%.2000s", row.path, res.Status, res.Header, body)
		}
	}
}
