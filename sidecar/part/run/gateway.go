package run

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

const (
	maxRequest = 2 << 20 // bytes that the gateway takes
	maxAnswer  = 8 << 20 // bytes of an answer that are read
)

// GatewayConfig is a gateway, and how it is called. All fields but Token must be set.
type GatewayConfig struct {
	URL     string // http://HOST:PORT, with or without a path before /tools/invoke
	Token   string // empty: none is sent
	Session string // of callers that are no agents of the gateway
	Now     func() time.Time
	Log     *slog.Logger
}

// Gateway is a source of tools for runs. It is safe for concurrent use.
type Gateway struct {
	cfg  GatewayConfig
	at   *url.URL
	http *http.Client

	mu      sync.Mutex
	looks   *recent.Map[*look]     // by agent
	lacks   *recent.Map[time.Time] // session and tool → how long it counts as not there
	pause   answer                 // what every call gets until then
	until   time.Time
	trouble string // that the operator was told of; empty: none
}

// NewGateway prepares a client. Nothing is sent yet.
func NewGateway(cfg GatewayConfig) (*Gateway, error) {
	at, err := url.Parse(cfg.URL)
	switch {
	case err != nil: // the error would show the whole of it
		return nil, errors.New("gateway: this is no URL; write it as http://127.0.0.1:18789")
	case at.Scheme != "http" && at.Scheme != "https" || at.Hostname() == "" || at.RawQuery != "" ||
		at.Fragment != "":
		return nil, fmt.Errorf("gateway %s: this is no address of a gateway; write it as http://127.0.0.1:18789", at.Redacted())
	case at.User != nil:
		return nil, fmt.Errorf("gateway %s: an address holds no password; set gateway_token", at.Redacted())
	}
	at.Path = strings.TrimSuffix(strings.TrimRight(at.Path, "/"), "/tools/invoke")
	at = at.JoinPath("tools", "invoke")
	return &Gateway{
		cfg: cfg, at: at, looks: recent.New[*look](maxLooks, nil),
		lacks: recent.New[time.Time](maxLacked, nil),
		http: &http.Client{
			Transport: &http.Transport{
				DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
				TLSHandshakeTimeout: 5 * time.Second, MaxResponseHeaderBytes: 64 << 10,
				DisableKeepAlives: true, // on an idle connection that just closed, a call may have arrived
			},
			// the token stays
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Run sends a call, and waits for its answer until ctx ends.
func (c *Gateway) Run(ctx context.Context, id string, call *guard.Passed) tools.Result {
	who := call.Facts.Call.Subject
	a := c.invoke(ctx, order{Name: call.Name, Args: call.Arguments, SessionKey: c.session(who),
		IdempotencyKey: id}, who)
	return a.result(call.Name, call.Facts.Call.Class != string(tools.Read))
}

// order is the body of a request.
type order struct {
	Name           string          `json:"name"`
	Args           json.RawMessage `json:"args"`
	SessionKey     string          `json:"sessionKey"`
	IdempotencyKey string          `json:"idempotencyKey,omitempty"`
}

// invoke sends an order, unless it is known what comes of it, and notes what the answer says
// of the gateway.
func (c *Gateway) invoke(ctx context.Context, o order, who policy.Subject) answer {
	if a, known := c.foreseen(o); known {
		return a
	}
	a := c.send(ctx, o, who)
	if !a.unsent {
		c.note(o, a)
	}
	return a
}

// send sends an order, whatever is known of the gateway.
func (c *Gateway) send(ctx context.Context, o order, who policy.Subject) answer {
	body, err := json.Marshal(o)
	switch {
	case err != nil:
		return answer{means: failedAnswer, unsent: true, text: "the arguments are no JSON: " + err.Error()}
	case len(body) > maxRequest:
		return answer{means: failedAnswer, unsent: true,
			text: fmt.Sprintf("the arguments are too long: the gateway takes %d KiB. Send less.",
				maxRequest>>10)}
	}
	a := c.post(ctx, body, who)
	if c.cfg.Token != "" {
		a.text = strings.ReplaceAll(a.text, c.cfg.Token, "[token]")
	}
	return a
}

// channelName is what the gateway may know a channel by.
var channelName = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

// post sends a body once.
func (c *Gateway) post(ctx context.Context, body []byte, who policy.Subject) answer {
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(ctx,
		&httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	req, err := http.NewRequestWithContext(traced, http.MethodPost, c.at.String(), bytes.NewReader(body))
	if err != nil { // New has parsed the URL
		return answer{means: away, detail: err.Error()}
	}
	req.Header.Set("Content-Type", "application/json")
	if c.cfg.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	}
	if ofGateway(who) && channelName.MatchString(who.Channel) {
		req.Header.Set("X-Openclaw-Message-Channel", who.Channel)
	}
	res, err := c.http.Do(req)
	if err == nil {
		defer res.Body.Close()
		if body, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer+1)); err == nil {
			return readAnswer(res.StatusCode, res.Header, body, c.cfg.Now())
		}
	}
	if inner := (*url.Error)(nil); errors.As(err, &inner) {
		err = inner.Err // the outer one repeats the URL
	}
	if !connected.Load() {
		return answer{means: away, detail: err.Error(), ended: ctx.Err() != nil}
	}
	return answer{means: lost, text: "the connection to the gateway broke before it answered",
		detail: err.Error(), ended: ctx.Err() != nil}
}

// ofGateway reports whether a request says that it comes from an agent of a gateway.
func ofGateway(who policy.Subject) bool { return strings.HasPrefix(who.Session, "agent:") }

const maxKey = 512

// session is the session of the gateway in which the calls of a subject run. An agent of the
// gateway has its own. Others never get main, which is that of the owner: each of their sessions
// has one beside the session of the settings, under a name that means nothing to the gateway.
func (c *Gateway) session(who policy.Subject) string {
	switch {
	case who.Session == "":
		return c.cfg.Session
	case ofGateway(who) && len(who.Session) <= maxKey:
		return who.Session
	}
	sum := sha256.Sum256([]byte(who.Session))
	return c.cfg.Session + "-" + hex.EncodeToString(sum[:8])
}
