package confine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// A look-up that nobody waits for any more goes on until the name server answers.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("internal/singleflight.(*Group).doCall"))
}

const (
	here  = "93.184.215.14"
	there = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"
)

var zone = map[string][][]string{
	"example.com": {{here}}, "github.com": {{here}}, "other.dev": {{there}}, "inside.dev": {{"10.0.0.5"}}, "mixed.dev": {{here, "127.0.0.1"}}, "meta.dev": {{"169.254.169.254"}},
	"rebind.dev": {{here}, {"127.0.0.1"}}, "v6.dev": {{"::1"}}, "localhost": {{"127.0.0.1"}}, "mapped.dev": {{"::ffff:10.0.0.5"}},
}

// rig is a proxy with the internet that it sees, and one command with a pass.
type rig struct {
	*Proxy
	names  *servers.Names
	net    *servers.Servers
	said   *ruletest.Journal
	set    atomic.Pointer[ruleset.Set]
	broken atomic.Bool // the decision log
	done   chan struct{}
	finish func() // ends the command
	stop   func() // ends the proxy
	opened map[int]bool

	mu      sync.Mutex
	pass    Pass
	records []decisions.Connection
}

// Addr is HOST:PORT of the proxy.
func (r *rig) Addr() string { return r.listener.Addr().String() }

func newRig(t testing.TB, limits proxyLimits, h http.HandlerFunc) *rig {
	return newRigWith(t, limits, h, func(*rig) {})
}

// newRigWith is a rig that is changed before it serves.
func newRigWith(t testing.TB, limits proxyLimits, h http.HandlerFunc, change func(*rig)) *rig {
	names, resolver := servers.ServeNames(t, zone)
	r := &rig{names: names, net: servers.ServeHTTP(t, h), said: &ruletest.Journal{},
		done: make(chan struct{}), opened: map[int]bool{}}
	set := *ruletest.Shipped(t, NetworkSection()) // a test may have limits of its own
	r.set.Store(&set)
	r.pass = Pass{Secret: "s3cret", Subject: policy.Subject{Agent: "main", Session: "s1"}, Tool: "exec",
		Rules: "before", Any: true, Done: r.done}
	log, metrics := slog.New(slog.NewTextHandler(r.said, nil)), telemetry.New()
	g := guard.New(guard.Config{World: guard.World{}, Now: time.Now, Metrics: metrics, Log: log})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ruletest.Must(t, err)
	r.Proxy = NewProxy(ProxyConfig{
		Rules: r, Judge: judgeOf{g, r}, Passes: r, Decisions: r, Resolver: resolver, Connect: r.net.Connect,
		Limits: limits, Metrics: metrics, Log: log,
	}, l)
	change(r)
	r.finish = sync.OnceFunc(func() { close(r.done) })
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- r.Serve(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { r.stop(); r.finish() })
	return r
}

// judgeOf is the guard, for a session that has opened some ports.
type judgeOf struct {
	*guard.Guard
	r *rig
}

func (j judgeOf) Connection(set *ruleset.Set, who policy.Subject, tool string, u urls.Use) policy.Decision {
	if j.r.opened[u.Port] {
		return set.CheckConnection(u, tool, who, guardAt(j.r.opened))
	}
	return j.Guard.Connection(set, who, tool, u)
}

func (r *rig) Set() *ruleset.Set { return r.set.Load() }

func (r *rig) Pass(ticket string) (Pass, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pass, ticket == "t1"
}

func (r *rig) End(string) { r.finish() }

// may changes what the command may do.
func (r *rig) may(change func(*Pass)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.pass)
}

func (r *rig) AddConnection(c decisions.Connection) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken.Load() {
		return io.ErrShortWrite
	}
	r.records = append(r.records, c)
	return nil
}

// logged are the records, in short.
func (r *rig) logged() (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.records {
		text := fmt.Sprintf("%s %s %s %s", c.Method, c.Server, c.Outcome, c.Rule)
		if c.Times > 0 {
			text += fmt.Sprintf(" x%d", c.Times)
		}
		out = append(out, text)
	}
	return out
}

func patterns(t testing.TB, texts ...string) (out []urls.Pattern) {
	for _, s := range texts {
		p, err := urls.ParsePattern(s)
		ruletest.Must(t, err)
		out = append(out, p)
	}
	return out
}

// client is a program that has the variables set. It follows no redirects.
func (r *rig) client(t testing.TB) *http.Client {
	at := &url.URL{Scheme: "http", User: url.UserPassword("t1", "s3cret"), Host: r.Addr()}
	transport := &http.Transport{Proxy: http.ProxyURL(at), TLSClientConfig: r.net.TLS(),
		DisableCompression: true, ExpectContinueTimeout: time.Minute}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// get is the body of an answer, with its status in front; or the error.
func (r *rig) get(t testing.TB, method, url, body string) string {
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	req, err := http.NewRequest(method, url, in)
	ruletest.Must(t, err)
	return answer(r.client(t).Do(req))
}

func answer(res *http.Response, err error) string {
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", res.StatusCode, body)
}

const credentials = "Proxy-Authorization: Basic dDE6czNjcmV0\r\n" // t1:s3cret

// raw is a connection to the proxy on which something was sent; and what comes back.
func (r *rig) raw(t testing.TB, text string) (net.Conn, *bufio.Reader) {
	c, err := net.Dial("tcp", r.Addr())
	ruletest.Must(t, err)
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	_, err = io.WriteString(c, text)
	ruletest.Must(t, err)
	return c, bufio.NewReader(c)
}

// connect is a tunnel to a server.
func (r *rig) connect(t testing.TB, server string) (net.Conn, *bufio.Reader) {
	c, in := r.raw(t, "CONNECT "+server+" HTTP/1.1\r\nHost: "+server+"\r\n"+credentials+"\r\n")
	res, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
	ruletest.Must(t, err)
	if res.StatusCode != 200 {
		t.Fatal(res.Status)
	}
	return c, in
}

// echo answers with what it was asked. A path /to?URL redirects there.
func echo(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/to" {
		w.Header().Set("Location", r.URL.RawQuery)
		w.WriteHeader(http.StatusFound)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var names []string
	for name := range r.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	fmt.Fprintf(w, "%s %s %s %v %s", r.Method, r.Host, r.RequestURI, names, body)
}
