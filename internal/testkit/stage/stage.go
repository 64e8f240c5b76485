// Package stage is a whole server with all parts of the program, in front of a scripted model server, for
// tests; and how its rules read made-up replies.
package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// The tokens of a server that has some.
const (
	Admin    = "admin-token-of-the-test"
	Approver = "approver-token-of-the-test"
	Reader   = "reader-token-of-the-test"
)

// Kept are settings with a state folder, in which there are a decision log and the runs of tools of this
// program.
func Kept(t testing.TB, more func(*config.Settings)) func(*config.Settings) {
	dir := t.TempDir()
	return func(s *config.Settings) {
		s.State, s.Decisions = filepath.Join(dir, "state"), filepath.Join(dir, "log")
		config.Of[run.Settings](s).WorkspaceTools = "on"
		if more != nil {
			more(s)
		}
	}
}

// Server is one that runs until its test ends.
type Server struct {
	t       testing.TB
	Chat    string // base URL of the provider
	Console string // base URL of the admin listener
	Log     *ruletest.Journal
	Rules   string // the folder of its rules
	HTTP    *http.Client
}

// Tokens are settings with all three tokens.
func Tokens(s *config.Settings) {
	s.AdminToken, s.ApproverToken, s.ReaderToken = Admin, Approver, Reader
}

// Open starts a server. change may change its settings; nil: there is no token.
func Open(t testing.TB, change func(*config.Settings), model http.Handler) *Server {
	t.Helper()
	return OpenIn(t, nil, change, model)
}

// OpenIn starts one with this environment.
func OpenIn(t testing.TB, environ []string, change func(*config.Settings), model http.Handler) *Server {
	t.Helper()
	up := httptest.NewServer(model)
	t.Cleanup(up.Close)
	s := &Server{t: t, Log: &ruletest.Journal{}, Rules: t.TempDir(),
		HTTP: &http.Client{Transport: &http.Transport{}, Timeout: 20 * time.Second}}
	t.Cleanup(s.HTTP.CloseIdleConnections)
	parts := cli.Env{Parts: Parts()}
	settings := config.Settings{
		Listen: "127.0.0.1:0", Admin: "127.0.0.1:0", Upstream: up.URL + "/v1",
		Rules:     s.Rules,
		Workspace: t.TempDir(), DecisionsMode: string(decisions.Written), Decisions: "off",
		Parts: parts.DefaultSettings().Parts,
	}
	config.Of[confine.Settings](&settings).Confine = confine.Off
	config.Of[run.Settings](&settings).GatewaySession = "test"
	if change != nil {
		change(&settings)
	}
	ruletest.Copy(t, s.Rules)
	level, metrics := &slog.LevelVar{}, telemetry.New()
	if settings.LogLevel == "" {
		level.Set(slog.LevelDebug)
	}
	log := slog.New(slog.NewTextHandler(s.Log, &slog.HandlerOptions{Level: level}))
	rules, err := live.Open(ruletest.Shared(parts.Loader()), ruletest.Source(t, s.Rules), "", log, metrics)
	ruletest.Must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- service.Run(ctx, service.Config{Parts: parts.Services(), Settings: settings, Rules: rules,
			Named:   s.Rules,
			Environ: environ, Metrics: metrics, Log: log, Level: level})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	ruletest.Soon(t, "the server listens",
		func() bool { return s.Log.Count("http_server_start") > 0 || len(ended) > 0 })
	s.Chat, s.Console = s.address("http_server_start"), strings.TrimSuffix(s.address("admin_start"), "/")
	return s
}

var address = regexp.MustCompile(`address=(http://[^ \n]+)`)

// address is the one that an event tells.
func (s *Server) address(event string) string {
	for _, line := range s.Log.Lines(event) {
		if m := address.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return ""
}

// Tools are those that requests offer, unless they say otherwise.
const Tools = `[{"type":"function","function":{"name":"exec","parameters":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}},` +
	`{"type":"function","function":{"name":"read","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}},` +
	`{"type":"function","function":{"name":"write","parameters":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}}}]`

// Ask sends a request whose user message picks a scenario, and gives the body of the answer.
func (s *Server) Ask(session, user string, stream bool) string {
	s.t.Helper()
	return s.send(session, map[string]any{
		"model": "gpt-oss", "stream": stream, "tools": json.RawMessage(Tools),
		"messages": []map[string]string{{"role": "user", "content": user}},
	})
}

func (s *Server) send(session string, request map[string]any) string {
	s.t.Helper()
	body, err := json.Marshal(request)
	ruletest.Must(s.t, err)
	req, err := http.NewRequest(http.MethodPost, s.Chat+"/chat/completions", bytes.NewReader(body))
	ruletest.Must(s.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("session_id", session)
	res, err := s.HTTP.Do(req)
	ruletest.Must(s.t, err)
	defer res.Body.Close()
	doc, err := io.ReadAll(res.Body)
	ruletest.Must(s.t, err)
	return string(doc)
}

// Run sends a request that begins a run of executor mode, and gives the body of the answer.
func (s *Server) Run(session, user string) string {
	s.t.Helper()
	return s.send(session, map[string]any{"model": "executor",
		"messages": []map[string]string{{"role": "user", "content": user}}})
}

// Model plays a reply for each user message, and more; anything else gets a plain text.
func Model(replies map[string]script.Reply, more ...script.Scenario) *script.Server {
	list := []script.Scenario{{Steps: []script.Reply{script.Text("Nothing to do.")}, Loop: true}}
	for user, reply := range replies {
		list = append(list, script.Scenario{Name: user, Steps: []script.Reply{reply}, Loop: true})
	}
	return script.New(append(list, more...)...)
}
