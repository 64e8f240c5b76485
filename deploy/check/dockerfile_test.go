package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// buildStage is a stage of a Dockerfile while it is built: a folder that is its root.
type buildStage struct {
	root, dir string // dir is WORKDIR
	env       []string
	base      string
	user      string
	health    []string
	entry     []string
	cmd       []string
	volumes   []string
	ports     []string
}

// image builds the Dockerfile as BuildKit reads it. Docker is not here: a RUN step runs in a root of its own,
// in which the base image is the Go of this machine.
func image(t *testing.T) *buildStage {
	t.Helper()
	file, err := os.Open("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parsed, err := parser.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range parsed.Warnings {
		t.Errorf("Dockerfile: %s", w.Short)
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]*buildStage{}
	var last *buildStage
	for _, s := range stages {
		last = &buildStage{root: t.TempDir(), dir: "/", base: s.BaseName}
		made[s.Name] = last
		for _, c := range s.Commands {
			last.step(t, c, made)
		}
	}
	return last
}

func (s *buildStage) step(t *testing.T, c instructions.Command, made map[string]*buildStage) {
	t.Helper()
	switch c := c.(type) {
	case *instructions.WorkdirCommand:
		s.dir = filepath.Join("/", c.Path)
		must(t, os.MkdirAll(s.root+s.dir, 0o755))
	case *instructions.RunCommand:
		if !c.PrependShell {
			t.Fatalf("%s: the test runs shell forms only", c)
		}
		s.run(t, strings.Join(c.CmdLine, " "))
	case *instructions.CopyCommand:
		from, ignored := "../..", ignorer(t)
		if c.From != "" {
			from, ignored = made[c.From].root, func(string) bool { return false }
		}
		for _, path := range c.SourcePaths {
			source := filepath.Join(from, path)
			if _, err := os.Lstat(source); err != nil && c.From != "" && made[c.From].base != "scratch" {
				source = path // of the base image
			}
			s.take(t, source, from, c.DestPath, c.Chown, ignored)
		}
	case *instructions.EnvCommand:
		for _, kv := range c.Env {
			s.env = append(s.env, kv.Key+"="+kv.Value)
		}
	case *instructions.UserCommand:
		s.user = c.User
	case *instructions.VolumeCommand:
		s.volumes = c.Volumes
	case *instructions.ExposeCommand:
		s.ports = c.Ports
	case *instructions.HealthCheckCommand:
		s.health = c.Health.Test
	case *instructions.EntrypointCommand:
		s.entry = c.CmdLine
	case *instructions.CmdCommand:
		s.cmd = c.CmdLine
	default:
		t.Fatalf("the test does not know the step %s", c)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ignorer is the .dockerignore file of the Dockerfile.
func ignorer(t *testing.T) func(path string) bool {
	t.Helper()
	file, err := os.Open("../Dockerfile.dockerignore")
	must(t, err)
	defer file.Close()
	patterns, err := ignorefile.ReadAll(file)
	must(t, err)
	m, err := patternmatcher.New(patterns)
	must(t, err)
	return func(path string) bool {
		no, err := m.MatchesOrParentMatches(path)
		must(t, err)
		return no
	}
}

// take copies a file, or what is in a folder, as COPY does.
func (s *buildStage) take(t *testing.T, source, context, to, chown string, ignored func(string) bool) {
	t.Helper()
	target := s.root + filepath.Join("/", to)
	if !filepath.IsAbs(to) {
		target = filepath.Join(s.root+s.dir, to)
	}
	info, err := os.Stat(source)
	must(t, err)
	if !info.IsDir() && (strings.HasSuffix(to, "/") || to == "./") {
		target = filepath.Join(target, filepath.Base(source))
	}
	must(t, filepath.WalkDir(source, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if in, err := filepath.Rel(context, path); err == nil && in != "." && ignored(in) {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		in, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		return place(path, filepath.Join(target, in), chown, in == "." && info.IsDir())
	}))
}

// place copies one file or makes one folder; one that is there stays as it is.
func place(from, to, chown string, there bool) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		err = os.MkdirAll(to, 0o755)
		if err == nil && !there {
			err = os.Chmod(to, info.Mode())
		}
	} else if info.Mode().IsRegular() {
		var text []byte
		if text, err = os.ReadFile(from); err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(to), 0o755),
				os.WriteFile(to, text, info.Mode().Perm()))
		}
	} else {
		return nil // a socket, or a link into nowhere
	}
	if uid, gid, ok := strings.Cut(chown, ":"); err == nil && ok && !there {
		u, _ := strconv.Atoi(uid)
		g, _ := strconv.Atoi(gid)
		err = os.Chown(to, u, g)
	}
	return err
}

// goHere are the folders of the Go on this machine.
func goHere(t *testing.T) (root, modules, cache string) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE", "GOCACHE").Output()
	must(t, err)
	lines := strings.Split(string(out), "\n")
	return lines[0], lines[1], lines[2]
}

// run runs a RUN step in the root of the stage. The system of this machine is the base image, and cannot be
// written.
func (s *buildStage) run(t *testing.T, line string) {
	t.Helper()
	goroot, modules, cache := goHere(t)
	var b strings.Builder
	b.WriteString("set -e\n")
	for _, dir := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"} {
		if to, err := os.Readlink(dir); err == nil {
			fmt.Fprintf(&b, "[ -e %[1]s ] || ln -s %[2]s %[1]s\n", s.root+dir, to)
		} else if _, err := os.Stat(dir); err == nil {
			fmt.Fprintf(&b, "mkdir -p %[1]s; mount --bind -o ro %[2]s %[1]s\n", s.root+dir, dir)
		}
	}
	for from, to := range map[string]string{goroot: "/usr/local/go", modules: "/go/pkg/mod",
		cache: "/root/.cache/go-build", "/dev": "/dev", "/proc": "/proc"} {
		if from == to && strings.HasPrefix(to, "/usr/") {
			continue // it is there
		}
		fmt.Fprintf(&b, "mkdir -p %[1]s; mount --rbind %[2]s %[1]s\n", s.root+to, from)
	}
	fmt.Fprintf(&b, "mkdir -p %s/tmp; exec chroot %s /bin/sh -c %s\n", s.root, s.root,
		quoted("cd "+s.dir+" && "+line))
	cmd := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c", b.String())
	cmd.Env = []string{"PATH=/usr/local/go/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/root", "GOPATH=/go",
		"GOTOOLCHAIN=local", "GOFLAGS=-mod=readonly"}
	for _, name := range []string{"GOPROXY", "GOSUMDB", "GONOSUMDB", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
		"https_proxy", "http_proxy", "SSL_CERT_FILE"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("RUN %s: %v\n%s", line, err, out)
	}
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// command is a program in the container, as its user, with more variables.
func (s *buildStage) command(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	uid, gid, _ := strings.Cut(s.user, ":")
	u, err := strconv.ParseUint(uid, 10, 32)
	must(t, err)
	g, err := strconv.ParseUint(gid, 10, 32)
	must(t, err)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Path, cmd.Err = args[0], nil
	cmd.Dir = s.dir
	cmd.Env = append(slices.Clone(s.env), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: s.root, Credential: &syscall.Credential{Uid: uint32(u),
		Gid: uint32(g)}}
	return cmd
}

// The steps of the Dockerfile make an image in which the program serves: as nobody, with a state and a
// workspace that it can write, with a health check that tells the truth, and with nothing else in it.
func TestDockerfile(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the steps of the Dockerfile run in a root of their own, which takes root; you are not")
	}
	if out, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("this machine gives no mount namespace: %v %s", err, out)
	}
	s := image(t)

	var all []string
	must(t, filepath.WalkDir(s.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if name := strings.TrimPrefix(path, s.root); name != "" &&
			(!e.IsDir() || info.Sys().(*syscall.Stat_t).Uid != 0) {
			all = append(all, fmt.Sprintf("%s %v %d", name, info.Mode(), info.Sys().(*syscall.Stat_t).Uid))
		}
		return nil
	}))
	want := []string{
		"/etc/ssl/certs/ca-certificates.crt -rw-r--r-- 0", "/gpt-oss-executor -rwxr-xr-x 0",
		"/state drwx------ 65534", "/tmp dtrwxrwxrwx 65534", "/workspace drwxr-xr-x 65534",
	}
	if !slices.Equal(all, want) {
		t.Errorf("the image holds\n%s\nand not\n%s", strings.Join(all, "\n"), strings.Join(want, "\n"))
	}
	if s.user != "65534:65534" || !slices.Equal(s.volumes, []string{"/state"}) ||
		!slices.Equal(s.ports, []string{"8001"}) || s.dir != "/workspace" {
		t.Errorf("user %s, volumes %v, ports %v, folder %s", s.user, s.volumes, s.ports, s.dir)
	}
	if len(s.health) < 2 || s.health[0] != "CMD" {
		t.Fatalf("health check %v: there is no shell in the image", s.health)
	}

	// As docker run -e …: another port, because 8001 may be taken here.
	must(t, os.Chmod(s.root, 0o755))
	at := testkit.Address(t)
	_, port, _ := strings.Cut(at, ":")
	env := []string{"GPTOSS_EXECUTOR_LISTEN=:" + port, "GPTOSS_EXECUTOR_UPSTREAM=" + model(t),
		"GPTOSS_EXECUTOR_WORKSPACE=/workspace", "GPTOSS_EXECUTOR_WORKSPACE_TOOLS=on"}
	healthy := func() bool { return s.command(t, env, s.health[1:]...).Run() == nil }
	if healthy() {
		t.Error("it is healthy before it was started")
	}
	must(t, os.WriteFile(s.root+"/workspace/notes.md", []byte("what the run reads"), 0o644))
	p := start(t, s.command(t, env, append(slices.Clone(s.entry), s.cmd...)...))
	eventually(t, "it is healthy", healthy)
	status := string(read(t, fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid)))
	if !strings.Contains(status, "Uid:\t65534\t65534\t65534\t65534\n") ||
		!strings.Contains(status, "CapEff:\t0000000000000000\n") {
		t.Errorf("it is not nobody:\n%s", status)
	}
	if code, text := chat(t, at, "", "trailing-comma"); code != 200 || !strings.Contains(text, "notes.md") {
		t.Errorf("a request: %d %s", code, text)
	}
	if code, text := post(t, at, "",
		`{"model": "executor", "messages": [{"role": "user", "content": "trailing-comma"}]}`); code != 200 ||
		!strings.Contains(text, "Done.") {
		t.Errorf("a run in the workspace: %d %s", code, text)
	}
	if page := get(t, "http://"+at+"/metrics"); !strings.Contains(page, `outcome="ok",tool="read"} 1`) {
		t.Error("no run has read the file of the workspace")
	}
	eventually(t, "it remembers its rules and decisions", func() bool {
		inside, err := os.ReadDir(s.root + "/state")
		return err == nil && len(inside) >= 2
	})
	if code := p.stop(); code != 0 {
		t.Errorf("SIGTERM ends it with %d", code)
	}
	if healthy() {
		t.Error("it is healthy after its end")
	}
	if strings.Contains(p.out.String(), "level=ERROR") {
		t.Errorf("errors:\n%s", p.out)
	}
}
