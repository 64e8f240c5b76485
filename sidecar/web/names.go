// Package web is shared by all HTTP listeners of the sidecar: it checks who may ask, answers in JSON, serves
// until told to stop, and admits requests: none while memory is short, and otherwise as many at once as the
// rules say, one of each session in turn. It knows no routes and asks no model.
package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// Names are the hosts under which a listener accepts requests. A page in a browser can reach listeners that
// its user can, under its own name, if that name's address is changed to theirs (DNS rebinding). The
// headers Host and Origin, which it cannot choose, tell it from a program.
type Names struct {
	Local bool     // reached from this machine only: only its own names are accepted
	Token bool     // a token is needed, which no page has: on other listeners any name is accepted
	Hosts []string // further names
}

// Refuse returns why a request is not accepted and what helps; empty: it is.
func (n Names) Refuse(r *http.Request) (why, hint string) {
	if r.Host == "" && !n.accepts("") {
		return "the request has no Host", "send the header Host, as HTTP/1.1 wants it"
	}
	if !n.accepts(hostname(r.Host)) {
		hint = "name it in the setting hosts, or set a token"
		if n.Local {
			hint = "use localhost, 127.0.0.1 or [::1], or name it in the setting hosts"
		}
		return "this listener does not have the name " + r.Host, hint
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		from, err := url.Parse(origin)
		if err != nil || from.Host == "" || from.Host != r.Host && !n.listed(hostname(from.Host)) {
			return "web pages of other hosts may not send requests",
				"name the page's host in the setting hosts, or send the request from a program"
		}
	}
	return "", ""
}

// accepts reports whether a listener accepts requests for a host.
func (n Names) accepts(host string) bool {
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() || n.listed(host) {
		return true
	}
	if n.Local {
		return false
	}
	// Only public names can be pointed here from outside, and a page at a bare address has
	// come from that address.
	_, err := netip.ParseAddr(host)
	return n.Token || err == nil || urls.Literal("http://"+host, "").Class == urls.Private
}

func (n Names) listed(host string) bool {
	return host != "" && slices.ContainsFunc(n.Hosts,
		func(h string) bool { return strings.EqualFold(h, host) })
}

// hostname returns the host of a Host header in lower case.
func hostname(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]") // without a port
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// Bearer reports whether a request has the token, in a time that reveals neither the token nor its length.
func Bearer(r *http.Request, token string) bool {
	given, ok := bearer(r)
	is, want := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(token))
	return ok && subtle.ConstantTimeCompare(is[:], want[:]) == 1
}

// bearer returns the token of a request. The scheme has no case (RFC 9110, 11.1).
func bearer(r *http.Request) (string, bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return token, ok && strings.EqualFold(scheme, "Bearer")
}

// Role is what a caller of the admin API may do. Each includes those before it.
type Role uint8

// The roles.
const (
	NoRole   Role = iota // may do nothing
	Reader               // sees
	Approver             // answers questions to a person, too
	Admin                // changes anything
)

// String returns the role's name.
func (r Role) String() string { return [...]string{"none", "reader", "approver", "admin"}[r] }

// Tokens are those of the admin API; empty: none.
type Tokens struct{ Admin, Approver, Reader string }

// Check returns what is wrong with the tokens.
func (t Tokens) Check() error {
	switch {
	case t.Admin == "" && (t.Approver != "" || t.Reader != ""):
		return errors.New("admin_approver_token and admin_reader_token need admin_token beside them: without it everyone may do everything")
	case t.Approver != "" && (t.Approver == t.Admin || t.Approver == t.Reader), t.Reader != "" &&
		t.Reader == t.Admin:
		return errors.New("admin_token, admin_approver_token and admin_reader_token must differ: who has one would have another's rights")
	}
	return nil
}

// Role returns the role of a token, in a time that reveals no token.
func (t Tokens) Role(token string) Role {
	role, is := NoRole, sha256.Sum256([]byte(token))
	for r, want := range map[Role]string{Reader: t.Reader, Approver: t.Approver, Admin: t.Admin} {
		sum := sha256.Sum256([]byte(want))
		if same := subtle.ConstantTimeCompare(is[:], sum[:]) == 1; same && want != "" {
			role = r
		}
	}
	return role
}

// Shown returns the role of a request's bearer token.
func (t Tokens) Shown(r *http.Request) Role {
	given, ok := bearer(r)
	if !ok {
		return NoRole
	}
	return t.Role(given)
}

// RulesVersion is the header with the version of the rules in force.
const RulesVersion = "X-Rules-Version"

// Upstream is the header that names the model server, if there are several.
const Upstream = "X-Upstream"

// WriteJSON answers with a document. It ignores a caller that has left.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// Send writes a body. It gives up on a caller that accepts nothing for as long as idle, and would hold the
// memory for ever; 0: no limit.
func Send(w http.ResponseWriter, body []byte, idle time.Duration) {
	const piece = 64 << 10
	ctl := http.NewResponseController(w)
	for len(body) > 0 {
		if idle > 0 {
			_ = ctl.SetWriteDeadline(time.Now().Add(idle)) // a writer without deadlines has none to move
		}
		n, err := w.Write(body[:min(len(body), piece)])
		if err != nil {
			return // a caller who has left gets nothing
		}
		body = body[n:]
	}
}

// ServeUntil serves until ctx ends; the caller stops the server. An error means that the server ended by
// itself.
func ServeUntil(ctx context.Context, srv *http.Server, l net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

// RequestID is the header that names a request, in and out.
const RequestID = "X-Request-Id"

// maxRequestID bounds the id of a caller, in bytes.
const maxRequestID = 128

// RequestIDOf returns the id that the caller gave, if it is printable, or else a new one.
func RequestIDOf(r *http.Request) string {
	id := r.Header.Get(RequestID)
	odd := func(c rune) bool { return c <= ' ' || c > '~' }
	if id == "" || len(id) > maxRequestID || strings.ContainsFunc(id, odd) {
		return "req" + rand.Text()
	}
	return id
}

// Address returns the host that a request comes from.
func Address(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}
