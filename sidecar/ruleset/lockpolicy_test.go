package ruleset

import (
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// TestLockedPaths: rules and roots of the locked folder are asked beside the operator's,
// and the stricter answer wins; what the operator takes for no path, the lock still does.
func TestLockedPaths(t *testing.T) {
	own := builtin(t)
	own[execFilename] = "version: 1\nprofile: permissive\n"
	own[pathsFilename] = "version: 1\nroots: {home: /home/agent, workspace: /srv/project, write: [/data], read: [/usr]}\n"
	lock := rulefile.Files{pathsFilename: `version: 1
roots: {write: []}
rules:
  - {id: no-data, deny: Not there., when: class == 'outside'}
  - {id: no-secret, deny: Secret., when: class == 'secret'}
`}
	files, err := lockedSource(t, own, lock).Read()
	check(t, err)
	set, problems := Full.Load(files)
	if set == nil || len(problems) > 0 {
		t.Fatal(problems)
	}
	at := At{Now: exampleTime}
	call := func(tool, args string) policy.Decision {
		return set.Decide(tools.Call{Name: tool, Arguments: []byte(args)}, somebody, at)
	}
	for _, c := range []struct {
		d    policy.Decision
		want string
	}{
		{set.CheckPath(paths.Write, "/srv/project/x", somebody, at), "allow "},
		{set.CheckPath(paths.Write, "/data/x", somebody, at), "deny no-data"},
		{set.CheckCommand("echo x > /data/x", somebody, at), "deny no-data"},
		{set.CheckCommand("ls", somebody, at), "allow "},
		{call("read", `{"path":"/etc/shadow"}`), "deny no-secret"}, // the operator lists no arguments
		{call("apply_patch", `{"input":"*** Begin Patch\n*** Delete File: /data/x\n*** End Patch"}`), "deny no-data"},
	} {
		if got := string(c.d.Effect) + " " + c.d.Rule; got != c.want {
			t.Errorf("%s, want %s (%+v)", got, c.want, c.d.Facts.Paths)
		}
	}
	if d := set.CheckPath(paths.Write, "/data/x", somebody, at); !strings.HasPrefix(d.Place,
		"policy/paths.yaml:") {
		t.Error(d.Place)
	}
}

// TestListedSecrets: what either folder lists as secret stays unread, and no confined command has it.
func TestListedSecrets(t *testing.T) {
	own := builtin(t)
	own[pathsFilename] = testkit.Replace(t, own[pathsFilename], "secret: []", "secret: [~/vault]", 1)
	lock := rulefile.Files{pathsFilename: "version: 1\ninclude: [builtin/paths.yaml]\nroots: {secret: [/srv/customers]}\n"}
	files, err := lockedSource(t, own, lock).Read()
	check(t, err)
	set, problems := Full.Load(files)
	if set == nil || len(problems) > 0 {
		t.Fatal(problems)
	}
	home := set.Roots(World{}).Home
	for path, want := range map[string]string{home + "/vault/a": "path-secret", "/srv/customers/b": "path-secret"} {
		if d := set.CheckPath(paths.Read, path, somebody, At{Now: exampleTime}); d.Effect != policy.Deny ||
			d.Rule != want {
			t.Errorf("%s: %s %s", path, d.Effect, d.Rule)
		}
	}
	for _, hidden := range []string{home + "/vault", "/srv/customers"} {
		if !slices.Contains(set.Roots(World{}).Own, hidden) {
			t.Errorf("confined commands have %s", hidden)
		}
	}
}

// TestLockedProfiles: neither profile loosens the other, and a dry run of the operator
// does not reach the locked folder.
func TestLockedProfiles(t *testing.T) {
	for _, c := range []struct{ own, locked, command, want string }{
		{"permissive", "permissive", "frob", "allow"},
		{"permissive", "strict", "frob", "deny"},
		{"strict", "permissive", "frob", "deny"},
		{"audit-only", "permissive", "frob", "audit"},
		{"audit-only", "developer", "frob", "ask"},
		{"developer", "audit-only", "frob", "ask"},
		{"developer", "permissive", "frob", "ask"},
	} {
		set, problems := underLock(t, rulefile.Files{execFilename: "version: 1\nprofile: " + c.locked + "\n"},
			rulefile.Files{execFilename: "version: 1\nprofile: " + c.own + "\n"})
		if set == nil {
			t.Fatal(problems)
		}
		if d := set.CheckCommand(c.command, somebody, corpusAt); string(d.Effect) != c.want {
			t.Errorf("%s under %s: %s, want %s", c.own, c.locked, d.Effect, c.want)
		}
	}
}

// TestShippedTools: the tools of an ordinary agent work as they are.
func TestShippedTools(t *testing.T) {
	set := loaded(t)
	for _, c := range []struct{ tool, args, want string }{
		{"message", `{"action":"send","message":"hi"}`, "allow"},
		{"memory_search", `{"query":"x"}`, "allow"},
		{"sessions_spawn", `{"task":"look"}`, "allow"},
		{"tool_search", `{"query":"x"}`, "allow"},
		{"update_plan", `{"plan":[]}`, "allow"},
		{"web_search", `{"query":"x"}`, "allow"},
		{"web_fetch", `{"url":"https://example.com/"}`, "allow"},
		{"web_fetch", `{"url":"http://127.0.0.1:9/"}`, "deny"},
		{"read", `{"path":"notes.md"}`, "allow"},
		{"read", `{"path":"/usr/share/dict/words"}`, "allow"},
		{"read", `{"path":"/etc/passwd"}`, "ask"},
		{"write", `{"path":"notes.md","content":"x"}`, "allow"},
		{"edit", `{"path":"notes.md","edits":[]}`, "allow"},
		{"write", `{"path":".git/hooks/pre-commit","content":"x"}`, "deny"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a.go\n*** End Patch"}`, "allow"},
		{"process", `{"action":"list"}`, "allow"},
		{"process", `{"action":"submit","data":"y"}`, "ask"},
		{"process", `{"action":"send-keys","hex":["72","6d"]}`, "ask"},
		{"gateway", `{"action":"restart"}`, "ask"},
		{"gateway", `{"action":"config.get","path":"models"}`, "ask"},
		{"gateway", `{"action":"config.schema.lookup","path":"tools"}`, "allow"},
		{"automations", `{"action":"list"}`, "allow"},
		{"automations", `{"action":"runs","jobId":"a"}`, "allow"},
		{"automations", `{"action":"list","gatewayUrl":null}`, "allow"},
		{"automations", `{"action":"list","gatewayUrl":"wss://example.com"}`, "ask"},
		{"automations", `{"action":"list","gatewayToken":"x"}`, "ask"},
		{"automations", `{"action":"list","action":"remove","jobId":"a"}`, "ask"},
		{"automations", `{"action":["list"]}`, "ask"},
		{"automations", `{}`, "ask"},
		{"tool_call", `{"id":"automations","args":{"action":"status"}}`, "allow"},
		{"tool_call", `{"id":"automations","args":{"action":"add","job":{}}}`, "ask"},
		{"cron", `{"action":"list"}`, "allow"},
		{"nodes", `{"action":"status"}`, "allow"},
		{"nodes", `{"action":"invoke","invokeCommand":"system.run"}`, "ask"},
		{"nodes", `{"action":"location_get"}`, "ask"},
		{"plugins", `{"action":"inspect","pluginId":"a"}`, "allow"},
		{"plugins", `{"action":"install","packageName":"a"}`, "ask"},
		{"openclaw", `{"action":"list","message":"remove all agents"}`, "ask"},
		{"computer", `{"action":"get"}`, "ask"},
		{"automations", `{"action":"add","job":{"name":"Dentist","schedule":{"kind":"at","at":"2033-01-01T09:00:00Z"},"payload":{"kind":"systemEvent","text":"Go."}}}`, "allow"},
		{"cron", `{"action":"add","job":{"schedule":{"kind":"cron","expr":"0 9 * * *","tz":"UTC"},"payload":{"kind":"systemEvent","text":"Go."},"sessionTarget":"main"}}`, "allow"},
		{"cron", `{"action":"add","job":{"text":"x"}}`, "ask"},
		{"cron", `{"action":"add","job":"x"}`, "ask"},
		{"cron", `{"action":"add"}`, "ask"},
		{"automations", `{"action":"add","job":{"schedule":{"kind":"at","at":"x"},"payload":{"kind":"agentTurn","message":"Go."}}}`, "ask"},
		{"automations", `{"action":"add","job":{"schedule":{"kind":"at","at":"x"},"payload":{"kind":"systemEvent","text":"Go.","script":"x"}}}`, "ask"},
		{"automations", `{"action":"add","job":{"schedule":{"kind":"stream","command":["sh"]},"payload":{"kind":"systemEvent","text":"Go."}}}`, "ask"},
		{"automations", `{"action":"add","job":{"schedule":{"kind":"at","at":"x","command":["sh"]},"payload":{"kind":"systemEvent","text":"Go."}}}`, "ask"},
		{"automations", `{"action":"add","job":{"trigger":{"script":"x"},"schedule":{"kind":"at","at":"x"},"payload":{"kind":"systemEvent","text":"Go."}}}`, "ask"},
		{"automations", `{"action":"add","job":{"delivery":{"mode":"webhook"},"schedule":{"kind":"at","at":"x"},"payload":{"kind":"systemEvent","text":"Go."}}}`, "ask"},
		{"automations", `{"action":"add","job":{"sessionTarget":"session:other","schedule":{"kind":"at","at":"x"},"payload":{"kind":"systemEvent","text":"Go."}}}`, "ask"},
		{"automations", `{"action":"add","gatewayUrl":"http://x","job":{"schedule":{"kind":"at","at":"x"},"payload":{"kind":"systemEvent","text":"Go."}}}`, "ask"},
		{"automations", `{"action":"remove","jobId":"a"}`, "ask"},
		{"message", `{"action":"send","message":"Hi."}`, "allow"},
		{"message", `{"action":"send","media":"report.pdf"}`, "allow"},
		{"message", `{"action":"send","media":"/home/agent/tax.pdf"}`, "ask"},
		{"message", `{"action":"send","attachments":[{"media":"a.png"},{"media":"/home/agent/.ssh/id_rsa"}]}`, "deny"},
		{"message", `{"action":"send","attachments":["/home/agent/.ssh/id_rsa"]}`, "deny"},
		{"exec", `{"command":"go test ./..."}`, "allow"},
		{"exec", `{"command":"ls","elevated":true}`, "ask"},
		{"exec", `{"command":"ls","host":"node"}`, "ask"},
		{"exec", `{"command":"ls","env":{"LD_PRELOAD":"x"}}`, "ask"},
		{"exec", `{"command":"cat passwd","workdir":"/etc"}`, "ask"},
		{"exec", `{"command":7}`, "ask"},
		{"tool_call", `{"id":"exec","args":{"command":"rm -rf /"}}`, "deny"},
		{"tool_call", `{"id":"read","args":{"path":"a"}}`, "allow"},
	} {
		d := set.Decide(tools.Call{Name: c.tool, Arguments: []byte(c.args)}, somebody, corpusAt)
		if string(d.Effect) != c.want {
			t.Errorf("%s %s: %s by %s (%s), want %s", c.tool, c.args, d.Effect, d.Rule, d.Why, c.want)
		}
	}
}

// TestLockedWorld: what a call does is found out once where both folders see the same
// places and arguments.
func TestLockedWorld(t *testing.T) {
	for lock, want := range map[string]bool{
		"version: 1\n":                                    true,
		"version: 1\nroots: {write: []}\n":                false,
		"version: 1\narguments: {read: {frob: [what]}}\n": false,
	} {
		files, err := lockedSource(t, builtin(t), rulefile.Files{pathsFilename: lock}).Read()
		check(t, err)
		set, problems := Full.Load(files)
		if set == nil {
			t.Fatal(problems)
		}
		if set.sameWorld != want {
			t.Errorf("%q: %v", lock, set.sameWorld)
		}
	}
}
