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
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

const (
	maxRequest = 2 << 20 // bytes that the gateway accepts
	maxAnswer  = 8 << 20 // bytes of an answer that are read
)

// GatewayConfig configures a gateway. All fields but Token must be set.
type GatewayConfig struct {
	URL     string // http://HOST:PORT, with or without a path before /tools/invoke
	Token   string // empty: none is sent
	Session string // for callers that are not agents of the gateway
	Now     func() time.Time
	Log     *slog.Logger
}

// Gateway is a source of tools. It is safe for concurrent use.
type Gateway struct {
	cfg  GatewayConfig
	url  *url.URL
	http *http.Client

	mu          sync.Mutex
	inspections *recent.Map[*inspection] // by agent
	missing     *recent.Map[time.Time]   // when a missing tool is asked for again, by session and tool
	pauseAnswer answer                   // answer to every call while paused
	pausedUntil time.Time                // end of the pause
	trouble     string                   // what the operator was last told; empty: none
}

// NewGateway prepares a client. It sends nothing.
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
		cfg: cfg, url: at, inspections: recent.New[*inspection](maxInspections, nil),
		missing: recent.New[time.Time](maxMissing, nil),
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

// Run sends a call and waits for the answer until ctx ends.
func (c *Gateway) Run(ctx context.Context, id string, call *guard.AllowedCall) tools.Result {
	who := call.Facts.Call.Subject
	a := c.invoke(ctx, invocation{Name: call.Name, Args: call.Arguments, SessionKey: c.session(who),
		IdempotencyKey: id}, who)
	return a.result(call.Name, call.Facts.Call.Class != string(tools.Read))
}

// invocation is the body of a request.
type invocation struct {
	Name           string          `json:"name"`
	Args           json.RawMessage `json:"args"`
	SessionKey     string          `json:"sessionKey"`
	IdempotencyKey string          `json:"idempotencyKey,omitempty"`
}

// invoke returns the answer to an invocation if it is known, or sends it and notes what the answer
// says of the gateway.
func (c *Gateway) invoke(ctx context.Context, o invocation, who policy.Subject) answer {
	if a, known := c.knownAnswer(o); known {
		return a
	}
	a := c.send(ctx, o, who)
	if !a.unsent {
		c.remember(o, a)
	}
	return a
}

// send sends an invocation, whatever is known of the gateway.
func (c *Gateway) send(ctx context.Context, o invocation, who policy.Subject) answer {
	body, err := json.Marshal(o)
	switch {
	case err != nil:
		return answer{kind: callFailed, unsent: true, text: "the arguments are no JSON: " + err.Error()}
	case len(body) > maxRequest:
		return answer{kind: callFailed, unsent: true,
			text: fmt.Sprintf("the arguments are too long: the gateway takes %d KiB. Send less.",
				maxRequest>>10)}
	}
	a := c.post(ctx, body, who)
	if c.cfg.Token != "" {
		a.text = strings.ReplaceAll(a.text, c.cfg.Token, "[token]")
	}
	return a
}

// channelName matches the channels that the gateway may be told of.
var channelName = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

// post sends a body once.
func (c *Gateway) post(ctx context.Context, body []byte, who policy.Subject) answer {
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(ctx,
		&httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	req, err := http.NewRequestWithContext(traced, http.MethodPost, c.url.String(), bytes.NewReader(body))
	if err != nil { // New has parsed the URL
		return answer{kind: unreachable, detail: err.Error()}
	}
	req.Header.Set("Content-Type", "application/json")
	if c.cfg.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	}
	if isGatewayAgent(who) && channelName.MatchString(who.Channel) {
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
		return answer{kind: unreachable, detail: err.Error(), canceled: ctx.Err() != nil}
	}
	return answer{kind: unanswered, text: "the connection to the gateway broke before it answered",
		detail: err.Error(), canceled: ctx.Err() != nil}
}

func isGatewayAgent(who policy.Subject) bool { return strings.HasPrefix(who.Session, "agent:") }

const maxKey = 512

// session returns the session of the gateway in which a subject's calls run. An agent of the gateway
// has its own. Other sessions get a hashed name beside the configured session, never main, which is
// the owner's.
func (c *Gateway) session(who policy.Subject) string {
	switch {
	case who.Session == "":
		return c.cfg.Session
	case isGatewayAgent(who) && len(who.Session) <= maxKey:
		return who.Session
	}
	sum := sha256.Sum256([]byte(who.Session))
	return c.cfg.Session + "-" + hex.EncodeToString(sum[:8])
}

// gatewayFile is gateway.yaml: the tools of an OpenClaw gateway that runs may call.
type gatewayFile struct {
	rulefile.Head
	Tools []rulefile.Pair[gatewayTool] `rule:"tools" doc:"The tools of the gateway, by their names there."`
}

type gatewayTool struct {
	Description string         `rule:"description,required" doc:"What the model reads of the tool." eg:"Gives the tides of a harbour."`
	Parameters  map[string]any `rule:"parameters,required" doc:"A JSON Schema of the arguments, with type: object." eg:"{type: object, properties: {harbour: {type: string}}}"`
}

// toolName matches the tool names that model servers accept.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

func gatewaySection() ruleset.Section {
	return ruleset.Section{Name: "gateway.yaml",
		About: "The tools of an OpenClaw gateway that runs of executor mode may call.", Holds: &gatewayFile{}}
}

// gatewayTools are the tools of gateway.yaml, in file order.
type gatewayTools []tools.Tool

// Compile returns the listed tools and reports invalid ones.
func (f *gatewayFile) Compile(r *ruleset.Reader) any {
	var out gatewayTools
	if !r.Clean() {
		return &out
	}
	for _, t := range f.Tools {
		name, doc := t.Key.Value, t.Value
		if !toolName.MatchString(name) {
			r.Report(t.Key.All(), rulefile.CodeValue, fmt.Sprintf("%q is no name of a tool", name),
				"a name has letters, digits, _ . and -, at most 64")
			continue
		}
		schema, err := json.Marshal(doc.Parameters)
		if err == nil {
			_, err = tools.CompileSchema(schema)
		}
		switch {
		case err != nil:
			r.Report(t.Key.All(), rulefile.CodeValue,
				fmt.Sprintf("the parameters of %s are no JSON Schema: %s", name, err), "")
		case doc.Parameters["type"] != "object":
			r.Report(t.Key.All(), rulefile.CodeValue, "the parameters of "+name+" have no type: object",
				"write type: object, and the arguments under properties")
		default:
			out = append(out, tools.Tool{Name: name, Description: doc.Description,
				Parameters: schema})
		}
	}
	return &out
}
