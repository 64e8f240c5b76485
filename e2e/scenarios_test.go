package e2e

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// column is a way from the gateway to the model server.
type column struct {
	id, title, api string
	alone          bool // without the sidecar
}

var columns = []column{
	{"alone-chat", "gateway alone, chat", apis[0], true},
	{"alone-responses", "gateway alone, Responses", apis[1], true},
	{"with-chat", "with the sidecar, chat", apis[0], false},
	{"with-responses", "with the sidecar, Responses", apis[1], false},
}

// trial is a scenario in a column.
type trial struct {
	scenario
	column
	out outcome
}

func (c *trial) name() string { return c.column.id + "/" + c.scenario.id }

// file is where the command of a trial leaves a line, each time that it runs.
func (c *trial) file() string {
	return "ran/" + c.column.id + "-" + c.scenario.id + ".txt"
}

// fileOf is the file in the arguments of a command.
func fileOf(args string) string {
	_, rest, _ := strings.Cut(args, ">> ")
	file, _, _ := strings.Cut(rest, ";")
	return file
}

// pageOf is a page that the model reads in a trial with this file.
func pageOf(file string) string { return file + ".page" }

func (c *trial) args() string {
	switch c.tool {
	case "read":
		return `{"path":"` + c.file() + `"}`
	case "session_status":
		return `{}`
	case "write":
		return `{"path":"` + c.file() + `","content":"first\nsecond\n"}`
	case "edit":
		return `{"path":"` + c.file() + `","oldText":"end","newText":"ran\nend"}`
	}
	return `{"command":"echo ran >> ` + c.file() + `; echo printed"}`
}

// choose is the scripted model.
func (c *trial) choose(q script.Request) *script.Reply {
	says := c.says(c.args())
	reply := says[min(q.Step, len(says)-1)]
	told, results := heard(q.Messages)
	switch {
	case c.inTurn:
	case results > 0 && c.done != nil:
		reply = *c.done
	case results > 0:
		reply = script.Text(theAnswer)
	case told && c.told != nil:
		reply = *c.told
	case told && c.runs > 0:
		reply = script.Native(cmp.Or(c.tool, "exec"), "ARGS")
	}
	calls := make([]script.Call, len(reply.Calls))
	for i, call := range reply.Calls {
		call.Arguments = strings.ReplaceAll(call.Arguments, "ARGS", c.args())
		calls[i] = call
	}
	reply.Calls = calls
	return &reply
}

// heard says whether the newest turn of a conversation tells the model that something was wrong, and how
// many results of calls it has.
func heard(messages []script.Message) (told bool, results int) {
	asked := false
	for _, m := range messages {
		switch {
		case m.Role == "user" && strings.Contains(m.Text, "do: "):
			asked = true
		case !asked || m.Role == "assistant" || m.Role == "user" &&
			strings.Contains(m.Text, "OPENCLAW_INTERNAL_CONTEXT"):
		case m.Role == "tool" && !refused(m.Text):
			results++
		default:
			told = true
		}
	}
	return told, results
}

// refused reports whether a result says that the gateway did not take a call.
func refused(result string) bool {
	return strings.HasPrefix(result, "Validation failed") || strings.HasPrefix(result, "Tool ") &&
		strings.Contains(result, " not found")
}

// provider is the one of a trial. By itself the gateway may switch a provider off, so that each
// trial without the sidecar has one of its own.
func (c *trial) provider() string {
	name := c.column.id
	if c.alone {
		name += "-" + c.scenario.id
	}
	if c.slow {
		name += "-slow"
	}
	return name + c.server
}

// stage is a gateway with everything behind it.
type stage struct {
	gateway *gateway
	models  map[string]*script.Server // by the kind of server
}

// setStage starts what these trials need.
func setStage(t *testing.T, trials []*trial) *stage {
	t.Helper()
	s := &stage{models: map[string]*script.Server{}}
	scenarios := map[string][]script.Scenario{}
	for _, c := range trials {
		scenarios[c.server] = append(scenarios[c.server], script.Scenario{Name: c.name(),
			User: user(c.name()), Choose: c.choose})
	}
	run := gatewayRun(t)
	home, ws := gatewayFolders(run)
	if err := os.MkdirAll(filepath.Join(ws, "ran"), 0o755); err != nil {
		t.Fatal(err)
	}
	alone, with := map[string]string{}, map[string]string{}
	for server, all := range scenarios {
		m := script.New(append(all, script.Scenario{Name: "healthy", User: user("healthy"),
			Steps: []script.Reply{script.Text("Well.")}, Loop: true})...)
		if server == "ollama" {
			m.Dialect = servers.Ollama()
		}
		s.models[server] = m
		alone[server] = startModel(t, m)
		env := []string{"HOME=" + home, "OPENCLAW_WORKSPACE=" + ws}
		if server == "executor" {
			env = append(env, "GPTOSS_EXECUTOR_WORKSPACE="+ws, "GPTOSS_EXECUTOR_WORKSPACE_TOOLS=on",
				"GPTOSS_EXECUTOR_RULES="+rulesWith(t, "models.yaml", "\n    mode: provider\n",
					"\n    mode: executor\n"))
		}
		with[server] = startSidecar(t, alone[server], env...)
	}
	alone["executor"] = forgetful(t, ws, trials)
	var providers []provider
	known, impatient := map[string]bool{}, []string{}
	for _, c := range trials {
		id := c.provider()
		if known[id] {
			continue
		}
		known[id] = true
		url := with[c.server]
		if c.alone {
			url = alone[c.server]
		}
		providers = append(providers, provider{id, url, c.api})
		if c.slow {
			impatient = append(impatient, fmt.Sprintf(`%q:{"timeoutSeconds":%d}`, id, hasty))
		}
	}
	more := filepath.Join(t.TempDir(), "more.json")
	write(t, more, `{"agents":{"defaults":{"maxConcurrent":16}},"models":{"providers":{`+strings.Join(impatient,
		",")+`}}}`)
	s.gateway = startGateway(t, run, []string{"OC_MORE=" + more}, providers...)
	for _, c := range trials {
		if c.page {
			write(t, filepath.Join(ws, pageOf(c.file())), c.content()+"\n")
		}
		if c.tool == "read" || c.tool == "edit" {
			write(t, filepath.Join(ws, c.file()), "the end\n")
		}
	}
	return s
}

// forgetful is a provider that runs the tools by itself, and answers 500 when its model fails. It has no
// memory of what it did: this is what a sidecar must not be.
func forgetful(t *testing.T, ws string, trials []*trial) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the caller left before it had asked
		}
		for _, c := range trials {
			if c.alone && c.server == "executor" && bytes.Contains(body, []byte(user(c.name()))) {
				file := filepath.Join(ws, c.file())
				if text, err := os.ReadFile(file); err != nil ||
					os.WriteFile(file, append([]byte("ran\n"), text...), 0o600) != nil {
					t.Errorf("%s: %v", file, err)
				}
			}
		}
		http.Error(w, `{"error":{"message":"boom","type":"server_error"}}`, http.StatusInternalServerError)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// play runs all trials, some at once: the gateway waits between its tries.
func (s *stage) play(t *testing.T, trials []*trial) {
	var all sync.WaitGroup
	free := make(chan struct{}, 12)
	for _, c := range trials {
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			c.out = s.turn(t.Context(), c)
		})
	}
	all.Wait()
}

// turn runs a trial, and looks at what came of it.
func (s *stage) turn(ctx context.Context, c *trial) (o outcome) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	session := strings.ReplaceAll(c.name(), "/", "-")
	if c.history {
		for range 3 {
			long := strings.Repeat("Words that nobody needs any more. ", 1500)
			if a, err := s.gateway.turn(ctx, c.provider(), session,
				"Please do: healthy. "+long); err != nil || a.text != "Well." {
				o.err = fmt.Errorf("a turn before: %w, %s", err, a.raw)
				return o
			}
		}
	}
	begin := time.Now()
	o.answer, o.err = s.gateway.turn(ctx, c.provider(), session, "Please do: "+c.name())
	o.took = time.Since(begin)
	requests := s.models[c.server].Requests(c.name())
	o.asked = len(requests)
	if o.asked > 0 {
		last := requests[o.asked-1]
		_, o.ran = heard(last.Messages)
		o.thought = strings.Contains(string(last.Body), theThought)
	}
	if c.tool == "" || c.tool == "edit" {
		lines, _ := os.ReadFile(filepath.Join(s.gateway.dir, c.file())) // no file: it did not run
		o.ran = strings.Count(string(lines), "ran")
	}
	if c.kind == ofErrors {
		next, err := s.gateway.turn(ctx, c.provider(), session+"-next", "Please do: healthy")
		o.off = err != nil || next.status != http.StatusOK || next.text != "Well."
	}
	return o
}
