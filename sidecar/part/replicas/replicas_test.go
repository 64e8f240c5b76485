package replicas_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"go.uber.org/goleak"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/replicas"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// group are sidecars behind one address, which share a server.
type group struct {
	t      testing.TB
	server *servers.Valkey
	model  *script.Server
	work   string
}

func newGroup(t testing.TB, model *script.Server, args ...string) *group {
	t.Helper()
	return &group{t, servers.StartValkey(t, args...), model, t.TempDir()}
}

// open starts one more replica, until its test ends.
func (g *group) open(t testing.TB, change func(*config.Settings)) *stage.Server {
	t.Helper()
	return stage.Open(t, func(s *config.Settings) {
		stage.Tokens(s)
		to := config.Of[replicas.Settings](s)
		to.Shared, s.Workspace, s.LogLevel = "redis://"+g.server.Address, g.work, "info"
		to.SharedWait = "1s" // the machine of a test may be busy
		if change != nil {
			change(s)
		}
	}, g.model)
}

// answer is what came of a request.
type answer struct {
	status int
	body   string
	header http.Header
}

// send sends a request to a replica.
func send(t testing.TB, s *stage.Server, session string, stream bool, messages ...map[string]any) answer {
	t.Helper()
	body, err := json.Marshal(map[string]any{"model": "gpt-oss", "stream": stream,
		"tools": json.RawMessage(stage.Tools), "messages": messages})
	ruletest.Must(t, err)
	req, err := http.NewRequest(http.MethodPost, s.Chat+"/chat/completions", bytes.NewReader(body))
	ruletest.Must(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("session_id", session)
	return do(t, s, req)
}

func do(t testing.TB, s *stage.Server, req *http.Request) answer {
	t.Helper()
	res, err := s.HTTP.Do(req)
	ruletest.Must(t, err)
	defer res.Body.Close()
	doc, err := io.ReadAll(res.Body)
	ruletest.Must(t, err)
	return answer{res.StatusCode, string(doc), res.Header}
}

// admin asks the admin API of a replica.
func admin(t testing.TB, s *stage.Server, method, path, body string) answer {
	t.Helper()
	req, err := http.NewRequest(method, s.Console+path, strings.NewReader(body))
	ruletest.Must(t, err)
	req.Header.Set("Authorization", "Bearer "+stage.Admin)
	req.Header.Set("Content-Type", "application/json")
	return do(t, s, req)
}

func user(text string) map[string]any { return map[string]any{"role": "user", "content": text} }

// called is a conversation in which a call was made, and its result.
func called(id string) []map[string]any {
	return []map[string]any{user("look"),
		{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "exec", "arguments": `{"command":"ls"}`}}}},
		{"role": "tool", "tool_call_id": id, "content": "a.txt"}}
}

const thought = "The user wants to see the files, so zebra."

func looking() *script.Server { return slowly(0) }

// slowly is looking, with a pause before each piece.
func slowly(pause time.Duration) *script.Server {
	reply := script.Native("exec", `{"command":"ls"}`)
	reply.Reasoning, reply.Pause = thought, pause
	after := script.Text("One file.")
	return script.New(script.Scenario{Name: "look", Steps: []script.Reply{reply}, Loop: true, After: &after},
		script.Scenario{Steps: []script.Reply{script.Text("Well.")}, Loop: true})
}

// thoughtBehind is what the model was told of its thoughts by the last request.
func (g *group) thoughtBehind() string {
	all := g.model.Requests("look")
	for _, m := range all[len(all)-1].Messages {
		if m.Role == "assistant" {
			return m.Field("reasoning")
		}
	}
	return ""
}

// A thought that one replica has heard, the other one gives back to the model; so does one that was
// started later, when both have ended. Nobody can read it in the server.
func TestThoughts(t *testing.T) {
	g := newGroup(t, looking())
	id := ""
	t.Run("another replica", func(t *testing.T) {
		a, b := g.open(t, nil), g.open(t, nil)
		first := send(t, a, "s", false, user("look"))
		if id = gjson.Get(first.body, "choices.0.message.tool_calls.0.id").Str; id == "" {
			t.Fatal(first.body)
		}
		ruletest.Soon(t, "the thought is written",
			func() bool { return bytes.Contains(g.server.Holds(), []byte("gptoss:thought:")) })
		send(t, b, "s", false, called(id)...)
		if got := g.thoughtBehind(); got != thought {
			t.Errorf("the model was given %q", got)
		}
	})
	t.Run("after a restart of all, the server too", func(t *testing.T) {
		g.server.Kill()
		g.server.Again()
		send(t, g.open(t, nil), "s", false, called(id)...)
		if got := g.thoughtBehind(); got != thought {
			t.Errorf("the model was given %q", got)
		}
	})
	t.Run("with another admin token", func(t *testing.T) {
		c := g.open(t, func(s *config.Settings) { s.AdminToken = "another-token-of-the-test" })
		send(t, c, "s", false, called(id)...)
		if got := g.thoughtBehind(); got != "" {
			t.Errorf("the model was given %q", got)
		}
		if n := c.Log.Count("shared_foreign"); n != 1 {
			t.Errorf("it was said %d times", n)
		}
	})
	if held := g.server.Holds(); bytes.Contains(held, []byte("zebra")) || bytes.Contains(held, []byte(id)) {
		t.Error("the server holds a thought, or the id of a call, in clear")
	}
}

func deploying() *script.Server {
	return script.New(script.Scenario{Name: "deploy",
		Steps: []script.Reply{script.Native("write", `{"path":"/srv/other/a","content":"x"}`)}, Loop: true},
		script.Scenario{Steps: []script.Reply{script.Text("I have to wait.")}, Loop: true})
}

// waiting is the id of the one approval that waits, as a replica sees it.
func waiting(t testing.TB, s *stage.Server) (id string) {
	t.Helper()
	ruletest.Soon(t, "an approval waits", func() bool {
		id = gjson.Get(admin(t, s, "GET", "/approvals", "").body, `approvals.#(state=="pending").id`).Str
		return id != ""
	})
	return id
}

const left = `"name":"write"`

// A call that one replica asks about is allowed at another one, and passes at a third, once. What the
// three have logged fits together.
func TestApprovals(t *testing.T) {
	g := newGroup(t, deploying())
	dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	t.Run("served", func(t *testing.T) {
		var all []*stage.Server
		for _, dir := range dirs {
			all = append(all, g.open(t,
				func(s *config.Settings) { s.Decisions = filepath.Join(dir, "decisions") }))
		}
		approve(t, all[0], all[1], all[2])
	})
	for i := range dirs {
		dirs[i] = filepath.Join(dirs[i], "decisions")
	}
	got, err := decisions.VerifyAll(dirs)
	ruletest.Must(t, err)
	if !got.Sound() || got.Answers != 2 || got.Used != 1 {
		t.Errorf("%s", strings.Join(got.Lines(), "\n"))
	}
}

func approve(t *testing.T, a, b, c *stage.Server) {
	if got := send(t, a, "s", false, user("deploy")); strings.Contains(got.body, left) {
		t.Fatalf("it left: %s", got.body)
	}
	id := waiting(t, b)
	if got := admin(t, b, "POST", "/approvals/"+id+"/allow", `{"by":"Sam"}`); got.status != http.StatusOK {
		t.Fatal(got)
	}
	var passed atomic.Int64
	var all sync.WaitGroup
	for _, s := range []*stage.Server{a, b, c, c} { // at once: only one of them
		all.Go(func() {
			if strings.Contains(send(t, s, "s", false, user("deploy")).body, left) {
				passed.Add(1)
			}
		})
	}
	if all.Wait(); passed.Load() != 1 {
		t.Errorf("it has passed %d times", passed.Load())
	}
	if got := admin(t, c, "GET", "/approvals/"+id, ""); gjson.Get(got.body, "state").Str != "used" ||
		gjson.Get(got.body, "by").Str != "Sam" {
		t.Errorf("the third replica says %s", got.body)
	}
	// A no of one holds at the others.
	id = waiting(t, c)
	if got := admin(t, c, "POST", "/approvals/"+id+"/deny",
		`{"by":"Kim","why":"not on Friday"}`); got.status != http.StatusOK {
		t.Fatal(got)
	}
	if got := send(t, a, "s", false, user("deploy")); strings.Contains(got.body, left) ||
		!strings.Contains(got.body, "not on Friday") {
		t.Errorf("%s", got.body)
	}
}

// Without the server an approval is a no, also one that was given before; when it is back, what was
// allowed passes.
func TestApprovalsWithoutServer(t *testing.T) {
	g := newGroup(t, deploying())
	a := g.open(t, nil)
	send(t, a, "s", false, user("deploy"))
	id := waiting(t, a)
	if got := admin(t, a, "POST", "/approvals/"+id+"/allow", `{"by":"Sam"}`); got.status != http.StatusOK {
		t.Fatal(got)
	}
	g.server.Kill()
	for range 5 {
		if got := send(t, a, "s", false, user("deploy")); got.status != http.StatusOK ||
			strings.Contains(got.body, left) {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	if got := admin(t, a, "POST", "/approvals/"+id+"/deny",
		`{}`); got.status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", got.status, got.body)
	}
	g.server.Again()
	ruletest.Soon(t, "it is back", func() bool { return a.Log.Count("shared_back") == 1 })
	if got := send(t, a, "s", false, user("deploy")); !strings.Contains(got.body, left) {
		t.Errorf("it did not leave: %s", got.body)
	}
	if n := a.Log.Count("shared_lost"); n != 1 {
		t.Errorf("the loss was said %d times", n)
	}
}

// 64 streams go on while the server is killed, comes back, is held, and goes on: none fails, and
// none waits for it.
func TestKilledUnderStreams(t *testing.T) {
	g := newGroup(t, slowly(time.Millisecond))
	a, b := g.open(t, func(s *config.Settings) { config.Of[replicas.Settings](s).SharedWait = "50ms" }),
		g.open(t,
			func(s *config.Settings) { config.Of[replicas.Settings](s).SharedWait = "50ms" })
	a.HTTP.Timeout, b.HTTP.Timeout = time.Minute, time.Minute // 64 share a machine that may be busy
	var done atomic.Bool
	var served, bad atomic.Int64
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			for n := 0; !done.Load(); n++ {
				s, session := a, fmt.Sprintf("s%d", i)
				if n%2 == 1 {
					s = b
				}
				first := send(t, s, session, true, user("look"))
				at := strings.Index(first.body, `"id":"call`)
				if first.status != http.StatusOK || !strings.Contains(first.body, "[DONE]") || at < 0 {
					bad.Add(1)
					continue
				}
				id, _, _ := strings.Cut(first.body[at+6:], `"`)
				if again := send(t, b, session, true, called(id)...); again.status != http.StatusOK ||
					!strings.Contains(again.body, "[DONE]") || strings.Contains(again.body, `"error"`) {
					bad.Add(1)
				}
				served.Add(2)
			}
		})
	}
	until := func(n int64) {
		t.Helper()
		for to := served.Load() + n; served.Load() < to; {
			now := served.Load()
			ruletest.Soon(t, "more is served", func() bool { return served.Load() > now })
		}
	}
	until(128)
	g.server.Kill()
	until(192)
	g.server.Again()
	until(192)
	g.server.Stop()
	until(192)
	g.server.Go()
	until(128)
	done.Store(true)
	all.Wait()
	t.Logf("%d requests served", served.Load())
	if bad.Load() > 0 {
		t.Errorf("%d requests failed", bad.Load())
	}
	for _, s := range []*stage.Server{a, b} {
		if s.Log.Count("shared_lost") == 0 {
			t.Error("a replica has not noticed that the server was gone")
		}
		ruletest.Soon(t, "it is back",
			func() bool { return s.Log.Count("shared_lost") == s.Log.Count("shared_back") })
	}
}

// A call that leaves at one replica passes the hook of the gateway at another without a second
// decision, once.
func TestHook(t *testing.T) {
	g := newGroup(t, looking())
	a, b := g.open(t, nil), g.open(t, nil)
	id := gjson.Get(send(t, a, "s", false, user("look")).body, "choices.0.message.tool_calls.0.id").Str
	ruletest.Soon(t, "it is written",
		func() bool { return bytes.Contains(g.server.Holds(), []byte("gptoss:left:")) })
	for i, want := range []bool{true, false} {
		got := admin(t, b, "POST", "/calls/judge",
			`{"id":"`+id+`","tool":"exec","arguments":{"command":"ls"},"session":"s"}`)
		if got.status != http.StatusOK || gjson.Get(got.body, "left").Bool() != want {
			t.Errorf("%d: %s", i, got.body)
		}
	}
}

const tries = `version: 1
experiments:
  - id: retries
    about: Does one more try help?
    status: running
    measure: empty
    arms: {control: {share: 50}, new: {share: 50, set: {limits.retry.times: 1}}}
`

// Replicas with the same rules assign a session to the same arm, without the server, too. Rules that
// only one of them has are seen.
func TestRulesAndArms(t *testing.T) {
	g := newGroup(t, looking())
	a, b := g.open(t, nil), g.open(t, nil)
	ready := func(s *stage.Server) string {
		req, err := http.NewRequest("GET", strings.TrimSuffix(s.Chat, "/v1")+"/readyz", nil)
		ruletest.Must(t, err)
		return do(t, s, req).body
	}
	ruletest.Soon(t, "they know each other", func() bool {
		return gjson.Get(ready(a), "replicas.#").Int() == 2 && gjson.Get(ready(b), "replicas.#").Int() == 2
	})
	if got := ready(a); gjson.Get(got, "warnings").Exists() || gjson.Get(got, "shared").Str != "up" {
		t.Errorf("%s", got)
	}
	give := func(s *stage.Server) {
		ruletest.Must(t, os.WriteFile(filepath.Join(s.Rules, "extra", "experiments.retries.yaml"),
			[]byte(tries), 0o600))
		ruletest.Soon(t, "the rules are taken", func() bool { return s.Log.Count("rules_taken") == 1 })
	}
	ruletest.Must(t, os.MkdirAll(filepath.Join(a.Rules, "extra"), 0o700))
	ruletest.Must(t, os.MkdirAll(filepath.Join(b.Rules, "extra"), 0o700))
	give(a)
	ruletest.Soon(t, "the half of the change is seen",
		func() bool { return strings.Contains(ready(b), "replicas have different rules in force") })
	give(b)
	ruletest.Soon(t, "the change is whole", func() bool { return !gjson.Get(ready(b), "warnings").Exists() })
	arms := map[string]int{}
	for i := range 40 {
		if i == 20 {
			g.server.Kill()
		}
		session := fmt.Sprint("alice", i)
		one, other := send(t, a, session, false, user("hello")).header.Get("X-Experiment"), send(t, b,
			session, false, user("hello")).header.Get("X-Experiment")
		if one == "" || one != other {
			t.Errorf("%s: %q and %q", session, one, other)
		}
		arms[one]++
	}
	if len(arms) != 2 {
		t.Errorf("%v", arms)
	}
}
