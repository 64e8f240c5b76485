package sidecar_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/noise"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/eval"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestSessions judges days of ordinary work as a gateway sends them, call by call, with
// nothing configured: only the gateway's prompt says where the workspace is. The tests of
// e2e spend the same days with a real gateway.
func TestSessions(t *testing.T) {
	for _, name := range provider.SessionNames(t) {
		t.Run(name, func(t *testing.T) { judged(t, name, "", nil).Check(t) })
	}
}

// wrapper confines commands, as far as a decision is concerned.
type wrapper struct{}

func (wrapper) Permit(*ruleset.Set, guard.Permit) (policy.Wrapper, error) {
	return policy.Wrapper{Program: "/bin/gpt-oss-executor", Ticket: "/state/T"}, nil
}

func (wrapper) Remotes(paths.Roots) []guard.Remote { return nil }

// TestSessionsConfined judges the same days where the kernel confines commands: nothing is
// asked or denied that is not without.
func TestSessionsConfined(t *testing.T) {
	if testing.Short() {
		t.Skip("long; TestSessions goes through the same goroutines")
	}
	for _, name := range provider.SessionNames(t) {
		bare, confined := judged(t, name, "", nil), judged(t, name, "", wrapper{})
		t.Logf("bare: %s\nconfined: %s", bare, confined)
		for i, v := range confined.Verdicts {
			if w := bare.Verdicts[i]; v.Effect != w.Effect && (v.Effect == policy.Ask ||
				v.Effect == policy.Deny || v.Effect == "") {
				t.Errorf("%s, call %d: %s %s (%s), and %s without", name, v.Number, v.Tool, v.Effect, v.Rule,
					w.Effect)
			}
		}
	}
}

// TestSessionsLocked keeps what each day says under a locked folder, which wins.
func TestSessionsLocked(t *testing.T) {
	if testing.Short() {
		t.Skip("long; TestSessions goes through the same goroutines")
	}
	folder := filepath.Join(testkit.Root(), "testdata", "sessions", "locked")
	var b strings.Builder
	for _, name := range provider.SessionNames(t) {
		b.WriteString(judged(t, name, folder, nil).Summary())
	}
	golden := folder + ".txt"
	if *update {
		ruletest.Must(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	ruletest.Must(t, err)
	if b.String() != string(want) {
		t.Errorf("not as in %s; to accept it: go test ./sidecar -run TestSessionsLocked -update\n%s", golden,
			b.String())
	}
}

// TestSessionsOfFamilies spends each day with models that write their calls as text, in the frames of their
// family: each call is judged as the server's own is. Each family has a day.
func TestSessionsOfFamilies(t *testing.T) {
	if testing.Short() {
		t.Skip("long; TestSessions goes through the same goroutines")
	}
	days := provider.SessionNames(t)
	set, problems := provider.Loader().Load(shippedFiles(t))
	if set == nil {
		t.Fatal(problems)
	}
	for i, family := range slices.DeleteFunc(set.Families, func(f *ruleset.Family) bool {
		return len(eval.Frames(set, f.Name)) == 0
	}) {
		name := days[i%len(days)]
		t.Run(name+"/"+family.Name, func(t *testing.T) {
			s := provider.LoadSession(t, name, "")
			r, log := startNext(t, nextServer{family: family.Name, frame: &eval.Frames(set, family.Name)[0]}, s)
			for i := range s.Calls {
				log.call(r, s, i)
			}
			if got, want := s.Score(log.of(s)).Summary(), judged(t, name, "", nil).Summary(); got != want {
				t.Errorf("in frames:\n%s\nas the server's own:\n%s", got, want)
			}
		})
	}
}

// kept is a decision log in memory, and the servers of a machine on which nothing runs but
// what calls of sessions have started.
type kept struct {
	all  []decisions.Decision
	open map[int]bool
}

func (k *kept) listening() map[int]bool { return maps.Clone(k.open) }

func (k *kept) Add(d decisions.Decision) error {
	k.all = append(k.all, d)
	return nil
}

// of are the decisions about the calls of a session.
func (k *kept) of(s *provider.Session) (out []decisions.Decision) {
	for _, d := range k.all {
		if d.Agent == s.Name {
			out = append(out, d)
		}
	}
	return out
}

// judged is what is decided in a session, under a locked folder if there is one.
func judged(t *testing.T, name, locked string, confiner guard.Confiner) provider.Score {
	t.Helper()
	s := provider.LoadSession(t, name, "")
	r, log := nextTo(t, locked, confiner, s)
	for i := range s.Calls {
		log.call(r, s, i)
	}
	return s.Score(log.of(s))
}

// TestSessionsDoNotMix lets two agents of one gateway work at the same time, each in its own
// workspace. Each is judged as if it were alone, also where it reaches for the other's files.
func TestSessionsDoNotMix(t *testing.T) {
	if testing.Short() {
		t.Skip("long; TestSessions goes through the same goroutines")
	}
	for _, pair := range [][2]string{{"coding", "assistant"}, {"parallel", "bigresults"},
		{"overflow", "deferred"}} {
		t.Run(pair[0], func(t *testing.T) {
			both := []*provider.Session{provider.LoadSession(t, pair[0], ""), provider.LoadSession(t, pair[1], "")}
			for i, s := range both {
				s.Reach(both[1-i])
			}
			r, log := nextTo(t, "", nil, both...)
			for i := range max(len(both[0].Calls), len(both[1].Calls)) {
				for _, s := range both {
					if i < len(s.Calls) {
						log.call(r, s, i)
					}
				}
			}
			for _, s := range both {
				alone, kept := nextTo(t, "", nil, s)
				for i := range s.Calls {
					kept.call(alone, s, i)
				}
				if got, want := s.Score(log.of(s)).Summary(), s.Score(kept.of(s)).Summary(); got != want {
					t.Errorf("beside another agent:\n%s\nalone:\n%s", got, want)
				}
			}
		})
	}
}

// nextServer is how a sidecar and its model differ from the usual.
type nextServer struct {
	locked   string // folder
	confiner guard.Confiner
	family   string       // of the model
	frame    *noise.Frame // in which it writes calls as text; nil: the server has parsed them
}

// nextTo is a sidecar between a gateway with these agents, all of one owner, and their model.
func nextTo(t *testing.T, locked string, confiner guard.Confiner, all ...*provider.Session) (*provider.Server, *kept) {
	t.Helper()
	return startNext(t, nextServer{locked: locked, confiner: confiner}, all...)
}

func shippedFiles(t *testing.T) rulefile.Files {
	t.Helper()
	files, err := rulefile.Builtin(os.DirFS(testkit.Root()))
	ruletest.Must(t, err)
	return files
}

func startNext(t *testing.T, how nextServer, all ...*provider.Session) (*provider.Server, *kept) {
	t.Helper()
	t.Setenv("HOME", all[0].Home)
	t.Setenv("OPENCLAW_WORKSPACE", "")
	files, err := provider.Loader().Source("", how.locked, shippedFiles(t)).Read()
	ruletest.Must(t, err)
	if how.family != "" {
		files["extra/models.family.yaml"] = "version: 1\nmodels: [{id: gpt-oss, family: " + how.family + "}]\n"
	}
	set, problems := provider.Loader().LoadShipped(files)
	if set == nil {
		t.Fatal(problems)
	}
	var scenarios []script.Scenario
	for _, s := range all {
		for i, c := range s.Calls {
			said := script.Text("Then not.")
			scenarios = append(scenarios, script.Scenario{Name: mark(s, i), Steps: append(how.shaped(t, c), said,
				said, said)})
		}
	}
	log := &kept{open: map[int]bool{}}
	return provider.Start(t, provider.Setup{Set: set, World: guard.NewWorld(guard.Machine{}), Decisions: log,
		Listening: log.listening, Confiner: how.confiner}, script.New(scenarios...)), log
}

// call lets the model make a call of a session. Nobody is there to answer a question, so a
// server that was asked about does not start.
func (k *kept) call(r *provider.Server, s *provider.Session, i int) {
	r.T.Helper()
	a := r.Chat(prompt(s, i))
	if a.Status != http.StatusOK {
		r.T.Errorf("%s, call %d: %d %s", s.Name, i+1, a.Status, a.Body)
	}
	if port := s.Calls[i].Opens; port > 0 && k.all[len(k.all)-1].Effect == policy.Allow {
		k.open[port] = true
	}
}

// mark is the name of a call in the message of the user that leads to it.
func mark(s *provider.Session, i int) string { return fmt.Sprintf("(%s, call %d)", s.Name, i+1) }

// shaped is a call as the model or its server spoils it.
func (how *nextServer) shaped(t *testing.T, c provider.SessionCall) []script.Reply {
	t.Helper()
	if how.frame != nil {
		return []script.Reply{script.Text(how.frame.Text(c.Tool, string(c.Args)))}
	}
	form := cmp.Or(c.Form, "clean")
	n := slices.IndexFunc(script.Kinds(), func(k script.Kind) bool { return k.ID == form })
	if n < 0 {
		t.Fatalf("there is no kind of damage named %s", form)
	}
	return script.Kinds()[n].Call(c.Tool, string(c.Args))
}

// prompt is the request for a call, with what OpenClaw says of the agent and its tools.
func prompt(s *provider.Session, i int) string {
	agent := s.Name
	system := "## Tooling\nTools policy-filtered.\n## Workspace\nWorking directory: " + s.Workspace +
		"\nSingle global file workspace unless explicitly told otherwise.\n## Deferred Tool Schemas\nAvailable deferred-schema tools:\n"
	for _, name := range deferredTools {
		system += "- " + name + " (core): A tool.\n"
	}
	user := fmt.Sprintf("Please %s\n\nRuntime: agent=%s | session=agent:%s:main | sessionId=u1 | host=vm | repo=%s | os=Linux 6.1 (x64) | model=p/gpt-oss | shell=bash | channel=webchat | capabilities=none",
		mark(s, i), agent, agent, s.Workspace)
	var offered []any
	for _, name := range slices.Sorted(maps.Keys(directTools)) {
		properties, required := map[string]any{}, []string{}
		for _, p := range strings.Fields(directTools[name]) {
			key, kind, _ := strings.Cut(p, ":")
			if must, ok := strings.CutSuffix(kind, "!"); ok {
				kind, required = must, append(required, key)
			}
			properties[key] = map[string]string{"type": kind}
		}
		offered = append(offered, map[string]any{"type": "function", "function": map[string]any{"name": name,
			"parameters": map[string]any{"type": "object", "required": required, "properties": properties}}})
	}
	body, err := json.Marshal(map[string]any{"model": "gpt-oss", "stream": true, "tools": offered,
		"tool_choice": "auto",
		"messages": []any{
			map[string]string{"role": "system", "content": system},
			map[string]string{"role": "user", "content": user},
		}})
	if err != nil {
		panic(err) // maps of texts always encode
	}
	return string(body)
}

// directTools are the tools that OpenClaw offers with their schema: its properties, the
// required ones with an exclamation mark.
var directTools = map[string]string{
	"apply_patch": "input:string!", "edit": "path:string! edits:array!",
	"ls":        "path:string limit:number after:string",
	"exec":      "command:string! title:string workdir:string env:object yieldMs:number background:boolean timeoutSeconds:number pty:boolean ask:string",
	"process":   "action:string! sessionId:string data:string limit:number",
	"read":      "path:string! offset:integer limit:number",
	"tool_call": "id:string! args:object", "tool_describe": "id:string!",
	"tool_search": "query:string queries:array limit:integer",
	"write":       "path:string! content:string!",
}

// deferredTools are some that it names only.
var deferredTools = []string{
	"agents_list", "automations", "create_goal", "gateway", "get_goal", "memory_get", "memory_search",
	"message", "progress_card", "secrets", "session_status",
	"sessions_history", "sessions_list", "sessions_search", "sessions_send", "sessions_spawn", "subagents",
	"tts", "web_fetch", "web_search",
}
