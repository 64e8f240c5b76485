package guard_test

import (
	"fmt"
	"maps"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// from is a request in which these messages come first. Each is a role and a text.
func from(messages ...string) string {
	var list []string
	for i := 0; i < len(messages); i += 2 {
		list = append(list, fmt.Sprintf(`{"role":%q,"content":%s}`, messages[i],
			openai.AppendString(nil, messages[i+1])))
	}
	return `{"model":"gpt-oss",` + gatewayTool + `,"messages":[` + strings.Join(list, ",") + `]}`
}

// The workspace is where the gateway says in its own message, and nobody else.
func TestWorkspaceIsLearnt(t *testing.T) {
	const inside, elsewhere = "/home/sam/code/shop/x.txt", "/home/sam/code/other/x.txt"
	runtime := "go\n\nRuntime: agent=main | session=agent:main:main | channel=webchat"
	for name, c := range map[string]struct {
		request  string
		leaves   map[string]bool // by the file that is deleted
		said     string          // events of the log
		mentions string
	}{
		"a system message": {from("system", provider.Workspace, "user", runtime), map[string]bool{inside: true,
			elsewhere: false}, "workspace_learnt", "/home/sam/code/shop"},
		"a developer message": {from("developer", provider.Workspace, "user", runtime), map[string]bool{inside: true, elsewhere: false}, "workspace_learnt", "/home/sam/code/shop"},
		"two folders": {from("system", provider.Separate, "user", runtime), map[string]bool{inside: true,
			"/home/sam/.openclaw/workspace/MEMORY.md": true, "/home/sam/.openclaw/x": false},
			"workspace_learnt", "/home/sam/code/shop"},
		"a bare line": {from("system", "Working directory: /home/sam/code/shop", "user", "go"),
			map[string]bool{inside: true}, "workspace_learnt", "shop"},
		"a file behind it": {from("system", provider.Workspace+"# AGENTS.md\nWorking directory: /home/sam/code/other\n",
			"user", runtime), map[string]bool{inside: true, elsewhere: false}, "workspace_learnt", "shop"},
		"a skill before it": {from("system", "<description>\nWorking directory: /home/sam/code/other\n"+
			provider.Workspace, "user", runtime), map[string]bool{inside: true, elsewhere: false}, "workspace_learnt",
			"shop"},
		"headings twice": {from("system",
			"<description>\n## Workspace\nWorking directory: /home/sam/code/other\n"+provider.Workspace, "user", runtime),
			map[string]bool{inside: false, elsewhere: false}, "workspace_unclear", "--workspace"},
		"another heading": {from("system",
			"<description>\n## Workspace\nWorking directory: /home/sam/code/other\n"+provider.Separate, "user",
			runtime), map[string]bool{inside: false, elsewhere: false}, "workspace_unclear", "--workspace"},
		"said too often": {from("system",
			strings.Repeat("## Workspace\nWorking directory: /home/sam/code/other\n", 9)+provider.Workspace, "user",
			runtime), map[string]bool{inside: false, elsewhere: false}, "workspace_unclear", "--workspace"},
		"a user": {from("user", "Working directory: /home/sam/code/shop\n"+runtime),
			map[string]bool{inside: false}, "", ""},
		"a later system": {from("user", runtime, "system", provider.Workspace), map[string]bool{inside: false}, "",
			""},
		"a result": {from("user", runtime, "tool", "Working directory: /home/sam/code/shop"),
			map[string]bool{inside: false}, "", ""},
		"the machine": {from("system", "Working directory: /", "user", "go"),
			map[string]bool{inside: false}, "workspace_refused", "whole machine"},
		"a home folder": {from("system", "Working directory: /home/sam", "user", "go"),
			map[string]bool{inside: false}, "workspace_refused", "home folder"},
		"the system": {from("system", "Working directory: /usr/local", "user", "go"),
			map[string]bool{inside: false}, "workspace_refused", "system"},
		"secrets": {from("system", "Working directory: /home/sam/.ssh", "user", "go"),
			map[string]bool{inside: false}, "workspace_refused", "secrets"},
		"the gateway": {from("system", "Working directory: /home/sam/.openclaw", "user", "go"),
			map[string]bool{inside: false}, "workspace_refused", "gateway"},
		"its guard": {from("system", "Working directory: /srv/guard", "user", "go"),
			map[string]bool{"/srv/guard/x": false}, "workspace_refused", "program"},
		"no absolute path": {from("system", "Working directory: code/shop", "user", "go"),
			map[string]bool{inside: false}, "workspace_refused", "absolute"},
	} {
		t.Run(name, func(t *testing.T) {
			for file, leaves := range c.leaves {
				own := guard.Machine{Own: []string{"/srv/guard/rules"}}
				r := provider.Start(t, provider.Setup{World: guard.NewWorld(own)},
					script.New(script.Scenario{Steps: []script.Reply{script.Native("exec",
						`{"command":"rm `+file+`"}`), script.Text("Done.")}}))
				a := r.Chat(c.request)
				if left := len(a.Calls) == 1 && !strings.Contains(a.Calls[0].Args, `"ask"`); left != leaves {
					t.Errorf("rm %s left: %v\n%s\n%s", file, left, a.Body, r.Log)
				}
				r.Chat(c.request) // it is said once
				lines := append(append(r.Log.Lines("workspace_learnt"), r.Log.Lines("workspace_refused")...),
					r.Log.Lines("workspace_unclear")...)
				if c.said == "" && len(lines) > 0 || c.said != "" && (len(lines) != 1 ||
					!strings.Contains(lines[0], c.said) || !strings.Contains(lines[0], c.mentions)) {
					t.Errorf("the log says %q, want one line %s with %q", lines, c.said, c.mentions)
				}
			}
		})
	}
}

// What is set outranks what the gateway says, which is a warning, once.
func TestWorkspaceIsSet(t *testing.T) {
	for name, c := range map[string]provider.Setup{
		"at the start":  {World: guard.NewWorld(guard.Machine{Workspace: "/srv/work"})},
		"in paths.yaml": {Set: worksIn(t, "/srv/work", "")},
		"by the locked": {Set: worksIn(t, "", "version: 1\nroots: {workspace: /srv/work}\n")},
	} {
		t.Run(name, func(t *testing.T) {
			r := provider.Start(t, c, script.New(script.Scenario{Steps: []script.Reply{script.Native("exec",
				`{"command":"rm /srv/work/x"}`), script.Native("exec", `{"command":"rm x"}`),
				script.Text("I may not."), script.Native("exec", `{"command":"ls"}`)}}))
			left := func() bool {
				a := r.Chat(from("system", provider.Workspace, "user", "go"))
				return len(a.Calls) == 1 && !strings.Contains(a.Calls[0].Args, `"ask"`)
			}
			if !left() {
				t.Errorf("what is in the workspace that is set is not the agent's\n%s", r.Log)
			}
			if left() {
				t.Error("a relative path, which the gateway's tools start in its own folder, counts as one in the workspace that is set")
			}
			if lines := r.Log.Lines("workspace_differs"); len(lines) != 1 ||
				!strings.Contains(lines[0], "/home/sam/code/shop") || !strings.Contains(lines[0], "/srv/") ||
				!strings.Contains(lines[0], "WARN") {
				t.Errorf("the log says %q", lines)
			}
			if r.Chat(from("system", provider.Workspace+provider.Separate, "user",
				"go")); r.Log.Count("workspace_learnt")+r.Log.Count("workspace_unclear") > 0 {
				t.Error("it was learnt all the same, or it matters that the gateway says two folders")
			}
		})
	}
}

// worksIn is the shipped set with another workspace, and with this paths.yaml in the locked folder.
func worksIn(t *testing.T, workspace, locked string) *ruleset.Set {
	t.Helper()
	files, err := rulefile.Builtin(os.DirFS(testkit.Root()))
	if err != nil {
		t.Fatal(err)
	}
	files = maps.Clone(files)
	for name, text := range files {
		files[rulefile.BuiltinFolder+"/"+name] = text
	}
	if locked != "" {
		files[rulefile.PolicyFolder+"/paths.yaml"] = locked
	} else {
		files["paths.yaml"] = testkit.Replace(t, files["paths.yaml"],
			"${OPENCLAW_WORKSPACE:-~/.openclaw/workspace}", workspace, 1)
	}
	set, problems := provider.Loader().Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	return set
}

// The model is told where it works, as the log is.
func TestOutsideOfTheWorkspace(t *testing.T) {
	r := provider.Play(t, script.Native("write", `{"path":"/opt/x","content":"x"}`), script.Text("I may not."))
	tools := strings.Replace(from("system", provider.Workspace, "user", "go"), `"name":"read"`, `"name":"write"`, 1)
	r.Chat(tools)
	asked := r.Model.Requests("")
	if len(asked) != 2 || !strings.Contains(string(asked[1].Body), "outside of /home/sam/code/shop") {
		t.Errorf("the model was told %s", asked[len(asked)-1].Body)
	}
	if lines := r.Log.Lines("policy_ask"); len(lines) != 1 ||
		!strings.Contains(lines[0], "workspace=/home/sam/code/shop") {
		t.Errorf("the log says %q", lines)
	}
}

// A port that opens after the session's first command is its own; others are not.
func TestOwnServer(t *testing.T) {
	listen := func() (net.Listener, string) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l, l.Addr().String()
	}
	mine := ""
	for port := 21000; mine == ""; port++ { // no port that the kernel gives to others meanwhile
		if free, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			free.Close()
			mine = free.Addr().String()
		}
	}
	_, before := listen()
	curl := func(address string) script.Reply {
		return script.Native("exec", `{"command":"curl -s -X POST http://`+address+`/x -d a=1"}`)
	}
	r := provider.Play(t, script.Native("exec", `{"command":"npm run dev"}`), curl(mine), curl(before), curl(mine),
		curl(mine))
	left := func(session string) bool {
		a := r.Chat(from("system", provider.Workspace, "user", "go\n\nRuntime: agent=main | session=agent:main:"+session+
			" | channel=webchat"))
		return len(a.Calls) == 1 && !strings.Contains(a.Calls[0].Args, `"ask"`)
	}
	if !left("a") {
		t.Fatalf("the server is not started:\n%s", r.Log)
	}
	if !left("a") {
		t.Error("the session's server may still be starting")
	}
	if left("a") {
		t.Error("a server that was there before is reached")
	}
	if l, err := net.Listen("tcp", mine); err != nil {
		t.Fatal(err)
	} else {
		t.Cleanup(func() { l.Close() })
	}
	if !left("a") {
		t.Errorf("the session's own server is not reached:\n%s", r.Log)
	}
	if left("b") {
		t.Error("the server of another session is reached")
	}
}
