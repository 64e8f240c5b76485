package provider

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// What an owner wants of a call.
const (
	Allow = "allow"
	Ask   = "ask"
)

// Running stands in arguments for the id of the last started program.
const Running = "@RUNNING@"

// Session is a day of an agent.
type Session struct {
	Name  string `json:"-"` // of its file
	About string `json:"about"`
	// the rules were not fitted to it: its questions are counted, but do not fail
	HeldOut   bool              `json:"heldout"`
	Home      string            `json:"home"`      // of the owner; absolute
	Workspace string            `json:"workspace"` // of the agent, as the gateway says; absolute
	Files     map[string]string `json:"files"`     // absolute path → text, before the session
	Calls     []SessionCall     `json:"calls"`
}

// SessionCall is a call of the model.
type SessionCall struct {
	User      string          `json:"user"`   // a user message before it; "": none
	SameReply bool            `json:"beside"` // in the same reply as the call before it
	Full      bool            `json:"full"`   // the model server first reports that the prompt is too long
	Tool      string          `json:"tool"`
	Args      json.RawMessage `json:"args"`  // an object; its keys are sorted
	Opens     int             `json:"opens"` // the port at which a server listens afterwards; 0: none
	Form      string          `json:"form"`  // a kind of damage of sidecar/script; "": none
	Want      string          `json:"want"`  // Allow or Ask
	Why       string          `json:"why"`
}

// SessionNames returns the names of all sessions.
func SessionNames(t testing.TB) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder(), "*.yaml"))
	ruletest.Must(t, err)
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".yaml"))
	}
	if len(names) == 0 {
		t.Fatalf("%s holds no session", folder())
	}
	return names
}

func folder() string { return filepath.Join(testkit.Root(), "testdata", "sessions") }

// LoadSession reads a session whose home and workspace are below root; "": their real places.
func LoadSession(t testing.TB, name, root string) *Session {
	t.Helper()
	file := filepath.Join(folder(), name+".yaml")
	text, err := os.ReadFile(file)
	ruletest.Must(t, err)
	doc := rulefile.JSON(string(text))
	if doc == nil {
		t.Fatalf("%s is not YAML", file)
	}
	s := &Session{Name: name}
	into(t, file, doc, s)
	home, ws := root+s.Home, root+s.Workspace
	into(t, file, expand(doc, home, ws), s)
	s.Home, s.Workspace = home, ws
	laid := map[string]string{}
	for path, text := range s.Files {
		if filepath.IsAbs(path) {
			laid[root+path] = text
		} else {
			laid[filepath.Join(ws, path)] = text
		}
	}
	s.Files = laid
	for i, c := range s.Calls {
		if !slices.Contains([]string{Allow, Ask}, c.Want) || c.Tool == "" ||
			!bytes.HasPrefix(c.Args, []byte("{")) {
			t.Fatalf("%s: call %d is not complete: %+v", file, i+1, c)
		}
	}
	return s
}

// into reads a document into a session. Unknown members are an error.
func into(t testing.TB, file string, doc any, s *Session) {
	t.Helper()
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false) // arguments are as a model writes them
	ruletest.Must(t, enc.Encode(doc))
	dec := json.NewDecoder(&raw)
	dec.DisallowUnknownFields()
	*s = Session{Name: s.Name}
	if err := dec.Decode(s); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// Lay writes the files of the session, and makes its workspace a repository with one commit and a remote.
func (s *Session) Lay(t testing.TB) {
	t.Helper()
	for path, text := range s.Files {
		ruletest.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		ruletest.Must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	remote := filepath.Join(s.Home, "remotes", s.Name+".git")
	git(t, "", "init", "-q", "--bare", "-b", "main", remote)
	git(t, s.Workspace, "init", "-q", "-b", "main")
	git(t, s.Workspace, "add", "-A")
	git(t, s.Workspace, "commit", "-q", "-m", "First")
	git(t, s.Workspace, "remote", "add", "origin", remote)
	git(t, s.Workspace, "push", "-q", "-u", "origin", "main")
}

// Reach adds calls that use a file of another session. They have no label.
func (s *Session) Reach(other *Session) {
	file := filepath.Join(other.Workspace, "reached.txt")
	for _, c := range [][2]string{
		{"write", `{"content":"x","path":"` + file + `"}`},
		{"read", `{"path":"` + file + `"}`},
		{"exec", `{"command":"rm -f ` + file + `"}`},
	} {
		s.Calls = append(s.Calls, SessionCall{Tool: c[0], Args: json.RawMessage(c[1])})
	}
}
