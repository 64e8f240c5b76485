package ruleset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// withPaths is the shipped set with this paths.yaml.
func withPaths(t *testing.T, doc string) (*Set, rulefile.Problems) {
	t.Helper()
	files := shipped(t)
	for name := range files {
		if strings.HasPrefix(name, rulefile.TestFolder+"/") {
			delete(files, name)
		}
	}
	files[pathsFilename] = "version: 1\n" + doc
	return Full.Load(files)
}

func TestNamed(t *testing.T) {
	shipped := loaded(t).For("openclaw")
	mine, problems := withPaths(t,
		`roots: {learn: ["in {workspace} and <{folder}>", "{folder} then", "at {folder};{folder}, {workspace}!"]}`)
	if mine == nil || len(problems) == 0 ||
		!strings.Contains(problems.Error(), "does not say where {workspace} stands") {
		t.Logf("%v", problems)
	}
	for _, c := range []struct {
		text string
		want Named
	}{
		{"Working directory: /a", Named{Folders: []string{"/a"}}},
		{"x\nWorking directory:  /a b \r\ny", Named{Folders: []string{"/a b"}}},
		{"## Workspace\nWorking directory: /a\n## Workspace\nWorking directory: /a", Named{Folders: []string{"/a"}}},
		{"## Workspace\nWorking directory: /a\n## Workspace\nWorking directory: /b", Named{Unclear: true}},
		{"Working directory: /a\nWorking directory: /b", Named{Folders: []string{"/a"}}},
		{"Working directory: /b\n## Workspace\nWorking directory: /a", Named{Folders: []string{"/a"}}},
		{"## Directory Roles\nWorking directory: /a (tools and deliverables).\nAgent workspace: /b (AGENTS.md/SOUL.md).", Named{Folders: []string{"/a", "/b"}}},
		{"## Workspace\nWorking directory: /b\n## Directory Roles\nWorking directory: /a (tools and deliverables).\nAgent workspace: /b (AGENTS.md/SOUL.md).", Named{Unclear: true}},
		{"## Directory Roles\nWorking directory: /a (tools and deliverables).\nAgent workspace: /b (AGENTS.md/SOUL.md).\nWorking directory: /c", Named{Folders: []string{"/a", "/b"}}},
		{strings.Repeat("## Workspace\nWorking directory: /b\n", 4) + "## Workspace\nWorking directory: /a", Named{Unclear: true}},
		{"Working directory:", Named{}}, {"Working directory: \n/a", Named{}}, {"", Named{}},
	} {
		said := func(start string, most int) (out []string, all bool) {
			for rest := "\n" + c.text; ; {
				_, after, found := strings.Cut(rest, "\n"+start)
				if !found {
					return out, len(out) < 4
				}
				out, rest = append(out, after), after
			}
		}
		if diff := cmp.Diff(c.want, shipped.Named(said)); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

// A way to say it that could not be read is refused, with its place.
func TestLearnRefused(t *testing.T) {
	for text, want := range map[string]string{
		"Working directory":                       "does not say where {workspace} stands",
		"{workspace}":                             "begins with no words",
		"\\n {workspace}":                         "begins with no words",
		"in {workspace} and {workspace}":          "something else in braces",
		"in {workspace} and {place}":              "something else in braces",
		"in {workspace}{folder}":                  "nothing stands between",
		strings.Repeat("x", 2000) + "{workspace}": "too long",
	} {
		_, problems := withPaths(t, `roots: {learn: ["`+text+`"]}`)
		if len(problems) != 1 || !strings.Contains(problems[0].Msg, want) || problems[0].Hint == "" ||
			problems[0].Line == 0 {
			t.Errorf("%.40q: %v", text, problems)
		}
	}
}

// Who works where, and who says so: the locked folder, the start, paths.yaml, the gateway.
func TestWhoSaysWhere(t *testing.T) {
	gateway := World{Named: []string{"/srv/gateway"}}
	flag := World{Set: "/srv/flag", Named: gateway.Named}
	for name, c := range map[string]struct {
		own, locked string
		world       World
		want        string
	}{
		"nobody":                    {"", "", World{}, "/.openclaw/workspace"},
		"the gateway":               {"", "", gateway, "/srv/gateway"},
		"paths.yaml":                {"/srv/own", "", gateway, "/srv/own"},
		"a variable that is unset":  {"${NO_SUCH_VARIABLE_X:-/srv/default}", "", gateway, "/srv/gateway"},
		"the default of a variable": {"${NO_SUCH_VARIABLE_X:-/srv/default}", "", World{}, "/srv/default"},
		"the start":                 {"/srv/own", "", flag, "/srv/flag"},
		"the locked folder":         {"/srv/own", "/srv/locked", flag, "/srv/locked"},
		"locked, and the gateway":   {"", "/srv/locked", gateway, "/srv/locked"},
	} {
		own, locked := rulefile.Files{}, rulefile.Files{}
		if c.own != "" {
			own[pathsFilename] = "version: 1\ninclude: [builtin/paths.yaml]\nroots: {workspace: '" + c.own +
				"'}\n"
		}
		if c.locked != "" {
			locked[pathsFilename] = "version: 1\nroots: {workspace: " + c.locked + "}\n"
		}
		set, problems := underLock(t, locked, own)
		if set == nil {
			t.Fatalf("%s: %v", name, problems)
		}
		if got := set.Roots(c.world).Cwd; !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if c.locked == "" {
			continue
		}
		if d := set.CheckPath("write", "/srv/flag/x", somebody,
			At{Now: exampleTime, World: c.world}); d.Effect == policy.Allow {
			t.Errorf("%s: what the start sets is written under a locked workspace", name)
		}
	}
}

// The agent of another user has that user's home.
func TestHomeOfTheWorkspace(t *testing.T) {
	t.Setenv("HOME", "/var/lib/sidecar")
	set := loaded(t).For("openclaw")
	at := At{Now: exampleTime, World: World{Named: []string{"/home/sam/code/shop"}}}
	for path, want := range map[string]policy.Effect{
		"~/notes/a.md": policy.Allow, "/home/sam/notes/a.md": policy.Allow,
		"/home/kim/notes/a.md": policy.Deny, "/home/sam/.openclaw/openclaw.json": policy.Deny,
		"/home/sam/.openclaw/media/in.png": policy.Allow, "/home/sam/.ssh/id_rsa": policy.Deny,
		"~": policy.Ask, "/var/lib/sidecar/.openclaw/openclaw.json": policy.Deny,
	} {
		if d := set.CheckPath("read", path, somebody, at); d.Effect != want {
			t.Errorf("read %s: %s by %s (%s), want %s", path, d.Effect, d.Rule, d.Why, want)
		}
	}
}

// However the workspace is said, the agent is the user in whose home it lies. Folders that are
// named beside it stay where they are.
func TestHomeHoweverItIsSaid(t *testing.T) {
	t.Setenv("HOME", "/home/alice")
	const mine = "version: 1\ninclude: [builtin/paths.yaml]\nroots: {workspace: /home/sam/shop}\n"
	for name, c := range map[string]struct {
		own, locked rulefile.Files
		world       World
	}{
		"paths.yaml":        {own: rulefile.Files{pathsFilename: mine}},
		"the locked folder": {locked: rulefile.Files{pathsFilename: mine}},
		"the start":         {world: World{Set: "/home/sam/shop"}},
		"the gateway":       {world: World{Named: []string{"/home/sam/shop", "/home/alice/shared"}}},
	} {
		set, problems := underLock(t, c.locked, c.own)
		if set == nil {
			t.Fatalf("%s: %v", name, problems)
		}
		at := At{Now: exampleTime, World: c.world}
		for path, want := range map[string]policy.Effect{"/home/sam/shop/a": policy.Allow,
			"~/notes.md": policy.Allow, "/home/sam/notes.md": policy.Allow, "/home/kim/a": policy.Deny} {
			if d := set.CheckPath("read", path, somebody, at); d.Effect != want {
				t.Errorf("%s: read %s: %s by %s (%s), want %s", name, path, d.Effect, d.Rule, d.Why, want)
			}
		}
		named := len(c.world.Named) > 0
		for path, may := range map[string]bool{"/home/sam/shop/a": true, "/home/alice/shared/a": named,
			"/home/sam/shared/a": false} {
			if d := set.CheckPath("write", path, somebody, at); (d.Effect == policy.Allow) != may {
				t.Errorf("%s: write %s: %s by %s (%s), want %v", name, path, d.Effect, d.Rule, d.Why, may)
			}
		}
	}
}

// What a rule is unsure about leaves under permissive, is asked about under developer and
// strict, and a locked rule asks whatever its profile is.
func TestUnsure(t *testing.T) {
	const rule = "rules: [{id: r, unsure: Who knows., when: \"cmd.binary == 'frob'\"}, {id: all, allow: Yes., when: 'len(cmd.argv) >= 0'}]\n"
	for _, c := range []struct {
		profile string
		locked  bool
		want    policy.Effect
	}{{"developer", false, policy.Ask}, {"strict", false, policy.Ask}, {"permissive", false, policy.Audit},
		{"audit-only", false, policy.Audit}, {"permissive", true, policy.Ask}} {
		own, locked := rulefile.Files{execFilename: "version: 1\nprofile: " + c.profile +
			"\n" + rule}, rulefile.Files{}
		if c.locked {
			own, locked = rulefile.Files{execFilename: "version: 1\nprofile: permissive\n"},
				rulefile.Files{execFilename: "version: 1\n" + rule}
		}
		set, problems := underLock(t, locked, own)
		if set == nil {
			t.Fatal(problems)
		}
		if d := set.CheckCommand("frob", somebody, corpusAt); d.Effect != c.want {
			t.Errorf("%s, locked %v: %s (%s), want %s", c.profile, c.locked, d.Effect, d.Why, c.want)
		}
	}
}

// The profiles over places around the workspace: permissive really permits, and strict is as
// strict as a guard that knows its roots only.
func TestProfilesElsewhere(t *testing.T) {
	at := At{Now: exampleTime, World: World{Named: []string{"/srv/work/shop"}, Home: "/home/sam"}}
	sets := map[string]*Set{}
	for _, profile := range []string{"strict", "developer", "permissive"} {
		files := shipped(t)
		files[execFilename] = testkit.Replace(t, files[execFilename], "profile: developer", "profile: "+profile,
			1)
		set, problems := Full.Load(files)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		sets[profile] = set
	}
	for _, c := range []struct{ op, path, strict, developer, permissive string }{
		{"read", "/srv/work/shop/a", "allow", "allow", "allow"}, {"read", "/usr/share/x", "allow", "allow", "allow"},
		{"read", "/home/sam/notes.md", "deny", "allow", "allow"}, {"read", "/etc/nginx/nginx.conf", "deny", "allow", "allow"}, {"read", "/opt/app/x.yml", "deny", "ask", "audit"},
		{"write", "/opt/app/x.yml", "deny", "ask", "audit"}, {"write", "/home/sam/notes.md", "deny", "ask", "audit"}, {"delete", "/home/sam/notes.md", "deny", "ask", "audit"},
		{"write", "/etc/motd", "deny", "deny", "deny"}, {"delete", "/usr/bin/ls", "deny", "deny", "deny"}, {"read", "/home/kim/x", "deny", "deny", "deny"},
		{"read", "/home/sam/.ssh/id_rsa", "deny", "deny", "deny"}, {"read", "/home/sam/.openclaw/openclaw.json", "deny", "deny", "deny"}, {"write", "/home/sam/.bashrc", "deny", "deny", "deny"},
	} {
		tool := map[string]string{"read": "cat ", "write": "touch ", "delete": "rm "}[c.op]
		for profile, want := range map[string]string{"strict": c.strict, "developer": c.developer,
			"permissive": c.permissive} {
			byTool, byCommand := sets[profile].CheckPath(paths.Op(c.op), c.path, somebody,
				at), sets[profile].CheckCommand(tool+c.path, somebody, at)
			if string(byTool.Effect) != want || string(byCommand.Effect) != want {
				t.Errorf("%s %s under %s: a tool %s by %s, a command %s by %s; want %s", c.op, c.path,
					profile, byTool.Effect, byTool.Rule, byCommand.Effect, byCommand.Rule, want)
			}
		}
	}
}

// Rules that were written before there were the classes around, foreign and control see what
// they saw then, in the operator's folder and in the locked one.
func TestOlderRules(t *testing.T) {
	const older = "rules: [{id: out, deny: Outside., when: \"class == 'outside'\"}]\n"
	const olderURLs = "version: 1\nrules: [{id: local, deny: Local., when: \"class == 'loopback'\"}]\n"
	at := At{Now: exampleTime, World: World{Home: "/home/sam", Servers: []string{"127.0.0.1:8001"}},
		Opened: func(int) bool { return true }}
	for name, c := range map[string]struct{ own, locked rulefile.Files }{
		"the operator's": {own: rulefile.Files{pathsFilename: "version: 1\n" + older, urlsFilename: olderURLs}},
		"the locked": {locked: rulefile.Files{pathsFilename: "version: 1\n" + older,
			urlsFilename: olderURLs}},
	} {
		set, problems := underLock(t, c.locked, c.own)
		if set == nil {
			t.Fatalf("%s: %v", name, problems)
		}
		for _, path := range []string{"/home/sam/notes.md", "/home/kim/notes.md", "/opt/x"} {
			if d := set.CheckPath("read", path, somebody, at); d.Effect != policy.Deny {
				t.Errorf("%s: read %s: %s by %s", name, path, d.Effect, d.Rule)
			}
		}
		for _, url := range []string{"http://localhost:3000/", "http://127.0.0.1:8001/"} {
			if d := set.CheckURL(url, "GET", nil, somebody, at); d.Effect != policy.Deny {
				t.Errorf("%s: %s: %s by %s", name, url, d.Effect, d.Rule)
			}
		}
	}
}

// A model server of models.yaml is one that no agent may reach.
func TestModelServersAreClosed(t *testing.T) {
	own := rulefile.Files{modelsFile: "version: 1\nmodels: [{id: second, about: Ours., mode: provider, upstream: 'http://127.0.0.1:9000/v1'}]\n"}
	set, problems := underLock(t, nil, own)
	if set == nil {
		t.Fatal(problems)
	}
	at := At{Now: exampleTime, Opened: func(int) bool { return true }}
	for url, want := range map[string]policy.Effect{"http://localhost:9000/v1/models": policy.Deny,
		"http://localhost:9001/": policy.Allow} {
		if d := set.CheckURL(url, "GET", nil, somebody, at); d.Effect != want {
			t.Errorf("%s: %s by %s, want %s", url, d.Effect, d.Rule, want)
		}
	}
}

// What the operator's localhost opens stays closed where the locked folder says so.
func TestLockedLocalhost(t *testing.T) {
	own := rulefile.Files{urlsFilename: "version: 1\ninclude: [builtin/urls.yaml]\nlocalhost: [3000]\n"}
	locked := rulefile.Files{urlsFilename: "version: 1\nrules: [{id: local, deny: Local., when: \"class == 'loopback' and not opened\"}, {id: own, deny: Own., when: class == 'control'}, {id: all, allow: Yes.}]\n"}
	set, problems := underLock(t, locked, own)
	if set == nil {
		t.Fatal(problems)
	}
	for _, d := range []policy.Decision{
		set.CheckURL("http://localhost:3000/", "GET", nil, somebody, At{Now: exampleTime}),
		set.CheckCommand("curl http://localhost:3000/", somebody, At{Now: exampleTime}),
	} {
		if d.Effect != policy.Deny {
			t.Errorf("%s by %s", d.Effect, d.Rule)
		}
	}
}
