// Package web is what every HTTP surface of the sidecar shares: who may ask, answers in JSON, serving until
// told to stop, and which requests are let in: none while memory is short, and otherwise as many at once as
// the rules say, one of each session in turn. It knows no route and asks no model.
package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// Names are the hosts under which a listener may be asked. A page that a browser has
// open can reach listeners that its user can, under its own name if that name's address
// is changed to theirs (DNS rebinding). What tells it from a program are the headers
// Host and Origin, which it cannot choose.
type Names struct {
	Local bool     // the listener is reached from this machine alone: only its own names are taken
	Token bool     // a bearer token is wanted, which no page has: away from this machine any name is taken
	Hosts []string // further names, in any case
}

// Refuse says why a request is not taken, and what helps; empty: it is.
func (n Names) Refuse(r *http.Request) (why, hint string) {
	if r.Host == "" && !n.takes("") {
		return "the request has no Host", "send the header Host, as HTTP/1.1 wants it"
	}
	if !n.takes(hostname(r.Host)) {
		hint = "name it in the setting hosts, or set a token"
		if n.Local {
			hint = "use localhost, 127.0.0.1 or [::1], or name it in the setting hosts"
		}
		return "this listener does not have the name " + r.Host, hint
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		from, err := url.Parse(origin)
		if err != nil || from.Host == "" || from.Host != r.Host && !n.named(hostname(from.Host)) {
			return "web pages of other hosts may not send requests",
				"name the page's host in the setting hosts, or send the request from a program"
		}
	}
	return "", ""
}

// takes reports whether a listener may be asked as host.
func (n Names) takes(host string) bool {
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() || n.named(host) {
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

func (n Names) named(host string) bool {
	return host != "" && slices.ContainsFunc(n.Hosts,
		func(h string) bool { return strings.EqualFold(h, host) })
}

// hostname is the host of a Host header, in small letters.
func hostname(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]") // without a port
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// Bearer reports whether a request shows the token, in a time that tells neither the
// token nor its length.
func Bearer(r *http.Request, token string) bool {
	given, ok := bearer(r)
	is, want := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(token))
	return ok && subtle.ConstantTimeCompare(is[:], want[:]) == 1
}

// bearer is the token that a request shows. The case of a scheme tells nothing (RFC 9110, 11.1).
func bearer(r *http.Request) (string, bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return token, ok && strings.EqualFold(scheme, "Bearer")
}
