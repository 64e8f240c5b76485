package run

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

const token = "a-token-of-the-gateway"

// gatewayRig is a client in front of a gateway that a test plays. Its clock stands still.
type gatewayRig struct {
	t   testing.TB
	c   *Gateway
	log *ruletest.Journal

	mu     sync.Mutex
	now    time.Time
	orders []invocation
	heads  []http.Header
}

func play(t testing.TB, h func(w http.ResponseWriter, o invocation)) *gatewayRig {
	t.Helper()
	r := &gatewayRig{t: t, log: &ruletest.Journal{}, now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var o invocation
		body, err := io.ReadAll(req.Body)
		if err != nil || json.Unmarshal(body, &o) != nil || req.URL.Path != "/tools/invoke" ||
			req.Method != http.MethodPost {
			t.Errorf("%s %s: %s %v", req.Method, req.URL, body, err)
		}
		r.mu.Lock()
		r.orders, r.heads = append(r.orders, o), append(r.heads, req.Header)
		r.mu.Unlock()
		h(w, o)
	}))
	t.Cleanup(srv.Close)
	r.c = r.client(srv.URL)
	return r
}

func (r *gatewayRig) client(url string) *Gateway {
	r.t.Helper()
	c, err := NewGateway(GatewayConfig{URL: url, Token: token, Session: "guest", Now: r.clock,
		Log: slog.New(slog.NewTextHandler(r.log, nil))})
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func (r *gatewayRig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *gatewayRig) later(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

// asked are the names of the tools that were asked for since the last time.
func (r *gatewayRig) asked() (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.orders {
		names = append(names, o.Name)
	}
	r.orders, r.heads = nil, nil
	return names
}

// passed is a call that was judged.
func passed(tool, args, session string, class tools.Class) *guard.AllowedCall {
	call := tools.Call{Name: tool, Arguments: json.RawMessage(args)}
	return &guard.AllowedCall{Call: call, Facts: &policy.Facts{Call: policy.Call{Tool: tool, Class: string(class),
		Subject: policy.Subject{Session: session, Channel: "webchat"}}}}
}

// says answers every order in the same way.
func says(status int, body string, header ...string) func(http.ResponseWriter, invocation) {
	return func(w http.ResponseWriter, _ invocation) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func faulty(kind, message string) string {
	return fmt.Sprintf(`{"ok":false,"error":{"type":%q,"message":%q}}`, kind, message)
}

// Every status and shape of an answer, for a call that writes.
func TestAnswers(t *testing.T) {
	ok := func(result string) func(http.ResponseWriter, invocation) {
		return says(200, `{"ok":true,"result":`+result+`}`)
	}
	type want = tools.Result
	for name, c := range map[string]struct {
		gateway func(http.ResponseWriter, invocation)
		want    want // of its text a part
	}{
		"text": {ok(`{"content":[{"type":"text","text":"sunny"}],"details":{"n":1}}`),
			want{Text: "sunny"}},
		"several parts": {ok(`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`), want{Text: "a\nb"}},
		"a picture":     {ok(`{"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"AAAA"}]}`), want{Text: "a\n[image image/png of 3 bytes, which is not shown]"}},
		"a resource": {ok(`{"content":[{"type":"resource","resource":{"uri":"file:a","text":"inside"}}]}`),
			want{Text: "inside"}},
		"a link": {ok(`{"content":[{"type":"resource_link","uri":"https://a.test/"}]}`),
			want{Text: "[resource_link, which is not shown] https://a.test/"}},
		"details alone":            {ok(`{"content":[],"details":{"n": 1}}`), want{Text: `{"n":1}`}},
		"nothing":                  {ok(`{"content":[]}`), want{}},
		"null":                     {ok(`null`), want{}},
		"a text by itself":         {ok(`"plain"`), want{Text: "plain"}},
		"an object of its own":     {ok(`{"tide": "high"}`), want{Text: `{"tide":"high"}`}},
		"content is a text":        {ok(`{"content":"high"}`), want{Text: `{"content":"high"}`}},
		"soft error":               {ok(`{"content":[{"type":"text","text":"no such session"}],"details":{"status":"error"}}`), want{Text: "no such session", Failed: true}},
		"soft not found":           {ok(`{"content":[{"type":"text","text":"gone"}],"details":{"status":"not_found"}}`), want{Text: "gone", Failed: true}},
		"soft error without words": {ok(`{"content":[],"details":{"error":"missing_key"}}`), want{Text: `{"error":"missing_key"}`, Failed: true}},
		"isError": {ok(`{"content":[{"type":"text","text":"bad"}],"isError":true}`),
			want{Text: "bad", Failed: true}},
		"status is a number": {ok(`{"content":[{"type":"text","text":"x"}],"details":{"status":404}}`),
			want{Text: "x"}},
		"details are a list": {ok(`{"content":[{"type":"text","text":"x"}],"details":[1]}`),
			want{Text: "x"}},
		"ok is false": {says(200, faulty("x", "no")), want{Text: "no", Failed: true}},
		"a key twice": {says(200,
			`{"ok":true,"result":"a","ok":false,"error":{"type":"x","message":"last"}}`),
			want{Text: "last", Failed: true}},
		"bad arguments": {says(400, faulty("tool_error", "query required")),
			want{Text: "query required", Failed: true}},
		"wrong token": {says(401, `{"error":{"message":"Unauthorized","type":"unauthorized"}}`),
			want{Text: "token is wrong", Failed: true}},
		"blocked": {says(403, faulty("tool_call_blocked", "By a plugin.")),
			want{Text: "blocked this call: By a plugin. Do not send it again.", Failed: true}},
		"must be approved": {says(403,
			`{"ok":false,"error":{"type":"tool_call_blocked","message":"Ask.","requiresApproval":true}}`),
			want{Text: "A person would have to approve it", Failed: true}},
		"no such tool": {says(404, faulty("not_found", "Tool not available: x")),
			want{Text: "has no tool note_save", Failed: true}},
		"no such page": {says(404, "Not Found"), want{Text: "is no gateway", Failed: true}},
		"another method": {says(405, "Method Not Allowed"),
			want{Text: "is no gateway", Failed: true}},
		"a slow body": {says(408,
			`{"error":{"message":"Request body timeout","type":"invalid_request_error"}}`),
			want{Text: "too busy", Failed: true, Transient: true}},
		"a proxy waited too long": {says(408, "x"), want{Text: "status 408", Failed: true, Doubt: true}},
		"a proxy says 503": {says(503, `{"message":"upstream reset"}`, "Retry-After", "2"),
			want{Text: "status 503", Failed: true, Doubt: true}},
		"too large": {says(413, "Payload too large"), want{Text: "too long", Failed: true}},
		"rate limit": {says(429, `{"error":{"type":"rate_limited"}}`, "Retry-After", "7"),
			want{Text: "for a while", Failed: true, Transient: true, After: 7}},
		"rate limit until": {says(429, `x`, "Retry-After", "Fri, 01 May 2026 12:00:30 GMT"),
			want{Text: "for a while", Failed: true, Transient: true, After: 31}},
		"the tool fails": {says(500, faulty("tool_error", "tool execution failed")),
			want{Text: "the tool failed", Failed: true, Doubt: true}},
		"the gateway fails": {says(500, "oops"), want{Text: "status 500", Failed: true, Doubt: true}},
		"a proxy": {says(502, "<html>Bad gateway</html>"),
			want{Text: "status 502", Failed: true, Doubt: true}},
		"starting": {says(503, `{"error":{"type":"unavailable"}}`, "Retry-After", "2"),
			want{Text: "too busy", Failed: true, Transient: true, After: 2}},
		"the Control UI": {says(200, "<!doctype html><html></html>", "Content-Type", "text/html"),
			want{Text: "is no gateway", Failed: true}},
		"another server": {says(200, `{"hello":"world"}`),
			want{Text: "is no gateway", Failed: true}},
		"cut JSON": {says(200, `{"ok":true,"result":{"cont`),
			want{Text: "is no gateway", Failed: true}},
		"a redirect": {says(307, "", "Location", "http://127.0.0.1:9/"),
			want{Text: "is no gateway", Failed: true}},
		"its own token": {ok(`"the token is ` + token + `"`), want{Text: "the token is [token]"}},
		"200 MB": {func(w http.ResponseWriter, _ invocation) {
			chunk := []byte(strings.Repeat("x", 1<<20))
			for range 200 {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
			t.Error("all of it was read")
		}, want{Text: "longer than 8 MiB", Failed: true, Doubt: true}},
		"it hangs up": {func(w http.ResponseWriter, _ invocation) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				conn.Close()
			}
		}, want{Text: "broke before it answered", Failed: true, Doubt: true}},
		"it hangs up in the middle": {func(w http.ResponseWriter, _ invocation) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"ok":true`)
		}, want{Text: "broke before it answered", Failed: true, Doubt: true}},
	} {
		t.Run(name, func(t *testing.T) {
			r := play(t, c.gateway)
			got := r.c.Run(t.Context(), "id", passed("note_save", `{"a":1}`, "", tools.Write))
			text := got.Text
			got.Text = c.want.Text
			if got != c.want || !strings.Contains(text, c.want.Text) || c.want.Text == "" && text != "" {
				t.Errorf("%+v %q, want %+v", got, text, c.want)
			}
			if log := r.log.String(); strings.Contains(log, token) {
				t.Errorf("the log holds the token: %s", log)
			}
		})
	}
}

// What a request says: the tool, the arguments as they are, the session, the id, the token.
func TestRequest(t *testing.T) {
	for session, key := range map[string]string{
		"": "guest", "agent:main:telegram:1": "agent:main:telegram:1", "main": "guest-",
		"harness:x": "guest-", "agent:" + strings.Repeat("x", maxKey): "guest-",
	} {
		r := play(t, says(200, `{"ok":true,"result":"x"}`))
		args := `{"n":12345678901234567890,"text":"<&>"}`
		r.c.Run(t.Context(), "call1", passed("note_save", args, session, tools.Write))
		o, head := r.orders[0], r.heads[0]
		if o.Name != "note_save" || o.IdempotencyKey != "call1" || !strings.HasPrefix(o.SessionKey, key) ||
			o.SessionKey == "main" {
			t.Errorf("%q: %+v", session, o)
		}
		if got := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`,
			"&").Replace(string(o.Args)); got != args {
			t.Errorf("the arguments are %s", o.Args)
		}
		channel := ""
		if strings.HasPrefix(session, "agent:") {
			channel = "webchat"
		}
		if head.Get("Authorization") != "Bearer "+token || head.Get("X-Openclaw-Message-Channel") != channel {
			t.Errorf("%q: %v", session, head)
		}
	}
}

// A call that is too long is not sent.
func TestTooLong(t *testing.T) {
	r := play(t, says(200, `{"ok":true}`))
	got := r.c.Run(t.Context(), "id", passed("note_save", `{"a":"`+strings.Repeat("x", maxRequest)+`"}`, "",
		tools.Write))
	if !got.Failed || got.Doubt || len(r.asked()) != 0 {
		t.Errorf("%+v", got)
	}
}

// What the network does, for calls that read and that write.
func TestNetwork(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	l.Close()
	r := play(t, says(200, ""))
	nobody := r.client(closed)
	if got := nobody.Run(t.Context(), "id", passed("note_save", `{}`, "", tools.Write)); !got.Transient ||
		got.Doubt || !strings.Contains(got.Text, "did not run") {
		t.Errorf("nobody there: %+v", got)
	}
	if log := r.log.String(); !strings.Contains(log, "gateway_trouble") || !strings.Contains(log, "refused") {
		t.Errorf("the operator reads %q", log)
	}
	for _, class := range []tools.Class{tools.Read, tools.Write} {
		release := make(chan struct{})
		arrived := make(chan struct{}, 1)
		slow := play(t, func(w http.ResponseWriter, _ invocation) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"ok":true,`) // and then nothing
			w.(http.Flusher).Flush()
			arrived <- struct{}{}
			<-release
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-arrived; cancel() }()
		got := slow.c.Run(ctx, "id", passed("x", `{}`, "", class))
		close(release)
		if !got.Failed || got.Doubt != (class == tools.Write) || got.Transient {
			t.Errorf("%s, a drip: %+v", class, got)
		}
		hangup := play(t, func(w http.ResponseWriter, _ invocation) {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				conn.Close()
			}
		})
		if got := hangup.c.Run(t.Context(), "id",
			passed("x", `{}`, "", class)); got.Transient != (class == tools.Read) ||
			got.Doubt != (class == tools.Write) || len(hangup.asked()) != 1 {
			t.Errorf("%s, a broken connection: %+v", class, got)
		}
	}
}

// A refused token is told once, and the gateway is left alone for a while.
func TestWrongToken(t *testing.T) {
	status := http.StatusUnauthorized
	r := play(t, func(w http.ResponseWriter, o invocation) {
		if status == http.StatusOK {
			says(200, `{"ok":true,"result":"x"}`)(w, o)
			return
		}
		says(status, `{"error":{"type":"unauthorized"}}`)(w, o)
	})
	for range 3 {
		if got := r.c.Run(t.Context(), "id", passed("x", `{}`, "", tools.Read)); !got.Failed ||
			got.Transient {
			t.Errorf("%+v", got)
		}
	}
	if asked := r.asked(); len(asked) != 1 {
		t.Errorf("asked for %v", asked)
	}
	r.later(badTokenTTL)
	r.c.Run(t.Context(), "id", passed("x", `{}`, "", tools.Read))
	if n := strings.Count(r.log.String(), "gateway_trouble"); n != 1 || len(r.asked()) != 1 {
		t.Errorf("told %d times: %s", n, r.log.String())
	}
	r.later(badTokenTTL)
	r.c.Run(t.Context(), "id", passed("note_save", `{"a":"`+strings.Repeat("x", maxRequest)+`"}`, "",
		tools.Write))
	if strings.Contains(r.log.String(), "gateway_back") {
		t.Error("a call that was not sent says that the gateway is well again")
	}
	status = http.StatusOK
	if got := r.c.Run(t.Context(), "id", passed("x", `{}`, "", tools.Read)); got.Failed ||
		!strings.Contains(r.log.String(), "gateway_back") {
		t.Errorf("%+v %s", got, r.log.String())
	}
}

// An answer 429 is logged in the words of the gateway.
func TestBusySays(t *testing.T) {
	r := play(t, says(429, faulty("rate_limited", "Too many tool calls")))
	r.c.Run(t.Context(), "id", passed("x", `{}`, "", tools.Read))
	if log := r.log.String(); !strings.Contains(log, "429: Too many tool calls") || strings.Contains(log, "token") {
		t.Error(log)
	}
}

// After 429 nothing is sent until the gateway wants to hear more.
func TestWaits(t *testing.T) {
	r := play(t, says(429, "", "Retry-After", "30"))
	r.c.Run(t.Context(), "id", passed("x", `{}`, "", tools.Read))
	r.later(10 * time.Second)
	if got := r.c.Run(t.Context(), "id", passed("x", `{}`, "", tools.Read)); !got.Transient ||
		got.After != 21 || len(r.asked()) != 1 {
		t.Errorf("%+v", got)
	}
	r.later(20 * time.Second)
	r.c.Run(t.Context(), "id", passed("x", `{}`, "", tools.Read))
	if len(r.asked()) != 1 {
		t.Error("nothing was sent after the time")
	}
}

// A tool that a conversation does not have is not asked for again, there and for some minutes.
func TestLacked(t *testing.T) {
	r := play(t, says(404, faulty("not_found", "Tool not available: message")))
	set := ruletest.Shipped(t, gatewaySection(), RunsSection())
	who := policy.Subject{Session: "agent:main:a"}
	for _, session := range []string{"agent:main:a", "agent:main:a", "agent:main:b"} {
		r.c.Run(t.Context(), "id", passed("message", `{}`, session, tools.Write))
	}
	if asked := r.asked(); len(asked) != 2 {
		t.Errorf("asked for %v", asked)
	}
	if slices.Contains(names(r.c.Tools(t.Context(), set, who)), "message") {
		t.Error("the tool is offered")
	}
	if who.Session = "agent:main:c"; !slices.Contains(names(r.c.Tools(t.Context(), set, who)), "message") {
		t.Error("the tool is offered to nobody")
	}
	r.later(inspectionTTL)
	if who.Session = "agent:main:a"; !slices.Contains(names(r.c.Tools(t.Context(), set, who)), "message") {
		t.Error("the tool is never offered again")
	}
}

func names(all []tools.Tool) (out []string) {
	for _, t := range all {
		out = append(out, t.Name)
	}
	return out
}

// What is offered is what the gateway has. Nothing that may change something is called for it.
func TestTools(t *testing.T) {
	set := ruletest.Shipped(t, gatewaySection(), RunsSection())
	var all []string
	for _, tool := range *ruleset.Of[gatewayTools](set) {
		all = append(all, tool.Name)
	}
	lacking := func(w http.ResponseWriter, o invocation) {
		switch o.Name {
		case probeTool, "web_search":
			says(404, faulty("not_found", "Tool not available"))(w, o)
		default:
			says(400, faulty("tool_error", "url required"))(w, o)
		}
	}
	for name, c := range map[string]struct {
		gateway func(http.ResponseWriter, invocation)
		want    []string
		asks    int
		log     string
	}{
		"all but one": {lacking, slices.DeleteFunc(slices.Clone(all), func(n string) bool { return n == "web_search" }), 7, "not_there=[web_search]"},
		"wrong token": {says(401, ""), nil, 1, "does not accept the token"},
		"a web page":  {says(200, "<html>"), nil, 1, "a web page: is this the address of the gateway?"},
		"starting":    {says(503, ""), all, 1, "gateway_tools"},
	} {
		t.Run(name, func(t *testing.T) {
			r := play(t, c.gateway)
			var group sync.WaitGroup
			for range 8 { // one asks, the others wait
				group.Go(func() {
					if got := names(r.c.Tools(t.Context(), set, policy.Subject{})); !slices.Equal(got,
						c.want) {
						t.Errorf("offered %v", got)
					}
				})
			}
			group.Wait()
			asked := r.asked()
			for _, tool := range asked {
				if tool != probeTool && set.Tools.Class(tool) != tools.Read {
					t.Errorf("%s was called", tool)
				}
			}
			if len(asked) != c.asks || strings.Count(r.log.String(), c.log) != 1 {
				t.Errorf("asked for %v, the log says %s", asked, r.log.String())
			}
			r.later(inspectionTTL)
			if r.c.Tools(t.Context(), set, policy.Subject{}); len(r.asked()) != c.asks {
				t.Error("it is not asked again")
			}
		})
	}
}

// Addresses that are none are told of at start, and passwords in them are not shown.
func TestNew(t *testing.T) {
	for url, want := range map[string]string{
		"127.0.0.1:18789": "", "ws://a/": "ws://a/", "http://": "", "http://u:secret@a/": "gateway_token",
		"http://a/?x=1": "", "http://a:b:c": "", "http://a/%zz": "",
	} {
		if _, err := NewGateway(GatewayConfig{URL: url}); err == nil || strings.Contains(err.Error(), "secret") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
	for url, want := range map[string]string{
		"http://a:1": "http://a:1/tools/invoke", "https://a/base/": "https://a/base/tools/invoke",
		"http://a/tools/invoke": "http://a/tools/invoke",
	} {
		if c, err := NewGateway(GatewayConfig{URL: url}); err != nil || c.url.String() != want {
			t.Errorf("%s: %v %v", url, c, err)
		}
	}
}

// No answer, whatever it is, breaks the reading of it.
func FuzzReadAnswer(f *testing.F) {
	for _, body := range []string{`{"ok":true,"result":{"content":[{"type":"text","text":"x"}],"details":{"status":"error"}}}`, `{"ok":false,"error":{"type":"not_found"}}`, `{"error":"x"}`, `<html>`, `{"ok":true,"result":{"content":[{"type":"image","data":"="}]}}`} {
		f.Add(200, []byte(body))
		f.Add(404, []byte(body))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		a := readAnswer(status, http.Header{"Retry-After": {string(body)}}, body, time.Unix(0, 0))
		r := a.result("x", true)
		if r.Failed != (a.kind != succeeded) || r.Transient && r.Doubt || a.kind == succeeded && status != 200 ||
			r.After < 0 {
			t.Errorf("%+v %+v", a, r)
		}
	})
}
