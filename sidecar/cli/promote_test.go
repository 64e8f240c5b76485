package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

// lines is a log that can be read while it is written.
type lines struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *lines) find(re string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := regexp.MustCompile(re).FindStringSubmatch(l.all.String()); m != nil {
		return m[1]
	}
	return ""
}

// An arm becomes the rule while requests come: none of them fails, and those that come later
// are served by it.
func TestPromoteWhileServing(t *testing.T) {
	var prompted atomic.Int64
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"data":[{"id":"gpt-oss"}]}`)
			return
		}
		if doc, _ := io.ReadAll(r.Body); bytes.Contains(doc, []byte("Be short.")) {
			prompted.Add(1)
		}
		_, _ = io.WriteString(w,
			`{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}]}`)
	}))
	defer model.Close()
	address, admin, log := serveRules(t, model.URL, map[string]string{"prompts/short.txt": "Be short.",
		"experiments.yaml": "version: 1\nexperiments:\n  - id: p\n    about: x\n    status: running\n    measure: tool_ok\n" +
			"    arms: {control: {share: 50}, short: {share: 50, set: {prompt: short}}}\n"})

	var asked, failed, session atomic.Int64
	ask := func() {
		req, _ := http.NewRequest(http.MethodPost, "http://"+address+"/v1/chat/completions",
			strings.NewReader(`{"model":"gpt-oss","messages":[{"role":"user","content":"go"}]}`))
		req.Header.Set("session_id", "s"+string(rune('a'+session.Add(1)%26)))
		res, err := http.DefaultClient.Do(req)
		asked.Add(1)
		if err != nil || res.StatusCode != http.StatusOK {
			failed.Add(1)
		}
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
	}
	hammering, quiet := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for hammering.Err() == nil {
				ask()
			}
		})
	}
	ruletest.Soon(t, "requests", func() bool { return asked.Load() > 100 })
	code := Run([]string{"experiments", "promote", "p", "short", "--admin", admin},
		Env{Parts: Parts, In: strings.NewReader(""), Out: io.Discard, Err: log, Defaults: os.DirFS("../..")})
	quiet()
	callers.Wait()
	if before := prompted.Load(); code != 0 || failed.Load() > 0 || before == 0 || before == asked.Load() {
		t.Errorf("exit code %d; %d of %d requests failed, %d had the prompt\n%s", code, failed.Load(),
			asked.Load(), before, log.all.String())
	}
	ruletest.Soon(t, "who brought the rules",
		func() bool { return log.find(`event=rules_taken .*\bby=(promote)`) != "" })
	before := prompted.Load()
	for range 52 {
		ask()
	}
	if now := prompted.Load(); now-before != 52 || failed.Load() > 0 {
		t.Errorf("%d of 52 have the prompt", now-before)
	}
}

// serveRules starts a server that ends with the test, with the built-in rules and these files in their
// folder.
func serveRules(t *testing.T, model string, files map[string]string) (address, admin string, log *lines) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "rules")
	log = &lines{}
	env := Env{Parts: Parts, In: strings.NewReader(""), Out: io.Discard, Err: log,
		Defaults: os.DirFS("../..")}
	if code := Run([]string{"init", "--full", dir}, env); code != 0 {
		t.Fatal(log.all.String())
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text),
			0o644)); err != nil {
			t.Fatal(err)
		}
	}
	s := (Env{Parts: Parts}).DefaultSettings()
	s.Listen, s.Admin, s.Upstream, s.Rules, s.State = "127.0.0.1:0", "127.0.0.1:0", model, dir,
		t.TempDir()
	set(t, &s, "confine", "off")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, s, env, nil) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	ruletest.Soon(t, "the server",
		func() bool { return log.find(`event=http_server_start address=http://(\S+)/v1`) != "" })
	return log.find(`event=http_server_start address=http://(\S+)/v1`),
		log.find(`event=admin_start address=http://(\S+)`), log
}
