// Package upstream asks gpt-oss servers: vLLM, Ollama, llama.cpp, SGLang, LM Studio and others that answer
// POST /v1/chat/completions. It puts a request into the server's dialect (ruleset.Server), sends it until
// there is an answer or the budget is spent, and words failures so that callers react rightly.
//
// It never reads a reply (package parse does), never decides whether the model is asked again, and never
// shows a caller an upstream's address or key.
//
// A Fleet chooses the model server for a request: servers that fail are left alone for a while, and a session
// stays where it has its prompt cache.
//
//	before   Prepare, Correct                  pure
//	sending  Client.Ask → Reply
//	after    Classify → Failure, Recover       pure
//	probing  Client.Server, Model, Models, Ready
package upstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
)

// Config configures a client.
type Config struct {
	BaseURL         string        // with or without /v1
	Key             string        // bearer token; empty: none
	Server          string        // id of the dialect; empty: found by probes
	Connect         time.Duration // time for a connection; 0: 10 s
	IdleConnections int           // at least 128
	Log             *slog.Logger  // nil: no log

	// Before is called before each attempt of a request for an answer. An error keeps the request back.
	// nil: none.
	Before func(context.Context) error
}

// Client asks one upstream. It is safe for concurrent use.
type Client struct {
	cfg  Config
	base string // ends in /v1 or another version
	root string // base without its last segment, where /version and /props live
	host string
	port int
	log  *slog.Logger

	pool *http.Transport
	http *http.Client

	mu          sync.Mutex
	results     *probeResult  // of the latest probes
	probing     chan struct{} // closed when the running probe ends; nil: none runs
	dialect     atomic.Pointer[dialect]
	dialects    *recent.Shared[*dialect] // the last one of each arm of an experiment
	chosen      *recent.Shared[string]   // model by the id that was asked for, to log each once
	familyNames *recent.Shared[string]   // by model, as logged
	reach       reachability
	abilities   *abilities
	eats        atomic.Bool // the upstream drops headers of thoughts

	completions atomic.Int64 // until then only chat completions are used, in Unix nanoseconds

	readyMu sync.Mutex
	readyAt time.Time
	readyAs error
}

// New returns a client. It sends nothing.
func New(cfg Config) (*Client, error) {
	base, root, err := parseBase(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Connect <= 0 {
		cfg.Connect = 10 * time.Second
	}
	pool := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: cfg.Connect, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    cfg.Connect,
		MaxIdleConnsPerHost:    max(cfg.IdleConnections, 128),
		IdleConnTimeout:        90 * time.Second,
		DisableCompression:     true, // see unpack
		OnProxyConnectResponse: checkConnect,
		ReadBufferSize:         2 << 10, // half of the default: most of a stream is
		WriteBufferSize:        512,     // waiting, and what is long goes past them
	}
	host, port := hostPort(base)
	return &Client{cfg: cfg, base: base, root: root, host: host, port: port, log: cfg.Log,
		chosen: recent.NewShared[string](maxModels), familyNames: recent.NewShared[string](maxModels),
		dialects:  recent.NewShared[*dialect](maxModels),
		abilities: newAbilities(time.Now), pool: pool, http: &http.Client{
			Transport: sendOnly{pool, cfg.Before},
		}}, nil
}

// EatsHeaders reports whether a reply of this upstream once began with a thought without its Harmony
// header.
func (c *Client) EatsHeaders() bool { return c.eats.Load() }

// AteHeader notes such a reply for the lifetime of the client.
func (c *Client) AteHeader() { c.eats.Store(true) }

// Away reports whether the server never answered, or was unreachable for so long.
func (c *Client) Away(long time.Duration) bool { return c.reach.away(long) }

// Close drops the idle connections.
func (c *Client) Close() { c.pool.CloseIdleConnections() }

// sendOnly hides CloseIdleConnections of the pool, which retryablehttp would call for all requests whenever
// one gives up. Its responses are decompressed and come from the server itself.
type sendOnly struct {
	http.RoundTripper
	before func(context.Context) error
}

func (s sendOnly) RoundTrip(req *http.Request) (*http.Response, error) {
	if s.before != nil && req.Method == http.MethodPost { // a probe asks for no answer
		if err := s.before(req.Context()); err != nil {
			return nil, errors.Join(err, req.Body.Close())
		}
	}
	res, err := s.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	o := redirectObstacle(req, res)
	if o == nil && res.StatusCode == http.StatusProxyAuthRequired {
		o = proxyObstacle(res.StatusCode, req.URL.Scheme)
	}
	if o == nil {
		o = decompress(res)
	}
	if o != nil {
		return nil, errors.Join(o, res.Body.Close())
	}
	return res, nil
}

var version = regexp.MustCompile(`^v\d+$`)

// parseBase returns the base of the API, which ends in a version such as /v1, and the root above it.
func parseBase(text string) (base, root string, err error) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", "", fmt.Errorf("upstream URL: not a URL: %w", withoutURL(err))
	}
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", "", fmt.Errorf("upstream URL: want http://HOST:PORT/v1 or https://…, have scheme %q and host %q", u.Scheme, u.Host)
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return "", "", fmt.Errorf("upstream URL: %s: a base URL has no query and no fragment", u.Host)
	}
	path := strings.TrimRight(u.Path, "/")
	path = strings.TrimRight(strings.TrimSuffix(path, "/chat/completions"), "/")
	head, last := path[:strings.LastIndex(path, "/")+1], path[strings.LastIndex(path, "/")+1:]
	if version.MatchString(last) {
		path = strings.TrimRight(head, "/")
	} else {
		last = "v1"
	}
	u.Path, u.RawPath = path, ""
	root = u.String()
	return root + "/" + last, root, nil
}

// hostPort returns host and port of a base URL.
func hostPort(base string) (host string, port int) {
	u, err := url.Parse(base)
	if err != nil { // addresses has parsed it
		return "", 0
	}
	if port, err = strconv.Atoi(u.Port()); err != nil {
		port = map[string]int{"http": 80, "https": 443}[u.Scheme]
	}
	return u.Hostname(), port
}

// Base returns the base URL with its password.
func (c *Client) Base() string { return c.base }

// Base returns the canonical base URL of a server.
func Base(url string) (string, error) {
	base, _, err := parseBase(url)
	return base, err
}

// Address returns the base URL without its password, for the operator.
func (c *Client) Address() string {
	u, err := url.Parse(c.base)
	if err != nil { // New has parsed it
		return ""
	}
	return u.Redacted()
}

// HostPort returns the address of the server.
func (c *Client) HostPort() (host string, port int) { return c.host, c.port }

// withoutURL returns the cause in a *url.Error, which would repeat the URL and its password.
func withoutURL(err error) error {
	if e, ok := err.(*url.Error); ok {
		return e.Err
	}
	return err
}

// reachability tells a server that restarts, for which callers should retry, from one that is off. It is
// safe for concurrent use; zero: never reached.
type reachability struct {
	mu    sync.Mutex
	ever  bool      // it has answered at least once
	since time.Time // first failure after the last answer; zero: none
}

// answered notes that the server has answered in any way.
func (c *reachability) answered() {
	c.mu.Lock()
	c.ever, c.since = true, time.Time{}
	c.mu.Unlock()
}

// away reports whether the server never answered, or was unreachable for so long.
func (c *reachability) away(long time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.since.IsZero() && (!c.ever || time.Since(c.since) >= long)
}

// failed notes a failed attempt that began at a time, and reports away.
func (c *reachability) failed(began time.Time, long time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() {
		c.since = began
	}
	return !c.ever || time.Since(c.since) >= long
}
