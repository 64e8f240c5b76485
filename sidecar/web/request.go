package web

import (
	"crypto/rand"
	"net"
	"net/http"
	"strings"
)

// RequestID is the header that names a request, in and out.
const RequestID = "X-Request-Id"

// maxRequestID is how long the id of a caller may be, in bytes.
const maxRequestID = 128

// RequestIDOf is the id that a caller gave its request, if that can be shown as it is; else a
// new one.
func RequestIDOf(r *http.Request) string {
	id := r.Header.Get(RequestID)
	odd := func(c rune) bool { return c <= ' ' || c > '~' }
	if id == "" || len(id) > maxRequestID || strings.ContainsFunc(id, odd) {
		return "req" + rand.Text()
	}
	return id
}

// Address is the host that a request comes from.
func Address(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}
