package confine

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
)

// methodGit is the method of git's transport in the decision log.
const methodGit = "GIT"

// noRemote refuses a repository that is not a remote of the command.
func noRemote() *refusal {
	return &refusal{status: http.StatusForbidden, rule: "remotes",
		why:     "the settings of git in the workspace do not name this repository, a confined command can have written them, or the command is none that may use it so",
		instead: "run plain git fetch, git pull or git push in the workspace, or ask the user to do it"}
}

// serveSSH runs the service of a remote as the user, for git of a confined command.
func (v *proxyRequest) serveSSH(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	ask := walls.ParseSSHQuery(r.URL.Query())
	at := slices.IndexFunc(v.pass.Remotes, func(r guard.Remote) bool { return matchesRemote(ask, r) })
	v.use = urls.Tunnel(ask.Host + ":" + cmp.Or(ask.Port, "22"))
	var refused error
	if at < 0 {
		refused = noRemote()
	}
	tally, err := v.record(methodGit, urls.Use{}, refused)
	if err != nil {
		refusalOf(err, v.use).write(w, r)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := v.pass.User.SSH(ctx, v.pass.Remotes[at], ask.Service, ask.Protocol)
	if err != nil {
		(&refusal{status: http.StatusBadGateway, why: err.Error()}).write(w, r)
		return
	}
	client, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	if _, err := io.WriteString(client,
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: git\r\n\r\n"); err != nil {
		return
	}
	idle := newIdleTimer(limitsOf(v.set).Idle, cancel)
	defer idle.stop()
	to := &lockedWriter{to: client}
	c.Stdout = idle.writer(walls.Frames{To: to, Part: walls.Output}, &tally.received)
	c.Stderr = walls.Frames{To: to, Part: walls.Errors}
	c.WaitDelay = time.Second
	end := func(code int) {
		_, _ = to.Write(binary.BigEndian.AppendUint32([]byte{walls.Exit}, uint32(code)))
	}
	in, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		fmt.Fprintln(c.Stderr, err)
		end(255)
		return
	}
	defer context.AfterFunc(ctx, func() { client.Close() })()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		defer in.Close()
		early := io.LimitReader(buf, int64(buf.Reader.Buffered()))
		_, _ = io.Copy(in, idle.reader(io.MultiReader(early, client), &tally.sent))
	}()
	code := 0
	if err := c.Wait(); err != nil {
		code = max(c.ProcessState.ExitCode(), 1)
	}
	end(code)
	client.Close()
	<-sent
}

// matchesRemote reports whether a remote offers the service that git asks for.
func matchesRemote(a walls.SSHRequest, r guard.Remote) bool {
	return r.URL.Scheme == "ssh" && a.Host == r.URL.Hostname() && a.Port == r.URL.Port() &&
		a.User == r.URL.User.Username() && a.Path == r.URL.Path && r.Offers(a.Service)
}

// lockedWriter lets one goroutine write at a time.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (o *lockedWriter) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.to.Write(p)
}

// findRemote returns the remote that a plain HTTP request of git is for, with the path and query of
// the request to it.
func (v *proxyRequest) findRemote(r *http.Request) (at *guard.Remote, path, query string) {
	for i := range v.pass.Remotes {
		at := &v.pass.Remotes[i]
		if at.URL.Scheme != "https" || r.URL.Scheme != "http" || r.URL.Host != at.URL.Host {
			continue
		}
		for _, service := range []string{guard.FetchService, guard.PushService} {
			switch {
			case !at.Offers(service):
			case r.Method == http.MethodGet && r.URL.EscapedPath() == at.URL.Path+"/info/refs" &&
				r.URL.RawQuery == "service="+service:
				return at, "/info/refs", "?service=" + service
			case r.Method == http.MethodPost && r.URL.EscapedPath() == at.URL.Path+"/"+service &&
				r.URL.RawQuery == "":
				return at, "/" + service, ""
			}
		}
	}
	return nil, "", ""
}

// gitHeaders are the headers that the transport passes on, in both directions.
var gitHeaders = []string{"Accept", "Accept-Encoding", "Content-Type", "Content-Encoding", "Git-Protocol",
	"User-Agent", "Cache-Control", "Location", "Www-Authenticate"}

// maxGitHeader is the longest value that is passed on, in bytes.
const maxGitHeader = 256

// serveGit sends a request to a remote over HTTPS, with the user's credentials if the remote requires
// them. Git asks for the references first, so credentials are known before it sends data.
func (v *proxyRequest) serveGit(ctx context.Context, w http.ResponseWriter, r *http.Request, to *guard.Remote,
	path, query string) {
	v.use = urls.Literal("https://"+to.URL.Host+to.URL.Path, methodGit)
	tally, err := v.record(methodGit, urls.Use{}, nil)
	if err != nil {
		refusalOf(err, v.use).write(w, r)
		return
	}
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	idle := newIdleTimer(limitsOf(v.set).Idle, hangUp)
	defer idle.stop()
	_ = http.NewResponseController(w).EnableFullDuplex()
	client := http.Client{Transport: v.HTTPS, CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}
	send := func(c *credential) (*http.Response, error) {
		out, err := http.NewRequestWithContext(ctx, r.Method, "https://"+to.URL.Host+to.URL.Path+path+query,
			nil)
		if err != nil {
			return nil, err
		}
		if r.Method == http.MethodPost {
			out.Body, out.ContentLength = io.NopCloser(idle.reader(r.Body, &tally.sent)), r.ContentLength
		}
		copyHeaders(out.Header, r.Header)
		if c != nil {
			out.SetBasicAuth(c.name, c.password)
		}
		return client.Do(out)
	}
	known := v.account.credential(to.URL.Host + to.URL.Path)
	res, err := send(known)
	if err == nil && res.StatusCode == http.StatusUnauthorized && known == nil && r.Method == http.MethodGet {
		if name, password, failed := v.pass.User.Credential(ctx, *to); failed == nil {
			_ = res.Body.Close()
			known = &credential{name, password}
			if res, err = send(known); err == nil && res.StatusCode == http.StatusOK {
				v.account.keep(to.URL.Host+to.URL.Path, known)
			}
		}
	}
	if err != nil {
		v.failed(w, r, err)
		return
	}
	defer res.Body.Close()
	copyHeaders(w.Header(), res.Header)
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(flushWriter{w, http.NewResponseController(w)}, idle.reader(res.Body, &tally.received))
}

func copyHeaders(to, from http.Header) {
	for _, name := range gitHeaders {
		if text := from.Get(name); text != "" && len(text) <= maxGitHeader {
			to.Set(name, text)
		}
	}
}

// flushWriter flushes after each write.
type flushWriter struct {
	to io.Writer
	*http.ResponseController
}

func (f flushWriter) Write(p []byte) (n int, err error) {
	if n, err = f.to.Write(p); err == nil {
		err = f.Flush()
	}
	return n, err
}

// credential is the user's at a remote. No confined command sees it.
type credential struct{ name, password string }

func (a *account) credential(remote string) *credential {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.credentials[remote]
}

func (a *account) keep(remote string, c *credential) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.credentials == nil {
		a.credentials = map[string]*credential{}
	}
	a.credentials[remote] = c
}
