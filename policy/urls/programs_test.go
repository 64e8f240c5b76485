package urls_test

import (
	"bufio"
	"errors"
	"io/fs"
	"math/rand"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// pieces are what URLs are made of that programs are apt to read in different ways.
var pieces = []string{"http", "https", "HTTP", "ssh", "git+ssh", "git+", "ext", ":", ":", "::", "/", "//",
	"///", "@", "git@", "user:pw@",
	"#", "?", "\\", "%2f", "%40", "%00", ".", "..", "go.dev", "go.dev", "evil.example", "127.0.0.1", "0x7f.1",
	"2130706433", "[::1]", "[", "]",
	"[go.dev:22]", "[git@go.dev:x]", "localhost", "①", "。", "{a,b}", "[1-2]", ":80", ":443", ":8080", ":22",
	":2222", ":022", ":+22",
	"xn--a", "_", "-", "-oProxyCommand=x", "&", ";", " ", "+", "*", "~", "!", "'", "ß", "\u200b", "/x", "?q",
	"x.git"}

// runs is how many URLs each program is asked for, the variable RUNS; another number is another choice.
func runs(t *testing.T, short bool) int {
	n, err := strconv.Atoi(os.Getenv("RUNS"))
	if err != nil {
		n = 60
	}
	if short {
		t.Skip("starts programs")
	}
	return n
}

// public makes words up until one of them is public.
func public(r *rand.Rand, method string, begin ...string) urls.Use {
	for {
		word := begin[r.Intn(len(begin))]
		for range r.Intn(7) + 1 {
			word += pieces[r.Intn(len(pieces))]
		}
		if u := urls.Word(word, false, method); u.Class == urls.Public {
			return u
		}
	}
}

func same(u urls.Use, host, port string) bool {
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	return host == u.Host && (port == "" || port == strconv.Itoa(u.Port))
}

// Curl asks the host that the guard has read, or none.
func TestCurlReadsTheSame(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("SKIPPED: no curl")
	}
	var mu sync.Mutex
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Host)
		w.WriteHeader(http.StatusTeapot)
	}))
	defer proxy.Close()
	n := runs(t, testing.Short())
	r := rand.New(rand.NewSource(int64(n)))
	for range n {
		u := public(r, "GET", "", "http://", "https://")
		// many are refused
		_ = exec.Command(curl, "-q", "-s", "-m", "5", "-o", os.DevNull, "-x", proxy.URL, "--", u.URL).Run()
		mu.Lock()
		for _, hostport := range asked {
			host, port, err := net.SplitHostPort(hostport)
			if err != nil {
				host, port = hostport, ""
			}
			if !same(u, host, port) {
				t.Errorf("%q: curl asks %s, the guard reads %s:%d", u.URL, hostport, u.Host, u.Port)
			}
		}
		asked = nil
		mu.Unlock()
	}
}

// Git asks the ssh server that the guard has read, or none.
func TestGitReadsTheSame(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("SKIPPED: no git")
	}
	dir := t.TempDir()
	ssh, said := filepath.Join(dir, "ssh"), filepath.Join(dir, "said")
	if err := os.WriteFile(ssh, []byte("#!/bin/sh\nfor w; do echo \"$w\"; done >"+said+"\nexit 1\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	n := runs(t, testing.Short())
	r := rand.New(rand.NewSource(int64(n)))
	for range n {
		u := public(r, "GIT", "", "ssh://", "git+ssh://")
		if u.Scheme != "ssh" {
			continue // curl's library
		}
		cmd := exec.Command(git, "ls-remote", "--", u.URL)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_SSH_COMMAND="+ssh, "GIT_SSH_VARIANT=ssh",
			"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		_ = cmd.Run()
		f, err := os.Open(said)
		if errors.Is(err, fs.ErrNotExist) {
			continue // git found no server in it
		}
		host, port := "", "22"
		for lines := bufio.NewScanner(f); host == "" && lines.Scan(); {
			switch lines.Text() {
			case "-p":
				lines.Scan()
				port = lines.Text()
			case "-o":
				lines.Scan()
			default:
				host = lines.Text()
			}
		}
		f.Close()
		if host = host[strings.LastIndexByte(host, '@')+1:]; !same(u, host, port) {
			t.Errorf("%q: git asks %s port %s, the guard reads %s:%d", u.URL, host, port, u.Host, u.Port)
		}
		if err := os.Remove(said); err != nil {
			t.Fatal(err)
		}
	}
}
