// Package upstream speaks to gpt-oss servers: vLLM, Ollama, llama.cpp, SGLang,
// LM Studio and whatever else answers POST /v1/chat/completions. It puts a
// request into the server's dialect, sends it until there is an answer or the
// budget is spent, and says what went wrong in words that the caller acts on
// rightly. What a dialect is stands in ruleset.Server.
//
// It never reads a reply (package parse does), never decides whether the model
// is asked again, and never shows a caller an upstream's address or key.
//
// A Fleet is all model servers: which of them a request is sent to, which are left alone for a while, and
// where a session has its prompt cache.
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

// Config describes one upstream.
type Config struct {
	BaseURL         string        // with or without /v1
	Key             string        // sent as a bearer token; empty: none
	Server          string        // id of the dialect; empty: found by probing
	Connect         time.Duration // until a connection stands; 0: 10 s
	IdleConnections int           // kept open; at least 128
	Log             *slog.Logger  // nil: nothing is logged

	// Before is asked before each request for an answer leaves, also where it is sent again. An error keeps
	// it back. nil: every request leaves.
	Before func(context.Context) error
}

// Client asks one upstream. Safe for concurrent use.
type Client struct {
	cfg  Config
	base string // ends in /v1, or what stands in its place
	root string // base without its last segment: where /version and /props live
	host string
	port int
	log  *slog.Logger

	pool *http.Transport
	http *http.Client

	mu        sync.Mutex
	seen      *sighting     // the last answers to the probes
	looking   chan struct{} // closed when the running probe ends; nil: none runs
	dialect   atomic.Pointer[dialect]
	chosen    *recent.Shared[string] // model by the id that was asked for, each logged once
	kin       *recent.Shared[string] // name of a model → name of its family, as it was logged
	contact   contact
	abilities *abilities
	eats      atomic.Bool // it was seen to eat headers

	completions atomic.Int64 // until when it is asked over chat completions alone, in Unix nanoseconds

	readyMu sync.Mutex
	readyAt time.Time
	readyAs error
}

// New prepares a client; nothing is sent yet.
func New(cfg Config) (*Client, error) {
	base, root, err := addresses(cfg.BaseURL)
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
		OnProxyConnectResponse: connected,
		ReadBufferSize:         2 << 10, // half of the default: most of a stream is
		WriteBufferSize:        512,     // waiting, and what is long goes past them
	}
	host, port := hostPort(base)
	return &Client{cfg: cfg, base: base, root: root, host: host, port: port, log: cfg.Log,
		chosen: recent.NewShared[string](maxModels), kin: recent.NewShared[string](maxModels),
		abilities: newAbilities(time.Now), pool: pool, http: &http.Client{
			Transport: sendOnly{pool, cfg.Before},
		}}, nil
}

// EatsHeaders says that a reply of this upstream once began with a thought without its
// Harmony header.
func (c *Client) EatsHeaders() bool { return c.eats.Load() }

// AteHeader remembers that one did, for as long as the program runs.
func (c *Client) AteHeader() { c.eats.Store(true) }

// Away reports whether the server could not be reached for so long, or ever.
func (c *Client) Away(long time.Duration) bool { return c.contact.gone(long) }

// Close drops the idle connections.
func (c *Client) Close() { c.pool.CloseIdleConnections() }

// sendOnly hides CloseIdleConnections of the pool: retryablehttp would empty it
// for all requests whenever one of them gives up. An answer of it is plain, and of the server itself.
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
	o := redirected(req, res)
	if o == nil && res.StatusCode == http.StatusProxyAuthRequired {
		o = proxied(res.StatusCode, req.URL.Scheme)
	}
	if o == nil {
		o = unpack(res)
	}
	if o != nil {
		return nil, errors.Join(o, res.Body.Close())
	}
	return res, nil
}

var version = regexp.MustCompile(`^v\d+$`)

// addresses gives the API's base, which ends in a version such as /v1, and the
// root above it.
func addresses(text string) (base, root string, err error) {
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

// hostPort is where a base URL leads.
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

// Base is the base URL, with its password.
func (c *Client) Base() string { return c.base }

// Base is how every client spells the base URL of the same server.
func Base(url string) (string, error) {
	base, _, err := addresses(url)
	return base, err
}

// Address is the base URL without its password, for the operator.
func (c *Client) Address() string {
	u, err := url.Parse(c.base)
	if err != nil { // New has parsed it
		return ""
	}
	return u.Redacted()
}

// HostPort is where the server is.
func (c *Client) HostPort() (host string, port int) { return c.host, c.port }

// withoutURL is the cause inside a *url.Error, which would repeat the URL and
// the password in it.
func withoutURL(err error) error {
	if e, ok := err.(*url.Error); ok {
		return e.Err
	}
	return err
}
