package confine

import (
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

// What the proxy adds to a request of plain HTTP, and to one with TLS in a tunnel of its own.
func BenchmarkRequest(b *testing.B) {
	hello := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }
	r := newRig(b, proxyLimits{}, hello)
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

// What it adds to 1 MB through a tunnel that is open.
func BenchmarkTunnel(b *testing.B) {
	const most = 1 << 20
	r := newBare(b, NetworkLimits{}, func(c net.Conn) {
		block := make([]byte, 64<<10)
		for {
			if _, err := c.Write(block); err != nil {
				return
			}
		}
	})
	server, err := r.cfg.Connect(b.Context(),
		&net.Dialer{Control: func(string, string, syscall.RawConn) error { return nil }}, "tcp", here+":443")
	ruletest.Must(b, err)
	defer server.Close()
	tunnel, _ := r.connect(b, "example.com:443")
	for _, row := range []struct {
		name string
		conn net.Conn
	}{{"direct", server}, {"proxy", tunnel}} {
		b.Run(row.name, func(b *testing.B) {
			b.SetBytes(most)
			into := make([]byte, most)
			for b.Loop() {
				if _, err := io.ReadFull(row.conn, into); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
