package console_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/console"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// everywhere are the paths of the console.
var everywhere = []string{"/console/", "/console/turns/x", "/console/approvals", "/console/playground",
	"/console/health", "/console/experiments", "/console/experiments/x/stop", "/console/rules",
	"/console/rules/files/limits.yaml",
	"/console/rules/versions/x", "/console/decisions", "/console/decisions/1", "/console/decisions/replay",
	"/console/decisions/verify", "/console/runs", "/console/runs/x", "/console/events", "/console/sign-in",
	"/console/static/console.css", "/console/nothing", "/"}

// Without a session nothing is shown, and no path leads around that.
func TestNobody(t *testing.T) {
	v := open(t, stage.Tokens, map[string]script.Reply{"secret": script.Text("the secret of the model")})
	v.s.Ask("s", "secret", false)
	for _, path := range everywhere {
		p := v.get(path)
		if strings.Contains(p.text, "data-turns") || p.StatusCode == http.StatusOK &&
			!strings.Contains(path, "sign-in") && !strings.Contains(path, "static") {
			t.Errorf("%s answers %s", path, p.Status)
		}
	}
	if p := v.get("/console/health"); p.Header.Get("Location") != "/console/sign-in?next=%2Fconsole%2Fhealth" {
		t.Errorf("a page leads to %q", p.Header.Get("Location"))
	}
	if p := v.get("/console/events", "Accept", "text/event-stream"); p.StatusCode != http.StatusUnauthorized {
		t.Errorf("events answer %s", p.Status)
	}
	for _, cookie := range []string{"gptoss_console=", "gptoss_console=" + stage.Admin,
		"gptoss_console=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		if p := v.get("/console/", "Cookie", cookie); p.StatusCode != http.StatusSeeOther {
			t.Errorf("%s opens the console: %s", cookie, p.Status)
		}
	}
}

// Every answer says that it may not be framed, and what may run.
func TestHeaders(t *testing.T) {
	v := open(t, nil, nil)
	for _, path := range everywhere {
		if path == "/console/events" {
			continue
		}
		h := v.get(path).Header
		for name, want := range map[string]string{
			"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'",
			"frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'", "trusted-types 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy lacks %s: %s", path, want, csp)
			}
		}
		if strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") || strings.Contains(csp, "http") {
			t.Errorf("%s: %s", path, csp)
		}
		if !strings.Contains(path, "static") && h.Get("Cache-Control") != "no-store" && path != "/" {
			t.Errorf("%s: Cache-Control is %q", path, h.Get("Cache-Control"))
		}
	}
}

// A token becomes a cookie that scripts, other sites and other origins do not get. What is wrong
// makes none.
func TestSignIn(t *testing.T) {
	v := open(t, stage.Tokens, nil)
	for _, row := range []struct {
		name, token string
		status      int
	}{
		{"Sam", stage.Admin, 303}, {"Sam", stage.Approver, 303}, {"", stage.Reader, 303}, {"", stage.Admin, 422}, {"  ", stage.Approver, 422},
		{"Sam", "wrong", 401}, {"Sam", "", 401},
	} {
		p := v.signIn(row.name, row.token)
		if p.StatusCode != row.status || (row.status == 303) != (len(p.Cookies()) == 1) {
			t.Errorf("%q %q: %s, %d cookies", row.name, row.token, p.Status, len(p.Cookies()))
			continue
		}
		if strings.Contains(p.text, row.token) && row.token != "" {
			t.Errorf("the answer repeats %q", row.token)
		}
		for _, c := range p.Cookies() {
			if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/console/" || c.Secure ||
				c.MaxAge != 12*3600 || strings.Contains(c.Value, "token") || len(c.Value) < 40 {
				t.Errorf("the cookie is %+v", c)
			}
		}
	}
	for _, c := range v.do(http.MethodPost, "/console/sign-in",
		url.Values{"name": {"Sam"}, "token": {stage.Admin}}.Encode(), "Origin",
		"https"+strings.TrimPrefix(v.s.Console, "http")).Cookies() {
		if !c.Secure {
			t.Error("behind TLS the cookie is not for TLS alone")
		}
	}
	if log := v.s.Log.String(); strings.Contains(log, stage.Admin) || strings.Contains(log, stage.Approver) ||
		strings.Contains(log, stage.Reader) {
		t.Error("a token is in the log")
	}
	v.signIn("Sam\n<b>\u202e", stage.Admin)
	if line := v.s.Log.Lines("console_sign_in"); !strings.Contains(line[len(line)-1],
		`name="Sam <b>⟨U+202E⟩" role=admin`) {
		t.Errorf("the log says %s", line[len(line)-1])
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(v.s.Console, "http://"), ":")
	if p := v.get("/console/", "Host", "localhost:"+port); p.StatusCode != http.StatusSeeOther {
		t.Errorf("the session holds at another origin: %s", p.Status)
	}
	if p := v.get("/console/"); p.StatusCode != http.StatusOK {
		t.Fatalf("the session does not hold: %s", p.Status)
	}
	old := v.cookie
	v.do(http.MethodPost, "/console/sign-out", "")
	if p := v.get("/console/", "Cookie", old); p.StatusCode != http.StatusSeeOther {
		t.Errorf("the session goes on after the sign-out: %s", p.Status)
	}
}

// Guesses are counted, here and at the admin API. Where a sign-in leads is a page of the console.
func TestSignInIsBounded(t *testing.T) {
	v := open(t, stage.Tokens, nil)
	for next, want := range map[string]string{
		"/console/turns/a?b=c": "/console/turns/a?b=c", "https://evil.example/console/": "/console/",
		"//evil.example/console/": "/console/", "/console/..//evil.example": "/console/",
		"/\\evil.example": "/console/", "javascript:alert(1)": "/console/", "": "/console/",
		"/rules": "/console/", "/console/\r\nSet-Cookie: a=b": "/console/",
	} {
		p := v.do(http.MethodPost, "/console/sign-in", url.Values{"name": {"Sam"}, "token": {stage.Admin},
			"next": {next}}.Encode())
		if got := p.Header.Get("Location"); got != want {
			t.Errorf("%q leads to %q", next, got)
		}
	}
	for range 5 {
		v.signIn("Eve", "guess")
		v.get("/rules", "Authorization", "Bearer guess")
	}
	if p := v.signIn("Eve", "guess"); p.StatusCode != http.StatusTooManyRequests ||
		v.s.Log.Count("tokens_guessed") != 1 {
		t.Errorf("after ten wrong tokens: %s", p.Status)
	}
	if p := v.signIn("Sam", stage.Admin); p.StatusCode != http.StatusSeeOther {
		t.Errorf("others of its address keep the right token out: %s", p.Status)
	}
}

// What another site, another origin or a program sends changes nothing, whoever is signed in.
func TestForgery(t *testing.T) {
	v := open(t, stage.Tokens,
		map[string]script.Reply{"note": script.Native("write", `{"path":"/srv/other/a","content":"x"}`)})
	v.s.Ask("s", "note", false)
	v.signIn("Sam", stage.Approver)
	path := "/console/approvals/" + approvalOf(v)
	for _, header := range [][]string{
		{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "none"},
		{"Sec-Fetch-Site", "", "Origin", "https://evil.example"}, {"Sec-Fetch-Site", "", "Origin", "null"}, {"Sec-Fetch-Site", "", "Origin", ""},
		{"Sec-Fetch-Site", "", "Origin", "http://127.0.0.1:1"}, {"Origin", "https" + strings.TrimPrefix(v.s.Console, "http")}, {"Cookie", ""}, {"Authorization", "Bearer " + stage.Admin},
	} {
		if p := v.do(http.MethodPost, path, "answer=allow", header...); p.StatusCode < 400 {
			t.Errorf("%q: %s", header, p.Status)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		if p := v.do(method, path+"?answer=allow", "", "Origin", v.s.Console); p.StatusCode < 400 {
			t.Errorf("%s: %s", method, p.Status)
		}
	}
	if n := v.s.Log.Count("approval_allowed"); n > 0 {
		t.Fatal("a call was allowed")
	}
	if p := v.do(http.MethodPost, path, "answer=allow"); p.StatusCode != http.StatusSeeOther ||
		v.s.Log.Count("approval_allowed") != 1 {
		t.Errorf("the console itself: %s", p.Status)
	}
}

// approvalOf is the id of the first call that waits.
func approvalOf(v *visitor) string {
	v.t.Helper()
	_, rest, _ := strings.Cut(v.get("/console/approvals").text, `action="/console/approvals/`)
	id, _, ok := strings.Cut(rest, `"`)
	if !ok {
		v.t.Fatal("nothing waits")
	}
	return id
}

// A token in an address is refused before anything else is done with it, and is in no log.
func TestTokenInAddress(t *testing.T) {
	v := open(t, stage.Tokens, nil)
	for _, path := range []string{"/console/?token=" + stage.Admin, "/console/sign-in?admin_token=" +
		stage.Admin, "/console/health?access_token=" + stage.Admin, "/?token=" + stage.Admin} {
		p := v.get(path)
		if p.StatusCode != http.StatusBadRequest || len(p.Cookies()) > 0 ||
			strings.Contains(p.text, stage.Admin) {
			t.Errorf("%s: %s", path, p.Status)
		}
	}
	if strings.Contains(v.s.Log.String(), stage.Admin) {
		t.Error("the token is in the log")
	}
}

// A page of another name cannot reach the console, whatever address that name has, also where a
// token is set.
func TestRebinding(t *testing.T) {
	for _, change := range []func(*config.Settings){nil, stage.Tokens} {
		v := open(t, change, nil)
		for _, host := range []string{"evil.example", "evil.example:8002", "localhost.evil.example",
			"10.0.0.1"} {
			for _, path := range everywhere {
				if p := v.get(path, "Host", host); p.StatusCode != http.StatusForbidden {
					t.Errorf("%s%s: %s", host, path, p.Status)
				}
			}
		}
	}
}

// No path leads out of the files of the console.
func TestTraversal(t *testing.T) {
	v := open(t, nil, nil)
	for _, path := range []string{
		"/console/static/..%2fpages%2fframe.html", "/console/static/../pages/frame.html",
		"/console/static/%2e%2e/console.go", "/console/static/..\\console.go", "/console/static/",
		"/console/pages/frame.html",
		"/console/turns/..%2f..%2fetc%2fpasswd", "/console/rules/files/..%2f..%2f..%2fgo.mod",
		"/console/rules/files//etc/passwd", "/console/rules/files/limits.yaml?version=..%2f..",
		"/console/rules/files/%00",
		"/console/rules/versions/..%2f..%2fetc%2fpasswd", "/console/experiments/..%2f..%2fetc/stop",
		"/console/static/console.css%00.js", "/console/../rules/files/..%2f..%2fgo.mod",
	} {
		p := v.get(path)
		if p.StatusCode == http.StatusOK || strings.Contains(p.text, "{{") ||
			strings.Contains(p.text, "root:") || strings.Contains(p.text, "package console") {
			t.Errorf("%s: %s %.200s", path, p.Status, p.text)
		}
	}
	if p := v.get("/console/static/console.css"); p.StatusCode != http.StatusOK ||
		p.Header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("its own file: %s", p.Status)
	}
	if p := v.get("/console/static/console.css", "If-None-Match",
		v.get("/console/static/console.css").Header.Get("ETag")); p.StatusCode != http.StatusNotModified {
		t.Errorf("a file that the browser has: %s", p.Status)
	}
}

// What is too long, or never comes, is given up.
func TestOversizedAndSlow(t *testing.T) {
	v := open(t, stage.Tokens, nil)
	for _, form := range []string{"token=" + strings.Repeat("x", 1<<20), strings.Repeat("a=b&", 1<<16)} {
		if p := v.do(http.MethodPost, "/console/sign-in",
			form); p.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("a form of %d bytes: %s", len(form), p.Status)
		}
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(v.s.Console, "http://"))
	ruletest.Must(t, err)
	defer c.Close()
	_, err = fmt.Fprintf(c, "POST /console/sign-in HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\ntoken=", strings.TrimPrefix(v.s.Console, "http://"), v.s.Console)
	ruletest.Must(t, err)
	ruletest.Must(t, c.SetReadDeadline(time.Now().Add(20*time.Second)))
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err == nil {
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
	}
	if err != nil || answer.StatusCode != http.StatusBadRequest {
		t.Errorf("a form that never comes: %+v %v", answer, err)
	}
}

// On loopback without a token everybody sees, and nobody changes.
func TestOpen(t *testing.T) {
	v := open(t, nil, map[string]script.Reply{"note": script.Native("write",
		`{"path":"/srv/other/a","content":"x"}`)})
	v.s.Ask("s", "note", false)
	for path, want := range map[string]string{"/console/": "no token: programs may change rules", "/console/health": "reachable", "/console/approvals": "No person can be asked here"} {
		if p := v.get(path); p.StatusCode != http.StatusOK || !strings.Contains(p.text, want) ||
			strings.Contains(p.text, `action="/console/approvals`) {
			t.Errorf("%s: %s\n%s", path, p.Status, p.text)
		}
	}
	if p := v.do(http.MethodPost, "/console/approvals/x",
		"answer=allow"); p.StatusCode != http.StatusForbidden {
		t.Errorf("an answer: %s", p.Status)
	}
	if v.s.Log.Count("console_start") != 1 {
		t.Error("the log does not say where the console is")
	}
}

// Turned off, there is none, and the admin API is as it was; without text, no word is kept.
func TestOff(t *testing.T) {
	const words = "words of the model"
	replies := map[string]script.Reply{"say": script.Text(words)}
	v := open(t, func(s *config.Settings) { config.Of[console.Settings](s).Console = "off" }, replies)
	for _, path := range []string{"/", "/console/"} {
		if p := v.get(path); p.StatusCode != http.StatusNotFound || !strings.Contains(p.text, "/rules") {
			t.Errorf("%s: %s", path, p.Status)
		}
	}
	v = open(t, func(s *config.Settings) { config.Of[console.Settings](s).Console = "no-text" }, replies)
	v.s.Ask("s", "say", false)
	list := v.get("/console/").text
	_, href, _ := strings.Cut(list, `href="/console/turns/`)
	href, _, _ = strings.Cut(href, `"`)
	turn := v.get("/console/turns/" + href).text
	if !strings.Contains(list, "no-text") || !strings.Contains(turn, "No words are kept") ||
		strings.Contains(list+turn, words) {
		t.Errorf("%s\n%s", list, turn)
	}
}
