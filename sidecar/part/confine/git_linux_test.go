package confine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// behindWall is set where this binary runs again, as another user and behind a sandbox of the system.
const behindWall = "TICKETS_TEST_WALLED"

// TestGitBehindWalls runs what is below as another user, behind a wall of the system around the walls of
// ours.
func TestGitBehindWalls(t *testing.T) {
	if os.Getenv(behindWall) != "" {
		t.Run("attacks", gitAttacks)
		t.Run("work", gitWork)
		t.Run("outside", outside)
		return
	}
	if testing.Short() {
		t.Skip("30 s")
	}
	const nobody = 65534
	for _, name := range []string{"bwrap", "git"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("attacks run behind bubblewrap only, and ", err)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("attacks run as another user, which only root can become")
	}
	base, err := os.MkdirTemp("/tmp", "walled")
	ruletest.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	for _, dir := range []string{"rules", "prompts", "schemas"} {
		ruletest.Must(t, os.CopyFS(filepath.Join(base, "builtin", dir),
			os.DirFS(filepath.Join("../../..", dir))))
	}
	run := func(name string, args ...string) {
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
	}
	run("go", "build", "-o", base+"/gpt-oss-executor", "../../..")
	self, err := os.Executable()
	ruletest.Must(t, err)
	run("cp", self, base+"/test")
	run("chown", "-R", "65534:65534", base)
	wall := []string{"--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc",
		"/proc", "--tmpfs", "/tmp", "--tmpfs", "/home", "--bind", base, "/home/agent", "--chdir",
		"/home/agent", "--clearenv",
		"--setenv", "PATH", "/home/agent/bin:/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME", "/home/agent",
		"--setenv", behindWall, "1"}
	as := func(args ...string) *exec.Cmd {
		c := exec.Command("bwrap", append(wall, args...)...)
		c.Dir, c.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody,
			Gid: nobody}}
		return c
	}
	if out, err := as("true").CombinedOutput(); err != nil {
		t.Skipf("bubblewrap does not run here: %s", bytes.TrimSpace(out))
	}
	if out, err := as("/home/agent/gpt-oss-executor", "confine", "--probe").CombinedOutput(); err != nil {
		t.Skipf("behind bubblewrap this machine cannot confine: %s", out)
	}
	only := "^TestGitBehindWalls$"
	if _, part, found := strings.Cut(flag.Lookup("test.run").Value.String(), "/"); found {
		only += "/" + part
	}
	args := []string{"/home/agent/test", "-test.run=" + only}
	if testing.Verbose() {
		args = append(args, "-test.v")
	}
	out, err := as(args...).CombinedOutput()
	if err != nil || testing.Verbose() {
		t.Logf("%s", out)
	}
	if err != nil || !bytes.Contains(out, []byte("PASS")) {
		t.Error(err)
	}
}

// Folders of the agent. Markers stand where no confined command can write.
const (
	agent   = "/home/agent"
	work    = agent + "/work"
	origin  = agent + "/origin.git"
	markers = agent + "/markers"
	secret  = agent + "/private/secret"
)

// gateway is where an agent works: a gateway that runs what leaves, with all that judges and confines it.
type gateway struct {
	judge func(*tools.Call) *tools.Refusal
}

// agentRules are the shipped ones, with a remote to which may be pushed.
func agentRules(t *testing.T) *ruleset.Set {
	t.Helper()
	ruletest.Must(t, os.RemoveAll(agent+"/rules"))
	ruletest.Must(t, os.CopyFS(agent+"/rules", os.DirFS(agent+"/builtin/rules")))
	ruletest.Edit(t, agent+"/rules", "exec.yaml", "\n  push_remotes: []\n", "\n  push_remotes: [origin]\n")
	builtin, err := rulefile.Builtin(os.DirFS(agent + "/builtin"))
	ruletest.Must(t, err)
	loader := ruletest.Loader(confine.Section(), confine.NetworkSection())
	files, err := loader.Source(agent+"/rules", "", builtin).Read()
	ruletest.Must(t, err)
	set, problems := loader.Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	return set
}

func newGateway(t *testing.T, set *ruleset.Set, https http.RoundTripper) *gateway {
	t.Helper()
	ruletest.Must(t, os.RemoveAll(agent+"/state"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ruletest.Must(t, err)
	folder, err := confine.OpenFolder(agent + "/state/tickets")
	ruletest.Must(t, err)
	made, err := confine.OpenRepoLog(agent + "/state/repositories")
	ruletest.Must(t, err)
	ruletest.Must(t, os.Mkdir(agent+"/state/empty", 0o500))
	book := confine.NewPassStore(l.Addr().String(), confine.PassLifetime, time.Now)
	issuer := &confine.Issuer{Folder: folder, Program: agent + "/gpt-oss-executor",
		Records: agent + "/state/running", Empty: agent + "/state/empty", Repos: made, Network: book,
		Now: time.Now}
	metrics, log := telemetry.New(), slog.New(slog.DiscardHandler)
	world := guard.NewWorld(guard.Machine{Workspace: work, Own: []string{agent + "/state",
		agent + "/rules"}}).WithServer(l.Addr().String())
	g := guard.New(guard.Config{World: world, Confiner: issuer, Now: time.Now, Metrics: metrics, Log: log})
	proxy := confine.NewProxy(confine.ProxyConfig{Rules: rules{set}, Judge: g, Passes: book,
		Resolver: net.DefaultResolver, HTTPS: https, Metrics: metrics, Log: log}, l)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- proxy.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		ruletest.Must(t, <-ended)
	})
	catalog := tools.NewCatalog(set.Tools, tools.NewSchemas(4), []tools.Tool{{Name: "exec",
		Parameters: []byte(`{"type":"object","properties":{"command":{"type":"string"},"ask":{"type":"string"}}}`)}})
	who := policy.Subject{Agent: "main", Session: "s", Interactive: true}
	return &gateway{g.Judge(set, who, catalog, "r", nil, ruleset.Named{}, guard.Observer{})}
}

type rules struct{ set *ruleset.Set }

func (r rules) Set() *ruleset.Set { return r.set }

// run runs a command as it leaves. Asked says that a person must allow it first.
func (g *gateway) run(t *testing.T, command string) (out string, asked bool) {
	t.Helper()
	text, err := json.Marshal(map[string]string{"command": command})
	ruletest.Must(t, err)
	call := &tools.Call{Name: "exec", Arguments: text}
	if refusal := g.judge(call); refusal != nil {
		return refusal.Why, true
	}
	var args struct{ Command, Ask string }
	ruletest.Must(t, json.Unmarshal(call.Arguments, &args))
	if args.Ask != "" {
		return args.Command, true
	}
	if !strings.Contains(args.Command, " confine --ticket ") {
		t.Errorf("%s leaves as it is", command)
	}
	return bare(t, args.Command), false
}

// bare runs a line of shell in the workspace as the gateway does.
func bare(t *testing.T, line string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "-c", line)
	c.Dir, c.Env = work, append(os.Environ(), "M="+markers)
	out, _ := c.CombinedOutput() // many attacks fail
	return string(out)
}

// workspace makes a workspace with a remote that has one commit more, anew.
func workspace(t *testing.T, remote string) {
	t.Helper()
	for _, dir := range []string{work, origin, markers, agent + "/other", agent + "/private"} {
		ruletest.Must(t, os.RemoveAll(dir))
		ruletest.Must(t, os.MkdirAll(dir, 0o755))
	}
	ruletest.Must(t, os.WriteFile(secret, []byte("SECRET"), 0o600))
	ruletest.Must(t, os.WriteFile(agent+"/.gitconfig",
		[]byte("[user]\nname = a\nemail = a@example.com\n[init]\ndefaultBranch = main\n[credential]\nhelper = \"!f(){ echo username=u; echo password=p; }; f\"\n"), 0o644))
	bare(t, `cd $HOME && git init -q --bare origin.git && git clone -q origin.git other 2>/dev/null && cd other && echo 1 > a && echo 1 > b && git add . && git commit -qm 1 && git push -q origin HEAD:main
		cd $HOME && rmdir work && git clone -q `+remote+` work && cd work && git remote set-url origin `+remote+`
		cd $HOME/other && echo 2 > b && ln -s `+secret+` link && git add . && git commit -qm 2 && git push -q origin HEAD:main`)
}

// leaks are the traces outside: markers, and the text of a file that no command was given.
func leaks(t *testing.T, out string) (traces []string) {
	t.Helper()
	entries, err := os.ReadDir(markers)
	ruletest.Must(t, err)
	for _, e := range entries {
		traces = append(traces, e.Name())
	}
	if strings.Contains(out, "SECRET") {
		traces = append(traces, "the secret is printed")
	}
	return traces
}

// gitAttacks prepares repositories as a confined command could, and then runs a plain command. Bare it leaves
// a trace outside; as it leaves the guard, none.
func gitAttacks(t *testing.T) {
	if _, err := os.Stat(markers); err == nil {
		t.Fatal("it was run before")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", "Basic")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	set := agentRules(t)
	const program = `printf '#!/bin/sh\ntouch %s/x\nexit 1\n' $M > x.sh; chmod +x x.sh; `
	const nested = `git init -q n; git -C n commit -q --allow-empty -m x; git -c advice.addEmbeddedRepo=false add n; git commit -qm n; `
	const ahead = `echo 3 > a; git commit -qam 3; `
	hook := func(name string) string {
		return `mkdir -p .git/hooks; printf '#!/bin/sh\ntouch %s/hook\n' $M > .git/hooks/` + name +
			`; chmod +x .git/hooks/` + name
	}
	for _, c := range []struct{ name, prepare, command string }{
		{"monitor of a nested repository", program + nested + `git -C n config core.fsmonitor $PWD/x.sh`, "git fetch && git status"},
		{"remote of a nested repository", nested + `printf '[submodule "n"]\npath = n\nurl = ./n\nfetchRecurseSubmodules = true\n' > .gitmodules; git config submodule.n.url ./n; git config submodule.n.active true
			git -C n config remote.origin.url "ext::touch $M/x"; git -C n config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'; git -C n config protocol.ext.allow always`, "git fetch"},
		{"update of a module", nested + `printf '[submodule "n"]\npath = n\nurl = ./n\n' > .gitmodules; git config submodule.n.url ./n; git config submodule.n.active true; git config submodule.n.update "!touch $M/x;"; git -C n checkout -q --orphan y; git -C n commit -q --allow-empty -m y`, "git submodule update"},
		{"hook of references", hook("reference-transaction"), "git fetch"},
		{"hook of a merge", hook("post-merge"), "git pull"},
		{"hook of a checkout", ahead + hook("post-checkout"), "git pull --rebase"},
		{"hook of a push", ahead + hook("pre-push"), "git push origin HEAD:side"},
		{"hook of maintenance", hook("pre-auto-gc") + `; git config gc.auto 1; git config gc.autoDetach false; mkdir -p .git/objects/17; for i in 1 2 3; do echo > .git/objects/17/$(printf %038d $i); done`, "git fetch"},
		{"folder of hooks", `mkdir h; printf '#!/bin/sh\ntouch %s/hook\n' $M > h/reference-transaction; chmod +x h/*; git config core.hooksPath h`, "git fetch"},
		{"monitor", program + `git config core.fsmonitor $PWD/x.sh`, "git pull"},
		{"ssh", program + `git config core.sshCommand $PWD/x.sh; git remote set-url origin git@git.example.com:a`, "git fetch"},
		{"credential helper", program + `git config credential.helper $PWD/x.sh; git remote set-url origin ` + server.URL + `/a`, "git fetch"},
		{"password prompt", program + `git config credential.helper ''; git config core.askPass $PWD/x.sh; git remote set-url origin ` + server.URL + `/a`, "git fetch"},
		{"another address", `git config "url.ext::touch $M/x .insteadOf" ` + origin + `; git config protocol.ext.allow always`, "git fetch"},
		{"transport", `git remote set-url origin "ext::touch $M/x"; git config protocol.ext.allow always`, "git remote update"},
		{"vcs of a remote", `git config remote.origin.vcs ext; git remote set-url origin "touch $M/x"; git config protocol.ext.allow always`, "git fetch"},
		{"program of fetches", `git config remote.origin.uploadpack "touch $M/x; git-upload-pack"`, "git fetch"},
		{"program of pushes", ahead + `git config remote.origin.receivepack "touch $M/x; git-receive-pack"`, "git push origin HEAD:side"},
		{"proxy", program + `git config core.gitProxy $PWD/x.sh; git remote set-url origin git://git.example.com/a`, "git fetch"},
		{"include", program + `printf "[core]\nfsmonitor = $PWD/x.sh\n" > c; git config include.path ../c`, "git pull"},
		{"conditional include", program + `printf "[core]\nfsmonitor = $PWD/x.sh\n" > c; git config "includeIf.gitdir:**.path" ../c`, "git pull"},
		{"settings of a worktree", program + `git config extensions.worktreeConfig true; git config --worktree core.fsmonitor $PWD/x.sh`, "git pull"},
		{"signing", program + ahead + `git config commit.gpgSign true; git config gpg.program $PWD/x.sh`, "git pull --no-rebase"},
		{"filter", `git config filter.x.smudge "touch $M/x; cat"; echo 'b filter=x' > .git/info/attributes`, "git pull"},
		{"filter by attributes", `git config filter.x.smudge "touch $M/x; cat"; echo 'b filter=x' > .gitattributes`, "git pull"},
		{"merge driver", `echo 3 > b; git commit -qam 3; git config merge.x.driver "touch $M/x"; echo 'b merge=x' > .git/info/attributes`, "git pull --no-rebase"},
		{"diff", program + `echo 3 >> a; git config diff.external $PWD/x.sh`, "git fetch && git diff"},
		{"text of a diff", program + `echo 3 >> a; git config diff.x.textconv $PWD/x.sh; echo 'a diff=x' > .gitattributes`, "git fetch && git diff"},
		{"another store", program + `cp -r .git e; git --git-dir=e config core.fsmonitor $PWD/x.sh; echo $PWD/e > .git/commondir`, "git pull"},
		{"a file that leads to a store", program + `git config core.fsmonitor $PWD/x.sh; mv .git e; echo gitdir: e > .git`, "git pull"},
		{"alternates", `git init -q --bare alt; echo $PWD/alt/objects > .git/objects/info/alternates; git config core.alternateRefsCommand "touch $M/x;"`, "git fetch"},
		{"promisor", `git config extensions.partialClone p; git config remote.p.promisor true; git config remote.p.url "ext::touch $M/x"; git config protocol.ext.allow always; find .git/objects -type f -delete`, "git fetch; git log -p"},
		{"hook of a remote in the workspace", ahead + `git init -q --bare r.git; printf '#!/bin/sh\ntouch %s/hook\n' $M > r.git/hooks/post-receive; chmod +x r.git/hooks/post-receive; git remote set-url origin $PWD/r.git`, "git push origin HEAD:side"},
		{"link that comes in", "true", "git pull -q && cat link"},
		{"link that comes in, and a program of the outside", "true", "git pull -q && cat link && docker ps"},
	} {
		workspace(t, origin)
		bare(t, c.prepare) // as strongly as it could be, though our walls keep some of it
		if traces := leaks(t, bare(t, c.command)); traces == nil {
			t.Errorf("%s: bare, %s leaves no trace: nothing is tested", c.name, c.command)
		}
		for _, how := range []string{"prepared", "by a confined command"} {
			g := newGateway(t, set, nil)
			workspace(t, origin)
			if how == "prepared" {
				bare(t, c.prepare)
			} else {
				ruletest.Must(t, os.WriteFile(work+"/prepare.sh", []byte(c.prepare), 0o755))
				if out, asked := g.run(t, "M="+markers+" bash prepare.sh"); asked {
					t.Errorf("%s: a person is asked about the preparation: %s", c.name, out)
				}
			}
			out, asked := g.run(t, c.command)
			if traces := leaks(t, out); traces != nil {
				t.Errorf("%s, %s: %s leaves %q (asked: %v)\n%s", c.name, how, c.command, traces, asked, out)
			}
		}
	}
}

// gitWork is what must go on: fetch, pull and push over a folder, ssh and HTTPS with credentials.
func gitWork(t *testing.T) {
	ruletest.Must(t, os.MkdirAll(agent+"/bin", 0o755))
	ruletest.Must(t, os.WriteFile(agent+"/bin/ssh",
		[]byte("#!/bin/sh\necho \"$@\" >> $HOME/ssh.log\nfor last; do :; done\ncd $HOME && exec sh -c \"$last\"\n"), 0o755))
	backend := &cgi.Handler{Path: "/usr/bin/git", Args: []string{"http-backend"},
		Env: []string{"GIT_PROJECT_ROOT=" + agent, "GIT_HTTP_EXPORT_ALL=1", "HOME=" + agent,
			"REMOTE_USER=u"},
		Stderr: io.Discard}
	private := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, password, _ := r.BasicAuth(); name != "u" || password != "p" {
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	defer private.Close()
	set := agentRules(t)
	https := private.Client().Transport.(*http.Transport)
	https.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, private.Listener.Addr().String())
	}
	for _, remote := range []string{origin, "file://" + origin, "git@git.example.com:origin.git",
		"ssh://git@git.example.com:2222" + origin, "https://example.com/origin.git"} {
		g := newGateway(t, set, https)
		workspace(t, origin)
		bare(t, "git remote set-url origin "+remote)
		bare(t, "git --git-dir="+origin+" config http.receivepack true")
		for _, c := range []struct{ command, want string }{
			{"git fetch && git log --oneline origin/main", "2\n"},
			{"git pull -q && cat b", "2\n"},
			{"git ls-remote origin", "refs/heads/main"},
			{"echo 3 > a && git commit -qam 3 && git push origin HEAD:side", "[new branch]"},
			{"git remote update", ""},
		} {
			if out, asked := g.run(t, c.command); asked || !strings.Contains(out, c.want) {
				t.Errorf("%s: %s: asked %v\n%s", remote, c.command, asked, out)
			}
		}
		if out := bare(t, "git --git-dir="+origin+" log --format=%s side"); !strings.HasPrefix(out, "3\n") {
			t.Errorf("%s: nothing was pushed: %s", remote, out)
		}
	}
	if doc, err := os.ReadFile(agent + "/ssh.log"); err != nil ||
		!strings.Contains(string(doc), "-p 2222 git@git.example.com git-upload-pack '"+origin+"'") {
		t.Errorf("%s %v", doc, err)
	}
}

// outside runs a program that needs what is outside: that of the user, in an empty folder, with the names of
// what it would find in the workspace.
func outside(t *testing.T) {
	g := newGateway(t, agentRules(t), nil)
	workspace(t, origin)
	bare(t, "git remote set-url origin git@git.example.com:a/shop.git; mkdir bin; printf '#!/bin/sh\ntouch "+
		markers+"/x' > bin/docker; chmod +x bin/docker; echo SECRET > docker-compose.yml")
	ruletest.Must(t, os.MkdirAll(agent+"/bin", 0o755))
	ruletest.Must(t, os.WriteFile(agent+"/bin/docker",
		[]byte("#!/bin/sh\npwd; ls -A; echo $GH_REPO $COMPOSE_PROJECT_NAME $DOCKER_HOST; cat docker-compose.yml\n"), 0o755))
	t.Setenv("PATH", work+"/bin:"+os.Getenv("PATH"))
	t.Setenv("DOCKER_HOST", "unix:///run/x")
	out, asked := g.run(t, "docker compose ps 2>/dev/null | head -5")
	if traces := leaks(t, out); asked || traces != nil ||
		out != agent+"/state/empty\ngit.example.com/a/shop work unix:///run/x\n" {
		t.Errorf("%v %q %s", asked, traces, out)
	}
	ruletest.Must(t, os.Chmod(agent+"/state/empty", 0o700))
	ruletest.Must(t, os.WriteFile(agent+"/state/empty/x", nil, 0o600))
	if out, _ := g.run(t, "docker ps"); !strings.Contains(out, "is not empty; remove what lies in it") {
		t.Errorf("%s", out)
	}
}
