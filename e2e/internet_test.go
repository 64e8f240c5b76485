package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"flag"
	"math/big"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// ownNetwork is the variable of a test that runs in a network of its own: the sidecar to test.
const ownNetwork = "TEST_OWN_NETWORK"

// moves runs the test again in a network of its own, and reports whether it could. There every
// address of the world is this machine, so a small internet can be the whole one. More is what else
// shall be its own, as options of unshare.
func moves(t *testing.T, more ...string) bool {
	if os.Getenv(ownNetwork) != "" {
		return false
	}
	own := append([]string{"--net"}, more...)
	if out, err := exec.Command("unshare", append(own, "ip", "link", "set", "lo",
		"up")...).CombinedOutput(); err != nil {
		t.Logf("SKIPPED: %s, because there can be no network of its own (unshare, ip): %s%v", t.Name(), out,
			err)
		return false
	}
	t.Parallel() // the process is another one, too
	tests := "^" + t.Name() + "$"
	if _, some, ok := strings.Cut(flag.Lookup("test.run").Value.String(), "/"); ok {
		tests += "/" + some
	}
	again := exec.Command("unshare", append(own, os.Args[0], "-test.run="+tests, "-test.v",
		"-update="+strconv.FormatBool(*update))...)
	again.Env = append(os.Environ(), ownNetwork+"="+binary)
	again.Stdout, again.Stderr = t.Output(), t.Output()
	if err := again.Run(); err != nil {
		t.Errorf("in a network of its own: %v", err)
	}
	return true
}

// clients are the scenarios of programs that fetch, and files which they need in the workspace.
func clients(t *testing.T) (scenarios []script.Scenario, files map[string]string) {
	for id, line := range map[string]string{
		"pip": `python3 -m venv .venv && .venv/bin/pip install -q --cert ca.pem --disable-pip-version-check -r requirements.txt && .venv/bin/python -c 'import tiny; print("tiny", tiny.x)'`,
		"git": "git clone -q https://github.com/acme/tiny.git && cat tiny/README",
		"npm": "npm ci --no-audit --no-fund && node -p '\"tiny \" + require(\"tiny\").x'",
	} {
		call := script.Native("exec", `{"command":`+quoted(line)+`,"yieldMs":90000}`)
		scenarios = append(scenarios, script.Scenario{Name: id, User: user(id),
			Steps: []script.Reply{call, script.Text("Done.")}, Loop: true})
	}
	sum := sha512.Sum512(servers.Tarball(t))
	return scenarios, map[string]string{
		"requirements.txt": "tiny==1.0\n",
		".npmrc":           "cafile=ca.pem\n",
		"package.json":     `{"name":"shop","version":"1.0.0","dependencies":{"tiny":"1.0.0"}}`,
		"package-lock.json": `{"name":"shop","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{"":{"name":"shop","version":"1.0.0","dependencies":{"tiny":"1.0.0"}},` +
			`"node_modules/tiny":{"version":"1.0.0","resolved":"https://registry.npmjs.org/tiny/-/tiny-1.0.0.tgz","integrity":"sha512-` + base64.StdEncoding.EncodeToString(sum[:]) + `"}}}`,
	}
}

// serveInternet serves names and registries at all addresses, and gives the certificate by
// which clients trust them.
func serveInternet(t *testing.T) (authority []byte) {
	t.Helper()
	if out, err := exec.Command("sh", "-c",
		"ip link set lo up && ip route add local 0.0.0.0/0 dev lo").CombinedOutput(); err != nil {
		t.Fatalf("make all addresses local: %s%v", out, err)
	}
	hosts := []string{"pypi.org", "files.pythonhosted.org", "github.com", "registry.npmjs.org"}
	answers := map[string][][]string{}
	for _, h := range hosts {
		answers[h] = [][]string{{"151.101.0.223"}}
	}
	resolv, err := os.ReadFile("/etc/resolv.conf")
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range regexp.MustCompile(`(?m)^nameserver (\d\S+)`).FindAllSubmatch(resolv, -1) {
		servers.ServeNamesAt(t, net.JoinHostPort(string(server[1]), "53"), answers)
	}
	certificate := certified(t, hosts)
	l, err := tls.Listen("tcp", "0.0.0.0:443", &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		t.Fatal(err)
	}
	world := &httptest.Server{Listener: l, Config: &http.Server{Handler: registries(t)}}
	world.Start()
	t.Cleanup(world.Close)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
}

// registries answer what git, pip and npm ask for.
func registries(t *testing.T) http.Handler {
	root := t.TempDir()
	make := exec.Command("sh", "-c", `git init -q -b main work && cd work && echo tiny 1 >README && git add . &&
		git -c user.name=a -c user.email=a@example.com commit -qm first && mkdir ../acme && git clone -q --bare . ../acme/tiny.git`)
	make.Dir = root
	if out, err := make.CombinedOutput(); err != nil {
		t.Fatalf("make a repository: %s%v", out, err)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	wheel, tarball := servers.Wheel(t), servers.Tarball(t)
	mux := http.NewServeMux()
	mux.Handle("github.com/", &cgi.Handler{Path: git, Args: []string{"http-backend"},
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "HOME=" + root}})
	mux.HandleFunc("pypi.org/simple/tiny/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<a href="https://files.pythonhosted.org/tiny-1.0-py3-none-any.whl">tiny-1.0-py3-none-any.whl</a>`))
	})
	mux.HandleFunc("files.pythonhosted.org/tiny-1.0-py3-none-any.whl",
		func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(wheel) })
	mux.HandleFunc("registry.npmjs.org/tiny/-/tiny-1.0.0.tgz",
		func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(tarball) })
	return mux
}

// certified is a certificate for hosts, which vouches for itself.
func certified(t *testing.T, hosts []string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: hosts,
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	raw, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}

// fetched runs pip, git and npm through the proxy of the sidecar: nothing else leads out.
func (b *bench) fetched(t *testing.T, files map[string]string) {
	_, ws := gatewayFolders(b.run)
	files["../home/.gitconfig"] = "[http]\n\tsslCAInfo = " + filepath.Join(ws, "ca.pem") + "\n"
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(ws, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for id, probe := range map[string]string{"pip": "python3 -c 'import ensurepip'", "git": "git --version",
		"npm": "npm --version"} {
		t.Run(id, func(t *testing.T) {
			if exec.Command("sh", "-c", probe).Run() != nil {
				t.Skipf("SKIPPED: %s is not here", id)
			}
			if _, result := b.asks(t, guarded, id); !strings.Contains(result.Text, "tiny 1") {
				t.Errorf("the model reads %q", result.Text)
			}
		})
	}
}
