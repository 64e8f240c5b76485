package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
)

const questionLines = `{"id":"a","user":"Read a.","tools":["read"],"expect":{"calls":[{"name":"read","arguments":{"path":"a"}}]}}
{"id":"b","messages":[{"role":"system","content":"Be short."},{"role":"user","content":"Greet."}],"expect":{"content":"Hi."}}
{"id":"c","tools":["read"]}
`

// model answers rightly where it is asked at 0, and else every second time; broken says which
// requests fail.
type model struct {
	mu     sync.Mutex
	asked  int
	broken func(n int) bool
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"gpt-oss-20b"}]}`))
		return
	}
	var req struct {
		Temperature *float64
		Messages    []struct{ Role, Content string }
	}
	_ = json.NewDecoder(r.Body).Decode(&req)
	m.mu.Lock()
	m.asked++
	n := m.asked
	m.mu.Unlock()
	if m.broken != nil && m.broken(n) {
		http.Error(w, `{"error":{"message":"no such luck"}}`, http.StatusBadRequest)
		return
	}
	content := "Hi."
	if last := req.Messages[len(req.Messages)-1].Content; strings.HasPrefix(last, "Read") {
		content = `<|channel|>commentary to=functions.read <|constrain|>json<|message|>{\"path\":\"a\"}<|call|>`
	}
	if req.Temperature != nil && *req.Temperature > 0 && n%2 == 0 {
		content = "I would rather not."
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"id":"x","object":"chat.completion","model":"gpt-oss-20b","choices":[{"index":0,"message":{"role":"assistant","content":"` + content + `"},"finish_reason":"stop"}]}`))
}

func live(t *testing.T, m *model, l Live) (*Report, string) {
	t.Helper()
	srv := httptest.NewServer(m)
	defer srv.Close()
	var tell bytes.Buffer
	l.URL, l.Tell, l.Wait = srv.URL+"/v1", &tell, 10*time.Second
	broken, err := l.Read("f", strings.NewReader(questionLines))
	ruletest.Must(t, err)
	if broken != 1 || !strings.Contains(tell.String(), "f:3: there is nothing to ask") {
		t.Errorf("%d broken lines: %s", broken, tell.String())
	}
	variants := []Variant{{Name: "v", Set: ruletest.Shipped(t)}}
	r := NewReport(variants)
	ruletest.Must(t, l.Run(context.Background(), r, variants, guard.World{}))
	r.Finish()
	return r, tell.String()
}

// Each case is asked so often at each temperature, and read as it is served.
func TestLive(t *testing.T) {
	m := &model{}
	r, said := live(t, m, Live{Times: 4, Temperatures: []float64{0, 0.7}})
	v := r.Variants[0]
	if m.asked != 16 || v.Cases != 16 || v.Right != 12 || v.Errors != 0 || *v.Steady != (Steady{Always: 2, Sometimes: 2}) {
		t.Errorf("asked %d, %+v, %+v\n%s", m.asked, v, v.Steady, said)
	}
	if id := r.All[0].ID; id != "a at 0, time 1" {
		t.Errorf("the first row is %q", id)
	}
	if !strings.Contains(said, "at most 16 requests") || !strings.Contains(said, "16 of 16") {
		t.Error(said)
	}
	var page bytes.Buffer
	ruletest.Must(t, r.HTML(&page))
	for want, n := range map[string]int{"<details>": 2, "v: right in 2 of 4": 2, "2 + 2 of 4": 1} { // a case is shown once
		if got := strings.Count(page.String(), want); got != n || strings.Contains(page.String(), "repairs") {
			t.Errorf("%s is %d times in the page", want, got)
		}
	}
}

// What was answered is not asked again; a bound stops; a changed case is another one.
func TestLiveGoesOn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers")
	first := &model{}
	r, said := live(t, first, Live{Times: 3, Most: 4, Answers: file})
	if first.asked != 4 || r.Cases != 4 || !strings.Contains(said, "stopped behind 4 requests") {
		t.Errorf("asked %d, %d cases\n%s", first.asked, r.Cases, said)
	}
	doc, err := os.ReadFile(file)
	ruletest.Must(t, err)
	ruletest.Must(t, os.WriteFile(file, doc[:len(doc)-9], 0o600)) // the last line broke off
	second := &model{}
	r, _ = live(t, second, Live{Times: 3, Answers: file})
	if second.asked != 3 || r.Cases != 6 || r.Variants[0].Right != 6 {
		t.Errorf("asked %d, %+v", second.asked, r.Variants[0])
	}
	third := &model{}
	if live(t, third, Live{Times: 3, Answers: file, Temperatures: []float64{0.3}}); third.asked != 6 {
		t.Errorf("at another temperature %d were asked", third.asked)
	}
}

// What the server could not answer is counted apart.
func TestLiveErrors(t *testing.T) {
	r, said := live(t, &model{broken: func(n int) bool { return n == 2 }}, Live{Times: 2})
	if v := r.Variants[0]; v.Errors != 1 || v.Cases != 3 || v.Right != 3 {
		t.Errorf("%+v\n%s", v, said)
	}
	r, _ = live(t, &model{broken: func(int) bool { return true }}, Live{Times: 1})
	if v := r.Variants[0]; v.Errors != 2 || v.Cases != 0 {
		t.Errorf("a server that is down: %+v", v)
	}
	r, _ = live(t, &model{broken: func(n int) bool { return n == 2 }}, Live{Times: 2})
	var out bytes.Buffer
	ruletest.Must(t, r.Write(&out))
	if !strings.Contains(out.String(), "no answer") {
		t.Error(out.String())
	}
}
