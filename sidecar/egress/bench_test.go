package egress

import (
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// What the proxy adds: a request of plain HTTP, a tunnel with TLS and one request, and 1 MB
// through a tunnel; each beside the same without it.
func BenchmarkRequest(b *testing.B) {
	hello := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }
	r := newRig(b, Limits{}, hello)
	through := r.client(b).Transport.(*http.Transport)
	fresh := through.Clone() // a connection for each request, as the proxy has to servers
	fresh.DisableKeepAlives = true
	direct := &http.Transport{DisableKeepAlives: true, TLSClientConfig: r.net.TLS()}
	for _, row := range []struct {
		name string
		via  *http.Transport
		url  string
	}{
		{"plain/direct", direct, r.net.Plain.URL}, {"plain/proxy", through, "http://example.com/"},
		{"tls/direct", direct, r.net.Secure.URL}, {"tls/proxy", fresh, "https://example.com/"},
	} {
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				req, err := http.NewRequest("GET", row.url, nil)
				ruletest.Must(b, err)
				res, err := row.via.RoundTrip(req)
				ruletest.Must(b, err)
				if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != 200 {
					b.Fatal(res.Status, err)
				}
				res.Body.Close()
			}
		})
	}
}

func allow(string, string, syscall.RawConn) error { return nil }

func BenchmarkTunnel(b *testing.B) {
	const most = 1 << 20
	r := newBare(b, ruleset.NetworkLimits{}, func(c net.Conn) {
		block := make([]byte, 64<<10)
		for {
			if _, err := c.Write(block); err != nil {
				return
			}
		}
	})
	server, err := r.cfg.Connect(b.Context(), &net.Dialer{Control: allow}, "tcp", here+":443")
	ruletest.Must(b, err)
	defer server.Close()
	tunnel, _ := r.connect(b, "example.com:443")
	for name, c := range map[string]net.Conn{"direct": server, "proxy": tunnel} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(most)
			into := make([]byte, most)
			for b.Loop() {
				if _, err := io.ReadFull(c, into); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
