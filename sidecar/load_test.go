package sidecar_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

const heldStream = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Yes\"},\"finish_reason\":null}]}\n\n"

// holding is a model server whose streams end when they may. It tells of each that has begun.
func holding(begun chan<- string, hold <-chan struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/completions") {
			http.NotFound(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, heldStream)
		_ = http.NewResponseController(w).Flush()
		begun <- string(body)
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
		_, _ = io.WriteString(w, strings.Replace(heldStream, "null", `"stop"`, 1)+"data: [DONE]\n\n")
	})
}

// While memory is short a new request gets 503 and is told when to come again, a stream under way ends as it
// should, and whoever looks after the server sees it. When there is room again, all is as before.
func TestMemoryShort(t *testing.T) {
	var used atomic.Uint64
	begun, hold := make(chan string, 9), make(chan struct{})
	r := provider.Start(t, provider.Setup{Memory: web.Memory{
		Limit: 1 << 30, Used: func() (uint64, uint64) { return used.Load(), 0 }, Collect: func() {},
	}}, holding(begun, hold))
	under := make(chan *provider.Answer)
	go func() { under <- r.Chat(provider.Body(provider.Streaming)) }()
	<-begun
	short := func(want bool) { // a look at memory counts for a moment
		t.Helper()
		ruletest.Soon(t, "memory is looked at", func() bool {
			ready := r.Ask(http.MethodGet, "/readyz", "")
			return strings.Contains(string(ready.Body), "memory is nearly full") == want
		})
	}
	used.Store(900 << 20)
	short(true)
	for _, body := range []string{provider.Body(provider.Streaming), provider.Body(""), "{"} {
		a := r.Chat(body)
		if a.Status != http.StatusServiceUnavailable || a.Fault.Code != "overloaded" ||
			a.Header.Get("Retry-After") != "5" ||
			!strings.Contains(a.Fault.Message, "its memory is nearly full") {
			t.Errorf("%s: %d %v %s", body, a.Status, a.Header, a.Body)
		}
	}
	if a := r.Ask(http.MethodGet, "/readyz", ""); a.Status != http.StatusServiceUnavailable ||
		!strings.Contains(string(a.Body), "memory is nearly full") {
		t.Errorf("ready: %d %s", a.Status, a.Body)
	}
	res, err := r.Do(t.Context(), http.MethodGet, "/metrics", "")
	ruletest.Must(t, err)
	page, err := io.ReadAll(res.Body)
	ruletest.Must(t, errors.Join(err, res.Body.Close()))
	for _, line := range []string{"gptoss_executor_load_shedding 1",
		`gptoss_executor_load_refused_total{why="memory"} 3`,
		"gptoss_executor_memory_limit_bytes 1.073741824e+09", "gptoss_executor_load_inside 1"} {
		if !strings.Contains(string(page), line+"\n") {
			t.Errorf("%s is not among the metrics", line)
		}
	}
	if a := r.Ask(http.MethodGet, "/healthz", ""); a.Status != http.StatusOK {
		t.Errorf("alive: %d", a.Status)
	}
	close(hold)
	if a := <-under; a.Status != http.StatusOK || !strings.Contains(string(a.Body), "[DONE]") {
		t.Errorf("the stream under way: %d %s", a.Status, a.Body)
	}
	used.Store(100 << 20)
	short(false)
	if a := r.Chat(provider.Body(provider.Streaming)); a.Status != http.StatusOK {
		t.Errorf("with room again: %d %s", a.Status, a.Body)
	}
	if n, m := strings.Count(r.Log.String(), "event=load_shed"), strings.Count(r.Log.String(),
		"event=load_normal"); n != 1 || m != 1 {
		t.Errorf("told %d and %d times", n, m)
	}
}

// What is refused for its size takes no memory, and neither does a body that never comes.
func TestAnnouncedInVain(t *testing.T) {
	r := provider.Start(t, provider.Setup{Memory: web.Memory{
		Limit: 64 << 20, Used: func() (uint64, uint64) { return 0, 0 }, Collect: func() {},
	}}, script.New(script.Scenario{Steps: []script.Reply{script.Text("Yes.")}, Loop: true}))
	for announced, want := range map[int64]int{99_999_999_999: http.StatusRequestEntityTooLarge,
		16 << 20: http.StatusBadRequest} {
		for range 9 {
			req := httptest.NewRequest(http.MethodPost, "/v1/chat/completions",
				io.MultiReader(strings.NewReader("{"), broken{}))
			req.ContentLength, req.Host = announced, "localhost"
			w := httptest.NewRecorder()
			if r.Sidecar.Handler().ServeHTTP(w, req); w.Code != want {
				t.Errorf("%d bytes: %d %s", announced, w.Code, w.Body)
			}
		}
		if a := r.Chat(provider.Body("")); a.Status != http.StatusOK {
			t.Errorf("behind %d bytes: %d %s", announced, a.Status, a.Body)
		}
	}
}

// broken is a connection that broke.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A caller who does not read its answer holds neither a place nor the memory for good.
func TestCallerDoesNotRead(t *testing.T) {
	long := `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"` +
		strings.Repeat("0123456789abcde ", 1<<20) + `"}}]}`
	r := provider.Start(t, provider.Setup{Limits: func(l *ruleset.Limits) { l.Idle = 100 * time.Millisecond }},
		provider.Says(provider.Document, long))
	for i, path := range []string{"/v1/chat/completions", "/v1/responses"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.URL, "http://"))
		ruletest.Must(t, err)
		defer conn.Close()
		ruletest.Must(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
		body := provider.Body(`"input":"go"`)
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s",
			path, len(body), body)
		ruletest.Must(t, err)
		ruletest.Soon(t, path+" is over", func() bool {
			return r.Log.Count("request_served") == i+1 &&
				r.Sidecar.Load().Inside == 0
		})
	}
}

// One session with many requests does not hold up another, however it is named: the gateway names it in the
// prompt.
func TestFairBetweenSessions(t *testing.T) {
	begun, hold := make(chan string, 99), make(chan struct{})
	r := provider.Start(t, provider.Setup{Limits: func(l *ruleset.Limits) { l.Load.AtOnce = 1 }}, holding(begun, hold))
	body := func(session string) string {
		return fmt.Sprintf(`{"model":"gpt-oss","stream":true,"messages":[{"role":"user","content":"Go on.\nRuntime: agent=main | session=agent:main:%s"}]}`, session)
	}
	var all sync.WaitGroup
	ask := func(session string) {
		waiting := r.Sidecar.Load()
		all.Go(func() {
			if a := r.Ask(http.MethodPost, "/v1/chat/completions", body(session)); a.Status != http.StatusOK {
				t.Errorf("%s: %d %s", session, a.Status, a.Body)
			}
		})
		ruletest.Soon(t, "it is there", func() bool {
			now := r.Sidecar.Load()
			return now.Inside != waiting.Inside || now.Waiting != waiting.Waiting
		})
	}
	for range 12 {
		ask("crowd")
	}
	ask("one")
	ask("two")
	close(hold)
	all.Wait()
	order := ""
	for range 14 {
		asked := <-begun
		for _, session := range []string{"crowd", "one", "two"} {
			if strings.Contains(asked, "agent:main:"+session) {
				order += session[:1]
			}
		}
	}
	if order != "ccotcccccccccc" {
		t.Errorf("let in as %s", order)
	}
}

// More than may wait, and those that wait too long, get 503. A caller who leaves makes room.
func TestCrowded(t *testing.T) {
	begun, hold := make(chan string, 9), make(chan struct{})
	r := provider.Start(t, provider.Setup{Limits: func(l *ruleset.Limits) {
		l.Load.AtOnce, l.Load.Waiting, l.Load.Wait = 1, 1, 3*time.Second // the third comes within it
	}}, holding(begun, hold))
	first := make(chan *provider.Answer)
	go func() { first <- r.Chat(provider.Body(provider.Streaming)) }()
	<-begun
	late := make(chan *provider.Answer)
	go func() { late <- r.Chat(provider.Body(provider.Streaming)) }()
	ruletest.Soon(t, "one waits", func() bool { return r.Sidecar.Load().Waiting > 0 })
	if a := r.Chat(provider.Body(provider.Streaming)); a.Status != 503 ||
		!strings.Contains(a.Fault.Message, "too many requests wait") {
		t.Errorf("one too many: %d %s", a.Status, a.Body)
	}
	if a := <-late; a.Status != 503 || !strings.Contains(a.Fault.Message, "took too long") {
		t.Errorf("late: %d %s", a.Status, a.Body)
	}
	close(hold)
	if a := <-first; a.Status != http.StatusOK {
		t.Errorf("the first: %d %s", a.Status, a.Body)
	}
	if s := r.Sidecar.Load(); s.Inside != 0 || s.Waiting != 0 {
		t.Errorf("left behind: %+v", s)
	}
}
