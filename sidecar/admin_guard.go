package sidecar

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// guard says who may ask: whoever shows the token, and never a web page. A page
// that a browser on this machine has open can reach a local listener, under its
// own name if that name's address is changed to ours (DNS rebinding); so Host
// must be a name of this machine, and an Origin must be this listener.
func (a *Admin) guard(r *http.Request) error {
	if a.Local && !a.known(r.Host) {
		return refusal(http.StatusForbidden, "this listener is not known as "+r.Host, "ask it as localhost, 127.0.0.1 or [::1]")
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if from, err := url.Parse(origin); err != nil || from.Host == "" || from.Host != r.Host {
			return refusal(http.StatusForbidden, "web pages of other hosts may not ask", "use curl, or gpt-oss-executor apply")
		}
	}
	if a.Token == "" {
		return nil
	}
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	// The sums are of one length, so that the time does not tell that of the token.
	is, want := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(a.Token))
	if !ok || subtle.ConstantTimeCompare(is[:], want[:]) != 1 {
		return refusal(http.StatusUnauthorized, "the token is missing or wrong", "send it with: Authorization: Bearer TOKEN (the setting admin_token)")
	}
	return nil
}

// known reports whether a Host header names this machine, or the listener as it
// was set.
func (a *Admin) known(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]") // without a port
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || host != "" && host == strings.ToLower(a.Host) {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
