package confine

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
)

// program runs a program as a confined command finds it: with the variables of the proxy,
// in a folder of its own. It is skipped where there is no such program.
type program struct {
	rig *rig
	dir string
	env []string
}

func newProgram(t *testing.T, r *rig) *program {
	dir := t.TempDir()
	authority := filepath.Join(dir, "ca.pem")
	ruletest.Must(t, os.WriteFile(authority,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.net.Secure.Certificate().Raw}), 0o600))
	env := walls.WithProxy([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8"},
		"http://t1:s3cret@"+r.Addr())
	for _, name := range []string{"CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT", "npm_config_cafile",
		"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"} {
		env = append(env, name+"="+authority)
	}
	return &program{r, dir, env}
}

func (p *program) run(t *testing.T, line ...string) string {
	t.Helper()
	if _, err := exec.LookPath(line[0]); err != nil {
		t.Skip(line[0], " is not here")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	c.Dir, c.Env = p.dir, p.env
	out, _ := c.CombinedOutput() // what it prints is what the model reads
	return string(out)
}

// serves answers by path; a value that begins with > is a redirect.
func serves(files map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, found := files[r.URL.Path]
		switch to, redirects := strings.CutPrefix(body, ">"); {
		case !found:
			http.NotFound(w, r)
		case redirects:
			http.Redirect(w, r, to, http.StatusFound)
		default:
			w.Header().Set("Content-Type", map[string]string{".json": "application/json",
				".html": "text/html"}[filepath.Ext(r.URL.Path)])
			if strings.HasPrefix(r.URL.Path, "/simple/") {
				w.Header().Set("Content-Type", "text/html")
			}
			_, _ = w.Write([]byte(body))
		}
	}
}

func must(t *testing.T, what, out string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(out, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, out)
		}
	}
}

func TestCurl(t *testing.T) {
	p := newProgram(t, newRig(t, proxyLimits{},
		serves(map[string]string{"/a": "hello", "/in": ">http://169.254.169.254/latest/",
			"/on": ">https://example.com/a", "/deep": ">http://inside.dev/"})))
	must(t, "http", p.run(t, "curl", "-sS", "http://example.com/a"), "hello")
	must(t, "https", p.run(t, "curl", "-sS", "https://example.com/a"), "hello")
	must(t, "a redirect", p.run(t, "curl", "-sSL", "http://example.com/on"), "hello")
	must(t, "a redirect inside", p.run(t, "curl", "-sSL", "http://example.com/in"),
		"169.254.169.254:80 is refused: This is a metadata service.")
	must(t, "a redirect from https inside", p.run(t, "curl", "-sSL", "https://example.com/deep"),
		"inside.dev:80 (10.0.0.5) is refused")
	must(t, "a tunnel inside", p.run(t, "curl", "-sSv", "https://inside.dev/"),
		"HTTP/1.1 403 inside.dev:443 (10.0.0.5) is refused: This is an address inside a private network.")
	must(t, "an upload", p.run(t, "curl", "-sS", "-T", "ca.pem", "http://example.com/a"),
		"this command may send nothing in plain HTTP")
	must(t, "what was refused", p.run(t, "curl", "-sS", "--noproxy", "*", "-H",
		strings.TrimSpace(credentials), "http://"+p.rig.Addr()), "169.254.169.254:80 is refused",
		"inside.dev:443")
	must(t, "a wrong secret", p.run(t, "curl", "-sS", "-x", "http://t1:guess@"+p.rig.Addr(),
		"http://example.com/a"), "with the credentials that it gives them")
}

func TestGit(t *testing.T) {
	root := t.TempDir()
	backend := &cgi.Handler{Path: "/usr/bin/git", Args: []string{"http-backend"},
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "HOME=" + root}}
	r := newRig(t, proxyLimits{}, func(w http.ResponseWriter, in *http.Request) {
		if strings.HasPrefix(in.URL.Path, "/moved.git") {
			http.Redirect(w, in, "https://inside.dev/x.git"+strings.TrimPrefix(in.URL.Path, "/moved.git")+
				"?"+in.URL.RawQuery, http.StatusFound)
			return
		}
		backend.ServeHTTP(w, in)
	})
	p := newProgram(t, r)
	if path, err := exec.LookPath("git"); err == nil {
		backend.Path = path
	}
	p.run(t, "git", "init", "-q", "-b", "main", "work")
	big := bytes.Repeat([]byte("some text that grows\n"), 50_000)
	for i := range 5 {
		ruletest.Must(t, os.WriteFile(filepath.Join(p.dir, "work", fmt.Sprint(i, ".txt")),
			append(big, byte('0'+i)), 0o600))
	}
	p.run(t, "git", "-C", "work", "add", ".")
	p.run(t, "git", "-C", "work", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm",
		"first")
	p.run(t, "git", "clone", "-q", "--bare", "work", filepath.Join(root, "x.git"))
	p.run(t, "git", "clone", "https://example.com/x.git", "copy")
	if got, err := os.ReadFile(filepath.Join(p.dir, "copy", "4.txt")); err != nil || len(got) != len(big)+1 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	must(t, "fetch", p.run(t, "git", "-C", "copy", "fetch", "-v"), "up to date")
	must(t, "a redirect inside", p.run(t, "git", "clone", "https://example.com/moved.git", "m"), "403")
	must(t, "the log", fmt.Sprint(r.logged()), "CONNECT example.com:443 connected",
		"CONNECT inside.dev:443 refused url-private")
}

func TestPip(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	p := newProgram(t, newRig(t, proxyLimits{},
		serves(map[string]string{"/simple/tiny/": `<a href="/files/tiny-1.0-py3-none-any.whl">tiny-1.0-py3-none-any.whl</a>`, "/files/tiny-1.0-py3-none-any.whl": string(servers.Wheel(t))})))
	if _, err := exec.LookPath("python3"); err != nil ||
		strings.Contains(p.run(t, "python3", "-m", "pip", "--version"), "No module") {
		t.Skip("pip is not here")
	}
	pip := func(index string) string {
		return p.run(t, "python3", "-m", "pip", "download", "--disable-pip-version-check", "--retries", "1",
			"--no-deps", "--index-url", index, "tiny")
	}
	must(t, "pip", pip("https://example.com/simple"), "Successfully downloaded tiny")
	must(t, "pip, inside", pip("https://inside.dev/simple"),
		"403 inside.dev:443 (10.0.0.5) is refused: This is an address inside a private network.")
}

func TestNpm(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	tarball := servers.Tarball(t)
	sum := sha1.Sum(tarball)
	doc := func(host string) string {
		return fmt.Sprintf(`{"name":"tiny","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"tiny","version":"1.0.0","dist":{"tarball":"https://%s/tiny.tgz","shasum":%q}}}}`, host, hex.EncodeToString(sum[:]))
	}
	p := newProgram(t, newRig(t, proxyLimits{},
		serves(map[string]string{"/tiny": doc("example.com"), "/bad/tiny": doc("inside.dev"),
			"/tiny.tgz": string(tarball)})))
	npm := func(registry string) string {
		return p.run(t, "npm", "install", "--no-audit", "--no-fund", "--no-update-notifier",
			"--fetch-retries=0", "--prefer-online", "--registry", registry, "tiny")
	}
	must(t, "npm", npm("https://example.com/"), "added 1 package")
	p.env = append(p.env, "npm_config_cache="+t.TempDir())
	ruletest.Must(t, os.RemoveAll(filepath.Join(p.dir, "node_modules")))
	ruletest.Must(t, os.RemoveAll(filepath.Join(p.dir, "package-lock.json")))
	must(t, "npm, inside", npm("https://example.com/bad/"), "403")
}

func TestGo(t *testing.T) {
	const info, mod = `{"Version":"v1.0.0"}`, "module example.com/m\n"
	code := string(servers.Zip(t, "example.com/m@v1.0.0/go.mod", mod, "example.com/m@v1.0.0/m.go",
		"package m\n"))
	p := newProgram(t, newRig(t, proxyLimits{}, serves(map[string]string{
		"/example.com/m/@v/v1.0.0.info": info, "/example.com/m/@v/v1.0.0.mod": mod,
		"/example.com/m/@v/v1.0.0.zip": code,
	})))
	// else go starts a program that outlives it
	mode := filepath.Join(p.dir, ".config", "go", "telemetry", "mode")
	ruletest.Must(t, os.MkdirAll(filepath.Dir(mode), 0o755))
	ruletest.Must(t, os.WriteFile(mode, []byte("off"), 0o600))
	p.env = append(p.env, "GOFLAGS=-modcacherw", "GOPATH="+p.dir, "GOCACHE="+t.TempDir(), "GONOSUMDB=*",
		"GOTOOLCHAIN=local", "GOPROXY=https://example.com")
	must(t, "go", p.run(t, "go", "mod", "download", "-json", "example.com/m@v1.0.0"), `"Version": "v1.0.0"`,
		`"Zip"`)
	p.env = append(p.env, "GOPROXY=https://inside.dev")
	must(t, "go, inside", p.run(t, "go", "mod", "download", "example.com/m@v1.0.1"),
		"inside.dev:443 (10.0.0.5) is refused: This is an address inside a private network.")
}

// Node reads the variables from version 24 on.
func TestNode(t *testing.T) {
	p := newProgram(t, newRig(t, proxyLimits{}, serves(map[string]string{"/a": "hello"})))
	if p.run(t, "node", "-p", "parseInt(process.versions.node) >= 24") != "true\n" {
		t.Skip("this node does not know the variables")
	}
	must(t, "node", p.run(t, "node", "-e",
		"fetch('https://example.com/a').then(r => r.text()).then(console.log)"), "hello")
	must(t, "node, inside", p.run(t, "node", "-e",
		"fetch('http://inside.dev/').then(r => r.text()).then(console.log)"),
		"inside.dev:80 (10.0.0.5) is refused")
}
