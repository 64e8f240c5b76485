//go:build unix

package service_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// balancer sends requests in turn to the servers whose /readyz says 200. It asks them every 100 ms, and asks
// no server twice for the same.
type balancer struct {
	at    []*httputil.ReverseProxy
	ready []atomic.Bool
	next  atomic.Int64
}

func balance(t testing.TB, places ...*place) (address string) {
	t.Helper()
	b := &balancer{ready: make([]atomic.Bool, len(places))}
	stop := make(chan struct{})
	probe := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Second}
	for i, p := range places {
		at := &httputil.ReverseProxy{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, FlushInterval: -1,
			Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(&url.URL{Scheme: "http", Host: p.address})
			}}
		b.at = append(b.at, at)
		go func() {
			for {
				res, err := probe.Get("http://" + p.address + "/readyz")
				if err == nil {
					res.Body.Close()
				}
				if !os.IsTimeout(err) { // on a busy machine silence says nothing; who has gone refuses
					b.ready[i].Store(err == nil && res.StatusCode == http.StatusOK)
				}
				select {
				case <-stop:
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
		}()
	}
	front := httptest.NewServer(b)
	t.Cleanup(func() { close(stop); front.Close() })
	ruletest.Soon(t, "all are ready", func() bool {
		for i := range b.ready {
			if !b.ready[i].Load() {
				return false
			}
		}
		return true
	})
	return front.Listener.Addr().String()
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Whole, as nginx has it. Go's proxy now and then cuts an answer whose request it still reads.
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	first := int(b.next.Add(1))
	for k := range b.at {
		i := (first + k) % len(b.at)
		if b.ready[i].Load() {
			b.at[i].ServeHTTP(w, r)
			return
		}
	}
	http.Error(w, "no server is ready", http.StatusServiceUnavailable)
}

// thinking calls a tool after a thought, waits for a person where it writes, and says what comes of it.
func thinking() *script.Server {
	look := script.Native("exec", `{"command":"ls"}`)
	look.Reasoning, look.Pause = "The user wants to see the files, so zebra.", 15*time.Millisecond
	after := script.Text("One file.")
	return script.New(script.Scenario{Name: "think", Steps: []script.Reply{look}, Loop: true, After: &after},
		script.Scenario{Name: "deploy",
			Steps: []script.Reply{script.Native("write", `{"path":"/srv/other/a","content":"x"}`)},
			Loop:  true},
		script.Scenario{Name: "look", Steps: []script.Reply{look}, Loop: true},
		script.Scenario{Steps: []script.Reply{script.Text("I have to wait.")}, Loop: true})
}

// chat sends a conversation, and gives the body of the answer.
func chat(t testing.TB, address string, messages ...any) string {
	t.Helper()
	list, err := json.Marshal(messages)
	ruletest.Must(t, err)
	tools := strings.Replace(offered, `"tools":[`,
		`"tools":[{"type":"function","function":{"name":"write","parameters":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}}}}},`, 1)
	req, err := http.NewRequest(http.MethodPost, "http://"+address+"/v1/chat/completions",
		strings.NewReader(fmt.Sprintf(`{"model":"gpt-oss",%s,"messages":%s}`, tools, list)))
	ruletest.Must(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("session_id", "s")
	return do(t, req)
}

func do(t testing.TB, req *http.Request) string {
	t.Helper()
	res, err := http.DefaultClient.Do(req)
	ruletest.Must(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	ruletest.Must(t, err)
	return string(text)
}

func ask(t testing.TB, p *place, method, path, body string) string {
	t.Helper()
	req, err := http.NewRequest(method, "http://"+p.admin+path, strings.NewReader(body))
	ruletest.Must(t, err)
	req.Header.Set("Authorization", "Bearer "+adminToken)
	req.Header.Set("Content-Type", "application/json")
	return do(t, req)
}

func user(text string) any { return map[string]any{"role": "user", "content": text} }

// Two replicas are replaced one after the other, behind a balancer that goes by /readyz. No request fails.
// Thoughts, and what a person has allowed, are there at the new ones.
func TestRollingUpgrade(t *testing.T) {
	if testing.Short() {
		t.Skip("long; TestNextDoesNotServe goes through the same goroutines")
	}
	store, m := servers.StartValkey(t), thinking()
	places := []*place{newPlace(t, m), newPlace(t, m)}
	work := t.TempDir()
	start := func(p *place) *process {
		s := p.serve(t, "--shared", "redis://"+store.Address, "--shared-wait", "1s", "--drain", "600ms",
			"--workspace", work)
		return s
	}
	servers := []*process{start(places[0]), start(places[1])}
	address := balance(t, places...)
	called := chat(t, address, user("think"))
	id := gjson.Get(called, "choices.0.message.tool_calls.0.id").Str
	if id == "" {
		t.Fatal(called)
	}
	if got := chat(t, places[0].address, user("deploy")); strings.Contains(got, `"write"`) {
		t.Fatalf("it did not wait for a person: %s", got)
	}
	approval := ""
	ruletest.Soon(t, "an approval waits", func() bool {
		approval = gjson.Get(ask(t, places[1], "GET", "/approvals", ""),
			`approvals.#(state=="pending").id`).Str
		return approval != ""
	})
	l := begin(t, address)
	for i, p := range places {
		p.install(t, binary)
		servers[i].signal(syscall.SIGTERM)
		<-servers[i].gone
		servers[i] = start(p)
		ruletest.Soon(t, "it is ready", func() bool {
			res, err := http.Get("http://" + p.address + "/readyz")
			if err == nil {
				res.Body.Close()
			}
			return err == nil && res.StatusCode == http.StatusOK
		})
		time.Sleep(300 * time.Millisecond) // the balancer has seen it, too
		if i == 0 {
			ask(t, p, "POST", "/approvals/"+approval+"/allow", `{"by":"Sam"}`)
		}
	}
	l.end()
	chat(t, address, user("think"), map[string]any{"role": "assistant", "content": nil,
		"tool_calls": []any{map[string]any{"id": id, "type": "function",
			"function": map[string]any{"name": "exec", "arguments": `{"command":"ls"}`}}}},
		map[string]any{"role": "tool", "tool_call_id": id, "content": "a.txt"})
	all := m.Requests("think")
	if thought := all[len(all)-1].Messages[1].Field("reasoning"); !strings.Contains(thought, "zebra") {
		t.Errorf("the thought is gone: %q", thought)
	}
	if got := chat(t, address, user("deploy")); !strings.Contains(got, `"write"`) {
		t.Errorf("what a person has allowed does not pass: %s", got)
	}
	var logs []string
	for i, p := range places {
		servers[i].signal(syscall.SIGTERM)
		<-servers[i].gone
		logs = append(logs, filepath.Join(p.dir, "state", "decisions"))
	}
	got, err := decisions.VerifyAll(logs)
	ruletest.Must(t, err)
	if !got.Sound() || got.Used != 1 {
		t.Errorf("%s", strings.Join(got.Lines(), "\n"))
	}
	if _, err := os.Stat(filepath.Join(places[0].dir, "state", "replica")); err != nil {
		t.Error(err)
	}
}

// A server that leaves says so before it stops accepting: at /readyz, and by ending each connection.
func TestDrain(t *testing.T) {
	p := newPlace(t, model())
	s := p.serve(t, "--drain", "2s")
	client := &http.Client{}
	get := func(path string) (status int, closes bool) {
		res, err := client.Get("http://" + p.address + path)
		ruletest.Must(t, err)
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		return res.StatusCode, res.Close
	}
	if status, closes := get("/healthz"); status != http.StatusOK || closes {
		t.Errorf("before: %d, %t", status, closes)
	}
	s.signal(syscall.SIGTERM)
	s.said(1, "event=http_server_shutting_down")
	for path, want := range map[string]int{"/readyz": http.StatusServiceUnavailable,
		"/healthz": http.StatusOK, "/v1/models": http.StatusOK} {
		if status, closes := get(path); status != want || !closes {
			t.Errorf("%s: %d, %t", path, status, closes)
		}
	}
	<-s.gone
}
