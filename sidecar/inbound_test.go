package sidecar

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// Which requests a listener takes, by the names of the request and of its web page.
func TestNames(t *testing.T) {
	local := Names{Local: true, Hosts: []string{"LLM.example.com"}}
	network := Names{Hosts: local.Hosts}
	token := Names{Token: true}
	for _, row := range []struct {
		names        Names
		host, origin string
		want         bool
	}{
		{local, "127.0.0.1:8001", "", true},
		{local, "127.9.9.9", "", true},
		{local, "[::1]:8001", "", true},
		{local, "LocalHost.:8001", "", true},
		{local, "llm.example.com", "", true},
		{local, "evil.example:8001", "", false},
		{local, "localhost.evil.example", "", false},
		{local, "10.0.0.1:8001", "", false},
		{local, "", "", false},
		{local, "127.0.0.1:8001", "http://127.0.0.1:8001", true},
		{local, "127.0.0.1:8001", "https://llm.example.com", true},
		{local, "127.0.0.1:8001", "http://127.0.0.1:3000", false},
		{local, "127.0.0.1:8001", "https://evil.example", false},
		{local, "127.0.0.1:8001", "null", false},
		{local, "evil.example:8001", "http://evil.example:8001", false},

		{network, "10.0.0.1:8001", "", true},
		{network, "[2001:db8::1]:8001", "", true},
		{network, "localhost:8001", "", true},
		{network, "sidecar:8001", "", true},
		{network, "sidecar.llm.svc.cluster.local", "", true},
		{network, "llm.example.com:8001", "", true},
		{network, "evil.example:8001", "", false},
		{network, "evil.example:8001", "http://evil.example:8001", false},
		{network, "10.0.0.1:8001", "https://evil.example", false},

		{token, "any.example:8001", "", true},
		{token, "any.example:8001", "https://evil.example", false},
	} {
		h := row.names.Guarded(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
		for path, want := range map[string]bool{"/v1/models": row.want, "/metrics": row.want, "/readyz": row.want, "/healthz": true} {
			r := httptest.NewRequest("GET", path, nil)
			if r.Host = row.host; row.origin != "" {
				r.Header.Set("Origin", row.origin)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if got := w.Code == http.StatusOK; got != want || !got && (w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "setting hosts")) {
				t.Errorf("%s as %s from %s with %+v: %d %s", path, row.host, row.origin, row.names, w.Code, w.Body)
			}
		}
	}
}

// A token is in no log, answer or metric, whether it was right or wrong.
func TestTokensStayInside(t *testing.T) {
	const token, key, wrong = "caller-s3cret", "model-s3cret", "wrong-s3cret"
	r := start(t, setup{token: token, key: key}, script.New(script.Scenario{Steps: []script.Reply{script.Text("Yes.")}, Loop: true}))
	var shown bytes.Buffer
	for _, with := range []string{token, wrong, ""} {
		for _, path := range []string{"/v1/chat/completions", "/v1/models", "/metrics", "/readyz", "/nowhere"} {
			method := http.MethodGet
			if path == "/v1/chat/completions" {
				method = http.MethodPost
			}
			res, err := r.do(t.Context(), method, path, asking(""), "Authorization", "Bearer "+with)
			must(t, err)
			must(t, res.Write(&shown))
		}
	}
	a := admin(t)
	for _, with := range []string{adminToken, wrong} {
		for _, path := range []string{"/rules", "/rules/history", "/metrics", "/nowhere"} {
			shown.WriteString(a.ask("GET", path, "", "Authorization", "Bearer "+with).body)
		}
	}
	for _, secret := range []string{token, key, wrong, adminToken} {
		if strings.Contains(shown.String(), secret) || strings.Contains(r.log.String(), secret) || strings.Contains(a.log.String(), secret) {
			t.Errorf("%s can be read", secret)
		}
	}
}

// A session that asks too much waits, and nobody else does.
func TestSessionLimits(t *testing.T) {
	begun, hold := make(chan struct{}, 99), make(chan struct{})
	model := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/completions") {
			begun <- struct{}{}
			<-hold
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Yes."}}]}`))
	})
	r := start(t, setup{limits: func(l *ruleset.Limits) {
		l.Session = ruleset.Pace{AtOnce: 1, PerMinute: 2}
		l.Caller = ruleset.Pace{AtOnce: 9, PerMinute: 9}
	}}, model)
	first := make(chan *answer)
	go func() { first <- r.chat(asking(""), "session_id", "one") }()
	<-begun
	limited := func(a *answer) bool {
		return a.status == http.StatusTooManyRequests && a.fault.Code == "session_limit_exceeded" && a.header.Get("Retry-After") != ""
	}
	if a := r.chat(asking(""), "session_id", "one"); !limited(a) {
		t.Errorf("a second one at once: %d %s", a.status, a.body)
	}
	close(hold)
	if a := <-first; a.status != http.StatusOK {
		t.Errorf("the first one: %d %s", a.status, a.body)
	}
	for _, row := range []struct {
		header []string
		want   int
	}{
		{[]string{"session_id", "one"}, 200},
		{[]string{"session_id", "one"}, 429},
		{[]string{"session_id", "two"}, 200},
		{[]string{"x-session-affinity", "one"}, 429},
		{nil, 200}, {nil, 200}, {nil, 200},
	} {
		if a := r.chat(asking(""), row.header...); a.status != row.want || a.status == 429 && !limited(a) {
			t.Errorf("%v: %d %s, want %d", row.header, a.status, a.body, row.want)
		}
	}
}
