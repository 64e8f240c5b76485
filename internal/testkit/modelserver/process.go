package modelserver

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// process is a server that prints its URL, and ends with its script.
type process struct {
	cmd    *exec.Cmd
	script *script
	home   string

	endScript func()
	mu        sync.Mutex
	printed   bytes.Buffer
	url       chan<- string // gets the URL; nil when it has it
}

// run starts a server until the end of a test.
func run(t testing.TB, cmd *exec.Cmd, texts []string) *Server {
	t.Helper()
	p := &process{cmd: cmd, script: &script{replies: replies(texts)}, home: t.TempDir()}
	url, err := p.start()
	t.Cleanup(func() {
		p.end()
		if t.Failed() {
			t.Logf("the server said:\n%s", p.log())
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return &Server{URL: url, script: p.script, tokens: countTokens}
}

// start starts it, and waits until it answers.
func (p *process) start() (url string, err error) {
	var at string
	at, p.endScript = p.script.listen()
	said := make(chan string, 1)
	p.url = said
	p.cmd.Stdout, p.cmd.Stderr = p, p
	p.cmd.Env = append(p.cmd.Env, "HOME="+p.home, "TMPDIR="+p.home, "PATH="+os.Getenv("PATH"),
		"MODEL_SCRIPT="+at)
	if err := p.cmd.Start(); err != nil {
		return "", err
	}
	select {
	case url = <-said:
	case <-time.After(2 * time.Minute):
		return "", fmt.Errorf("%s says no URL:\n%s", p.cmd.Path, p.log())
	}
	for {
		res, err := http.Get(url) // it listens already, and answers as soon as it serves
		if err != nil {
			return "", fmt.Errorf("start %s: %w\n%s", p.cmd.Path, err, p.log())
		}
		_ = res.Body.Close()
		// with which llama-server answers until it has its model
		if res.StatusCode != http.StatusServiceUnavailable {
			return url, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// end ends it, and waits.
func (p *process) end() {
	p.endScript()
	if p.cmd.Process != nil {
		_ = p.cmd.Wait() // the exit code does not matter
	}
}

var served = regexp.MustCompile(`http://127\.0\.0\.1:[1-9]\d*\s`)

// Write receives the output of the process.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.printed.Write(b)
	if p.url != nil {
		if found := served.FindString(p.printed.String()); found != "" {
			p.url <- strings.TrimSpace(found)
			p.url = nil
		}
	}
	return len(b), nil
}

// log returns the last output, without lines that report success.
func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := slices.DeleteFunc(strings.SplitAfter(p.printed.String(), "\n"),
		func(line string) bool { return strings.Contains(line, "level=INFO") })
	return strings.Join(lines[max(0, len(lines)-30):], "")
}
