package guard

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// desk gives out permits, and keeps them.
type desk struct {
	permits []Permit
	closed  bool
	remotes []Remote
}

func (d *desk) Remotes(paths.Roots) []Remote { return d.remotes }

func (d *desk) Permit(_ *ruleset.Set, p Permit) (policy.Wrapper, error) {
	if d.closed {
		return policy.Wrapper{}, errors.New("the disk is full")
	}
	d.permits = append(d.permits, p)
	return policy.Wrapper{Program: "/bin/gpt-oss-executor", Ticket: "/state/T"}, nil
}

// confining is a judge whose gateway can run commands confined, under exec.yaml with one
// place changed.
func confining(t *testing.T, from, to string) (*judge, *desk, *ruletest.Journal) {
	j, _, log := newJudge(t)
	d := &desk{}
	j.Confiner, j.who = d, policy.Subject{Agent: "main", Channel: "telegram", Session: "s", Interactive: true}
	j.request, j.world = "r", World{}.In([]string{"/srv/project"}, "/srv/project")
	if from != "" {
		dir := t.TempDir()
		ruletest.Copy(t, dir)
		ruletest.Edit(t, dir, "exec.yaml", from, to)
		files, err := ruletest.Source(t, dir).Read()
		ruletest.Must(t, err)
		set, problems := ruletest.Loader().Load(files)
		if set == nil {
			t.Fatal(problems)
		}
		j.set = set
	}
	j.catalog = tools.NewCatalog(j.set.Tools, tools.NewSchemas(4), []tools.Tool{{Name: "exec",
		Parameters: []byte(`{"type":"object","properties":{"command":{"type":"string"},"ask":{"type":"string"}}}`)}})
	return j, d, log
}

func exec(command string) *tools.Call {
	args, _ := json.Marshal(map[string]any{"command": command})
	return &tools.Call{Name: "exec", Arguments: args}
}

// What may leave leaves in the wrapper, with a permit for what it names and no more. What a
// person must allow leaves as they shall read it.
func TestConfinedCalls(t *testing.T) {
	for _, c := range []struct {
		command    string
		leaves     string // its command; empty: it does not
		understood bool
		reads      []string
		hosts      []string
	}{
		{"git status", "'/bin/gpt-oss-executor' confine --ticket '/state/T' -- bash -c 'git status'", true, nil, nil},
		{"node -e 'x()'", `'/bin/gpt-oss-executor' confine --ticket '/state/T' -- bash -c 'node -e '\''x()'\'''`, false, nil, nil},
		{"npm test", "'/bin/gpt-oss-executor' confine --ticket '/state/T' -- bash -c 'npm test'", false, nil, nil},
		{"cat /var/log/dpkg.log", "'/bin/gpt-oss-executor' confine --ticket '/state/T' -- bash -c 'cat /var/log/dpkg.log'", true, []string{"/var/log/dpkg.log"}, nil},
		{"curl -s https://example.com/", "'/bin/gpt-oss-executor' confine --ticket '/state/T' -- bash -c 'curl -s https://example.com/'", true, nil, []string{"example.com"}},
		{"make ROUTE=/no-such-folder/x test", "'/bin/gpt-oss-executor' confine --ticket '/state/T' -- bash -c 'make ROUTE=/no-such-folder/x test'", false, nil, nil},
		{"rm -rf /", "", false, nil, nil},
	} {
		j, d, _ := confining(t, "", "")
		call := exec(c.command)
		refusal := j.decide(call)
		var args struct{ Command string }
		ruletest.Must(t, json.Unmarshal(call.Arguments, &args))
		if c.leaves == "" {
			if refusal == nil || len(d.permits) > 0 || args.Command != c.command {
				t.Errorf("%s: %v, %+v", c.command, refusal, d.permits)
			}
			continue
		}
		if refusal != nil || args.Command != c.leaves || len(d.permits) != 1 {
			t.Fatalf("%s: %v %s", c.command, refusal, args.Command)
		}
		p := d.permits[0]
		if p.Command != c.command || p.Understood != c.understood || !slices.Equal(p.Reads, c.reads) ||
			!slices.Equal(p.Hosts, c.hosts) || p.Roots.Workspace() != "/srv/project" {
			t.Errorf("%s: %+v", c.command, p)
		}
	}
}

// TestPermitOfSettings: git alone may change its settings, and nothing that runs beside it.
func TestPermitOfSettings(t *testing.T) {
	for command, want := range map[string]bool{
		"git status":             true,
		"git config user.name a": true,
		"git config user.name a && git config user.email a@example.com && git commit -qm x": true,
		"git config user.name a && ./x.sh":                                                  false,
		"GIT_EDITOR=./x git config user.name a":                                             false,
		"git -c core.fsmonitor=./x config user.name a":                                      false,
		"git config user.name \"$(./x)\"":                                                   false,
		"git rebase -x ./x.sh HEAD~1":                                                       false,
		"git bisect run ./x.sh":                                                             false,
		"npm test":                                                                          false,
	} {
		j, d, _ := confining(t, "", "")
		if refusal := j.decide(exec(command)); refusal == nil && len(d.permits) == 1 &&
			d.permits[0].Settings != want || want && len(d.permits) != 1 {
			t.Errorf("%s: %v %+v", command, refusal, d.permits)
		}
	}
}

// What a command names is given to it as far as it was judged: all below a folder only where
// the command reads all, and nothing there is odd.
func TestPermitOfReads(t *testing.T) {
	j, _, _ := confining(t, "", "")
	use := func(path, class string, marks ...string) paths.Use {
		return paths.Use{Op: "read", Resolved: path, Class: class, Marks: marks, Glob: strings.Contains(path,
			"*")}
	}
	p := j.permit(&policy.Facts{Script: &shell.Script{Commands: []shell.Command{
		{Binary: "ls", Known: true, Reads: []paths.Use{use("/home/a", paths.Home), use("/home/a/*", paths.Around, "secrets below"), use("/usr/x", paths.Readable)}},
		{Binary: "cat", Known: true, Reads: []paths.Use{use("/home/a/n.md", paths.Around), use("/home/a/l/*.txt", paths.Around)}},
		{Binary: "grep", Known: true, Recursive: true, Reads: []paths.Use{use("/home/a/docs", paths.Around), use("/home/a/code", paths.Around, "secrets below")}},
	}}}, true)
	if want := []string{"/home/a", "/home/a/code", "/home/a/l/*.txt", "/home/a/n.md"}; !slices.Equal(p.Reads,
		want) {
		t.Errorf("reads %q", p.Reads)
	}
	if want := []string{"/home/a/docs"}; !slices.Equal(p.Trees, want) {
		t.Errorf("trees %q", p.Trees)
	}
}

// Code of the workspace runs with what it needs, but not where the command brings code, too. What a command
// deletes or moves is noted.
func TestPermitOfProject(t *testing.T) {
	for command, want := range map[string]struct {
		project bool
		deletes []string
	}{
		"npm run dev":                          {true, nil},
		"PORT=3000 python3 app.py":             {true, nil},
		"./run.sh && git status":               {true, nil},
		"npm test; node -e 'x()'":              {false, nil},
		"node -e 'x()'":                        {false, nil},
		"printf x > x.py; python3 x.py":        {false, nil},
		"grep -rn KEY .":                       {false, nil},
		"rm -rf build && git mv web/a.js b.js": {false, []string{"/srv/project/build", "/srv/project/web/a.js"}},
		"mv web site":                          {false, []string{"/srv/project/web"}},
	} {
		j, d, _ := confining(t, "", "")
		if refusal := j.decide(exec(command)); refusal != nil || len(d.permits) != 1 {
			t.Fatalf("%s: %v", command, refusal)
		}
		if p := d.permits[0]; p.Project != want.project || !slices.Equal(p.Deletes, want.deletes) {
			t.Errorf("%s: %v %q", command, p.Project, p.Deletes)
		}
	}
}

// Ports that the operator has opened can be reached from inside, but those of the guard cannot.
func TestPermitOfPorts(t *testing.T) {
	dir := t.TempDir()
	ruletest.Copy(t, dir)
	ruletest.Edit(t, dir, "urls.yaml", "\nlocalhost: []\n", "\nlocalhost: [5432, 8001, 18789]\n")
	files, err := ruletest.Source(t, dir).Read()
	ruletest.Must(t, err)
	set, problems := ruletest.Loader().Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	j, d, _ := confining(t, "", "")
	j.set, j.world = set, j.world.WithServer("127.0.0.1:8001")
	if why := j.decide(exec("npm test")); why != nil || len(d.permits) != 1 ||
		!slices.Equal(d.permits[0].Ports, []int{5432}) {
		t.Errorf("%v %+v", why, d.permits)
	}
}

// A person is asked about the command as it is, and judges it as it will run: unconfined.
func TestAskedCallsAreNotConfined(t *testing.T) {
	j, d, _ := confining(t, "", "")
	call := exec("git push origin main")
	if why := j.decide(call); why != nil || len(d.permits) > 0 || !strings.Contains(string(call.Arguments),
		`"ask":"always"`) || strings.Contains(string(call.Arguments), "confine") {
		t.Errorf("%v %s %+v", why, call.Arguments, d.permits)
	}
}

// What the rules let leave, and what could not work confined, runs outside of the walls, if it is
// understood and names nothing of the workspace. Git does not.
func TestOutsideCalls(t *testing.T) {
	for command, outside := range map[string]bool{
		"docker ps":                                true,
		"systemctl status nginx":                   true,
		"docker ps -a 2>&1 | grep web | head -5":   true,
		"timeout 60 docker compose logs web":       true,
		"gh pr list --json title | jq '.[].title'": true,
		"kubectl get pods -n web":                  true,
		"git fetch":                                false,
		"git status && git pull -q":                false,
		"git fetch --recurse-submodules":           false,
		"docker ps && git log":                     false,
		"docker ps && npm test":                    false,
		// sed can run programs, and reading it may miss that
		"docker ps; sed s/a/b/ f":                   false,
		"docker ps | sort -u":                       false,
		"docker ps | xargs docker inspect":          false,
		"docker ps > x":                             false, // x may be a link
		"docker ps; printf %s \"$AWS_PROFILE\"":     false,
		"gh api \"search/code?q=$X\"":               false,
		"x=web; docker logs \"$x\"":                 false,
		"docker ps; cat x":                          false,
		"docker ps; cat < x":                        false,
		"docker ps; head x":                         false,
		"docker ps 2>/dev/null":                     true,
		"docker compose config":                     false,
		"docker compose -f x ps":                    false,
		"docker inspect web":                        false,
		"kubectl get -f x":                          false,
		"kubectl get pods -o go-template-file=/x/y": false,
		"kubectl get pods -n web -o yaml":           true,
		"kubectl cluster-info":                      true,
		"kubectl cluster-info dump":                 false,
		"kubectl get pods -v=9":                     false,
		"kubectl get pods --v 9":                    false,
		"helm get values web":                       false,
		"helm status web":                           true,
		"helm status web -o json":                   false,
		"helm template ./chart":                     false,
		"systemctl cat nginx":                       false,
		"systemctl show nginx":                      false,
		"dig -f names":                              false,
		"journalctl --file x":                       false,
		"GH_BROWSER='sh x.sh' gh pr view 1 --web":   false,
		"GH_CONFIG_DIR=cfg gh pr list":              false,
		"X=1; docker ps":                            false,
		"cd sub && docker ps":                       false,
	} {
		j, d, _ := confining(t, "", "")
		if call := exec(command); j.decide(call) != nil || len(d.permits) != 1 ||
			d.permits[0].Outside != outside {
			t.Errorf("%s: %s %+v", command, call.Arguments, d.permits)
		}
	}
	j, d, _ := confining(t, "", "")
	if call := (&tools.Call{Name: "exec",
		Arguments: []byte(`{"command":"docker ps","env":{"LANG":"C"}}`)}); j.decide(call) != nil ||
		len(d.permits) != 1 || d.permits[0].Outside {
		t.Errorf("a variable of the call: %+v", d.permits)
	}
	j, d, _ = confining(t, "\nconfine: when_possible\n", "\nconfine: always\n")
	if call := exec("docker ps"); j.decide(call) != nil || len(d.permits) != 1 || d.permits[0].Outside {
		t.Errorf("always: %+v", d.permits)
	}
	j, d, _ = confining(t, "\n  container_work: []\n", "\n  container_work: [build]\n")
	for command, asked := range map[string]bool{"docker build -t x .": false, "docker build --push .": true,
		"docker run alpine true": true} {
		call := exec(command)
		if why := j.decide(call); why != nil || strings.Contains(string(call.Arguments), `"ask"`) != asked ||
			asked && len(d.permits) > 0 {
			t.Errorf("%s: %+v %s", command, why, call.Arguments)
		}
		d.permits = nil
	}
	j, d, _ = confining(t, "\n  push_remotes: []\n", "\n  push_remotes: [origin]\n")
	for command, asked := range map[string]bool{"git push origin main": false,
		"git push -u origin main": false, "git push --force origin main": true, "git push origin +main": true,
		"git push other main": true, "git push": true} {
		call := exec(command)
		if why := j.decide(call); why != nil || strings.Contains(string(call.Arguments), `"ask"`) != asked ||
			asked && len(d.permits) > 0 {
			t.Errorf("%s: %+v %s", command, why, call.Arguments)
		}
		d.permits = nil
	}
}

// Git reaches the remotes of the workspace as the user does where everything in the command is understood. It
// pushes to them if the command does. A remote that no rule lets it read is none.
func TestPermitOfRemotes(t *testing.T) {
	remote := func(text string) Remote {
		u, ok := ParseRemote(text)
		if !ok {
			t.Fatal(text)
		}
		return Remote{Text: text, URL: u}
	}
	for command, want := range map[string]string{
		"git fetch":               "ssh://git@example.com/a.git file:///srv/a.git",
		"git pull -q && git log":  "ssh://git@example.com/a.git file:///srv/a.git",
		"timeout 9 git ls-remote": "ssh://git@example.com/a.git file:///srv/a.git",
		"git remote update":       "ssh://git@example.com/a.git file:///srv/a.git",
		"git push origin main":    "ssh://git@example.com/a.git push file:///srv/a.git push",
		"git status":              "",
		"git fetch; npm test":     "",
		"git fetch; node -e 1":    "",
	} {
		j, d, _ := confining(t, "\n  push_remotes: []\n", "\n  push_remotes: [origin]\n")
		d.remotes = []Remote{remote("git@example.com:/a.git"), remote("/srv/a.git"),
			remote("/home/agent/.ssh")}
		if why := j.decide(exec(command)); why != nil || len(d.permits) != 1 {
			t.Fatalf("%s: %v", command, why)
		}
		var got []string
		for _, r := range d.permits[0].Remotes {
			got = append(got, r.URL.String())
			if r.Push {
				got = append(got, "push")
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %s", command, got)
		}
	}
}

// A call inside of another one is wrapped inside.
func TestCarriedCallsAreConfined(t *testing.T) {
	j, d, _ := confining(t, "", "")
	call := &tools.Call{Name: "tool_call", Arguments: []byte(`{"id":"exec","args":{"command":"git status"}}`)}
	if why := j.decide(call); why != nil || len(d.permits) != 1 || d.permits[0].Command != "git status" ||
		!strings.Contains(string(call.Arguments), `bash -c 'git status'`) {
		t.Errorf("%v %s %+v", why, call.Arguments, d.permits)
	}
}

func TestConfineModes(t *testing.T) {
	const shipped = "\nconfine: when_possible\n"
	j, d, _ := confining(t, shipped, "\nconfine: never\n")
	if call := exec("git status"); j.decide(call) != nil || len(d.permits) > 0 {
		t.Errorf("never: %s", call.Arguments)
	}
	j, _, _ = confining(t, shipped, "\nconfine: always\n")
	j.Confiner = nil
	if why := j.decide(exec("git status")); why == nil ||
		!strings.Contains(why.Why, "only where the kernel confines them") {
		t.Errorf("always, on a machine that cannot: %+v", why)
	}
	if why := j.decide(exec("git push")); why == nil ||
		!strings.Contains(why.Why, "no person can be asked here") {
		t.Errorf("always, and a person must allow it: %+v", why)
	}
	j, d, _ = confining(t, shipped, "\nconfine: always\n")
	if why := j.decide(exec("git status")); why != nil || len(d.permits) != 1 {
		t.Errorf("always: %+v", why)
	}
	j, d, _ = confining(t, "profile: developer", "profile: audit-only")
	if call := exec("git status"); j.decide(call) != nil || len(d.permits) > 0 {
		t.Errorf("a dry run confines: %s", call.Arguments)
	}
}

// The note that an agent runs on this machine counts for that agent. The commands of others leave as they are,
// and those of an agent with a sandbox of its own always do.
func TestConfinedAgents(t *testing.T) {
	for _, c := range []struct {
		noted  []string // nil: all agents are here
		client string
		want   bool
	}{
		{[]string{"openclaw"}, "openclaw", true}, {[]string{"openclaw"}, "generic", false},
		{[]string{"openclaw"}, "pi", false}, {[]string{"openclaw", "pi"}, "pi", true},
		{nil, "pi", true}, {nil, "generic", true}, {nil, "codex", false}, {[]string{"codex"}, "codex", false},
	} {
		j, d, _ := confining(t, "", "")
		j.set, j.Clients, j.who.Client = j.set.For(c.client), c.noted, c.client
		if why := j.decide(exec("git status")); why != nil || len(d.permits) == 1 != c.want {
			t.Errorf("%+v: confined %v, %+v", c, len(d.permits) == 1, why)
		}
	}
}

// Without a permit nothing leaves.
func TestNoPermitNoCall(t *testing.T) {
	j, d, log := confining(t, "", "")
	d.closed = true
	if why := j.decide(exec("git status")); why == nil || log.Count("confine_failed") != 1 {
		t.Errorf("%v %s", why, log)
	}
}

// A gateway whose commands run elsewhere is noticed by the first result. From then on the
// rules for commands that are not confined hold for that agent, and the model tries again.
func TestGatewayElsewhere(t *testing.T) {
	j, d, log := confining(t, "", "")
	call := exec("node -e 1")
	if j.decide(call) != nil || len(d.permits) != 1 {
		t.Fatalf("%s", call.Arguments)
	}
	j.NoteDeparture("c1", j.who, call)
	note := j.Result(j.set, "c1",
		said("sh: 1: /bin/gpt-oss-executor: not found\n\n(Command exited with code 127)"))
	if !strings.Contains(note, "send the same call again") || log.Count("gateway_elsewhere") != 1 {
		t.Errorf("%q %s", note, log)
	}
	if call := exec("node -e 1"); j.decide(call) != nil || len(d.permits) != 1 ||
		!strings.Contains(string(call.Arguments), `"ask":"always"`) {
		t.Errorf("a person is not asked: %s", call.Arguments)
	}
	if call := exec("git status"); j.decide(call) != nil || strings.Contains(string(call.Arguments),
		"confine") {
		t.Errorf("%s", call.Arguments)
	}
}

// What the kernel has held is said to the model, once, with the result.
func TestHeldCommandsAreExplained(t *testing.T) {
	j, _, _ := confining(t, "", "")
	call := exec("node -e 1")
	j.decide(call)
	j.NoteDeparture("c1", j.who, call)
	if note := j.Result(j.set, "c1",
		said("Error: EACCES: permission denied, open '/home/sam/x'\n\n(Command exited with code 1)")); !strings.Contains(note, "ran confined") {
		t.Errorf("%q", note)
	}
	j.NoteDeparture("c2", j.who, call)
	if note := j.Result(j.set, "c2", said("ok")); note != "" {
		t.Errorf("%q", note)
	}
}
