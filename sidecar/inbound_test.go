package sidecar_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// What is asked under a name that is not ours is answered nowhere, health aside.
func TestNamesAreLookedAt(t *testing.T) {
	r := provider.Start(t, provider.Setup{Names: web.Names{Local: true}}, script.New())
	h := r.Sidecar.Handler()
	for path, want := range map[string]int{"/v1/models": 403, "/metrics": 403, "/readyz": 403,
		"/healthz": 200} {
		for host, want := range map[string]int{"127.0.0.1:8001": 200, "evil.example": want} {
			req := httptest.NewRequest("GET", path, nil)
			req.Host = host
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, req); w.Code != want || want == 403 && !strings.Contains(w.Body.String(),
				"setting hosts") {
				t.Errorf("%s as %s: %d %s", path, host, w.Code, w.Body)
			}
		}
	}
}

// A token is in no log, answer or metric, whether it was right or wrong.
func TestTokensStayInside(t *testing.T) {
	const token, key, wrong = "caller-s3cret", "model-s3cret", "wrong-s3cret"
	r := provider.Start(t, provider.Setup{Token: token, Key: key},
		script.New(script.Scenario{Steps: []script.Reply{script.Text("Yes.")}, Loop: true}))
	var shown bytes.Buffer
	for _, with := range []string{token, wrong, ""} {
		for _, path := range []string{"/v1/chat/completions", "/v1/models", "/metrics", "/readyz",
			"/nowhere"} {
			method := http.MethodGet
			if path == "/v1/chat/completions" {
				method = http.MethodPost
			}
			res, err := r.Do(t.Context(), method, path, provider.Body(""), "Authorization", "Bearer "+with)
			ruletest.Must(t, err)
			ruletest.Must(t, res.Write(&shown))
		}
	}
	for _, secret := range []string{token, key, wrong} {
		if strings.Contains(shown.String(), secret) || strings.Contains(r.Log.String(), secret) {
			t.Errorf("%s can be read", secret)
		}
	}
}

// The log says once which agent sends requests, and by what it is known; one that no file describes gets the
// generic file.
func TestAgentIsLogged(t *testing.T) {
	r := provider.Start(t, provider.Setup{},
		script.New(script.Scenario{Steps: []script.Reply{script.Text("Yes.")}, Loop: true}))
	for _, agent := range []string{"pi/1.6.0", "pi/1.6.0", "unheard/1", "unheard/2"} {
		r.Chat(provider.Body(""), "User-Agent", agent)
	}
	lines := strings.Join(r.Log.Lines("agent_recognised"), "\n")
	if strings.Count(lines, "event=") != 2 || !strings.Contains(lines, `client=pi by="header user-agent" user_agent=pi/1.6.0`) ||
		!strings.Contains(lines, `client=generic by="no file of agents fits it" user_agent=unheard/1`) {
		t.Error(lines)
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
	r := provider.Start(t, provider.Setup{Limits: func(l *ruleset.Limits) {
		l.Session = web.Pace{AtOnce: 1, PerMinute: 2}
		l.Caller = web.Pace{AtOnce: 9, PerMinute: 9}
	}}, model)
	first := make(chan *provider.Answer)
	go func() { first <- r.Chat(provider.Body(""), "session_id", "one") }()
	<-begun
	limited := func(a *provider.Answer) bool {
		return a.Status == http.StatusTooManyRequests && a.Fault.Code == "session_limit_exceeded" &&
			a.Header.Get("Retry-After") != ""
	}
	if a := r.Chat(provider.Body(""), "session_id", "one"); !limited(a) {
		t.Errorf("a second one at once: %d %s", a.Status, a.Body)
	}
	close(hold)
	if a := <-first; a.Status != http.StatusOK {
		t.Errorf("the first one: %d %s", a.Status, a.Body)
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
		if a := r.Chat(provider.Body(""), row.header...); a.Status != row.want || a.Status == 429 && !limited(a) {
			t.Errorf("%v: %d %s, want %d", row.header, a.Status, a.Body, row.want)
		}
	}
}
