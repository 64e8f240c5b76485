package servers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Names is a DNS server. It gives the answers of a name in order, and then the
// last one again and again, as a server does that changes its mind.
type Names struct {
	mu      sync.Mutex
	answers map[string][][]string
	asked   map[dnsmessage.Question]int
}

// ServeNames starts one, and gives a resolver that asks only it.
func ServeNames(t testing.TB, answers map[string][][]string) (*Names, *net.Resolver) {
	t.Helper()
	s, address := ServeNamesAt(t, "127.0.0.1:0", answers)
	var d net.Dialer
	return s, &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return d.DialContext(ctx, "udp", address)
	}}
}

// ServeNamesAt starts one at an address, and says which one it is.
func ServeNamesAt(t testing.TB, address string, answers map[string][][]string) (s *Names, at string) {
	t.Helper()
	conn, err := net.ListenPacket("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	s = &Names{answers: answers, asked: map[dnsmessage.Question]int{}}
	done := make(chan struct{})
	go func() { defer close(done); s.serve(conn) }()
	t.Cleanup(func() { conn.Close(); <-done })
	return s, conn.LocalAddr().String()
}

func (s *Names) serve(conn net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		answer := s.answer(m)
		if packed, err := answer.Pack(); err == nil {
			_, _ = conn.WriteTo(packed, from)
		}
	}
}

func (s *Names) answer(m dnsmessage.Message) dnsmessage.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := m.Questions[0]
	out := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true,
		RecursionAvailable: true}, Questions: m.Questions}
	sequence, known := s.answers[strings.TrimSuffix(q.Name.String(), ".")]
	if !known {
		out.RCode = dnsmessage.RCodeNameError
		return out
	}
	now := sequence[min(s.asked[q], len(sequence)-1)]
	s.asked[q]++
	for _, text := range now {
		addr := netip.MustParseAddr(text)
		head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: dnsmessage.ClassINET}
		switch {
		case q.Type == dnsmessage.TypeA && addr.Is4():
			out.Answers = append(out.Answers, dnsmessage.Resource{Header: head,
				Body: &dnsmessage.AResource{A: addr.As4()}})
		case q.Type == dnsmessage.TypeAAAA && !addr.Is4():
			out.Answers = append(out.Answers, dnsmessage.Resource{Header: head,
				Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	return out
}

// Times is how often the IPv4 addresses of a name were asked for.
func (s *Names) Times(name string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for q, k := range s.asked {
		if q.Type == dnsmessage.TypeA && strings.TrimSuffix(q.Name.String(), ".") == name {
			n += k
		}
	}
	return n
}

// Servers are all servers of the world: one for http and one for https, on loopback.
// Whatever address the client connects to, its own checks see that address first.
type Servers struct {
	Plain, Secure *httptest.Server
	mu            sync.Mutex
	dialled       []netip.AddrPort
}

func ServeHTTP(t testing.TB, h http.Handler) *Servers {
	w := &Servers{Plain: httptest.NewServer(h), Secure: httptest.NewTLSServer(h)}
	t.Cleanup(func() { w.Plain.Close(); w.Secure.Close() })
	return w
}

// TLS trusts the secure server, by the one name that its certificate has.
func (w *Servers) TLS() *tls.Config {
	roots := x509.NewCertPool()
	roots.AddCert(w.Secure.Certificate())
	return &tls.Config{RootCAs: roots, ServerName: "example.com"}
}

func (w *Servers) Connect(ctx context.Context, d *net.Dialer, network, address string) (net.Conn, error) {
	if err := d.Control(network, address, nil); err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err} // as the dialer of net does
	}
	to := netip.MustParseAddrPort(address)
	w.mu.Lock()
	w.dialled = append(w.dialled, to)
	w.mu.Unlock()
	server := w.Plain
	if to.Port() == 443 {
		server = w.Secure
	}
	return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
}

func (w *Servers) Seen() []netip.AddrPort {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dialled
}
