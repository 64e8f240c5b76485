package setup

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAlive(t *testing.T) {
	for _, c := range []struct {
		name, path string
		status     int
		body       string
		ready      bool
		want       string // of the error; empty: none
	}{
		{"it lives", "/healthz", 200, `{"ok": true, "status": "live"}`, false, ""},
		{"it is ready", "/readyz", 200, `{"ready": true, "failing": [], "rules": "1"}`, true, ""},
		{"no model server", "/readyz", 503, `{"ready": false, "failing": ["upstream: cannot be reached"]}`, true, "not ready: upstream: cannot be reached"},
		{"another server", "/healthz", 200, `hello`, false, "not as this program does"},
		{"another one with JSON", "/healthz", 200, `{"status": "UP"}`, false, "answered 200"},
		{"one that refuses", "/healthz", 403, `{"error": {}}`, false, "answered 403"},
		{"a long answer", "/healthz", 200, `{"ok": true, "x": "` + strings.Repeat("x", 2<<20) + `"}`, false, "not as this program does"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != c.path {
					t.Errorf("asked for %s", r.URL.Path)
				}
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			}))
			defer s.Close()
			_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
			for _, listen := range []string{"127.0.0.1:" + port, ":" + port, "0.0.0.0:" + port,
				"[::]:" + port} {
				err := checkHealth(t.Context(), s.Client(), listen, c.ready)
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: %v", listen, err)
				}
			}
		})
	}
}

func TestAliveNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := checkHealth(t.Context(), http.DefaultClient, l.Addr().String(), false); err == nil ||
		!strings.Contains(err.Error(), "no server answers at") {
		t.Errorf("nothing listens: %v", err)
	}
	if err := checkHealth(t.Context(), http.DefaultClient, "8001", false); err == nil ||
		!strings.Contains(err.Error(), "127.0.0.1:8001") {
		t.Errorf("no address: %v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := checkHealth(gone, http.DefaultClient, "127.0.0.1:1", false); err == nil {
		t.Error("the caller left, and there is no error")
	}
}
