package confine

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

// bare is a server of one's own behind the proxy, that speaks on the connection itself.
func bare(t testing.TB, r *rig, serve func(net.Conn)) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ruletest.Must(t, err)
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { defer c.Close(); serve(c) })
		}
	})
	t.Cleanup(func() { l.Close(); r.stop(); open.Wait() })
	r.cfg.Connect = Connect(func(ctx context.Context, d *net.Dialer,
		network, address string) (net.Conn, error) {
		if err := d.Control(network, address, nil); err != nil {
			return nil, err
		}
		return (&net.Dialer{}).DialContext(ctx, network, l.Addr().String())
	})
}

// newBare is a rig whose only server speaks for itself.
func newBare(t testing.TB, limits NetworkLimits, serve func(net.Conn)) *rig {
	return newRigWith(t, proxyLimits{Listening: 16}, echo, func(r *rig) {
		bare(t, r, serve)
		set := limitsOf(r.set.Load())
		set.Idle, set.Total = cmp.Or(limits.Idle, set.Idle), cmp.Or(limits.Total, set.Total)
		set.Open, set.Servers = cmp.Or(limits.Open, set.Open), cmp.Or(limits.Servers, set.Servers)
	})
}

// What leaves is framed anew, without what is meant for the proxy alone.
func TestWhatLeaves(t *testing.T) {
	for name, row := range map[string]struct{ ask, want, not string }{
		"hop by hop": {
			"GET http://example.com/a HTTP/1.1\r\nHost: other.dev\r\n" + credentials +
				"Connection: keep-alive, X-Secret\r\nX-Secret: 1\r\nProxy-Connection: keep-alive\r\nKeep-Alive: 5\r\nTE: gzip\r\nX-Kept: 1\r\n\r\n",
			"GET /a HTTP/1.1\r\nHost: example.com\r\nX-Kept: 1\r\nConnection: close\r\n\r\n", "Secret",
		},
		"two lengths": {
			"POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\n" + credentials +
				"Content-Length: 30\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
			"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\na\r\n0\r\n\r\n", "Content-Length",
		},
		"a second request inside": {
			"POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\n" + credentials +
				"Content-Length: 4\r\n\r\nGET GET http://inside.dev/ HTTP/1.1\r\nHost: a\r\n\r\n",
			"Content-Length: 4\r\nConnection: close\r\n\r\nGET ", "inside",
		},
		"trailers": {
			"POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\n" + credentials +
				"Transfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n0\r\nX-T: 1\r\n\r\n",
			"0\r\n", "Proxy-",
		},
	} {
		got := make(chan string, 1)
		r := newBare(t, NetworkLimits{}, func(c net.Conn) {
			var all bytes.Buffer
			req, err := http.ReadRequest(bufio.NewReader(io.TeeReader(c, &all)))
			if err == nil {
				_, _ = io.Copy(io.Discard, req.Body)
			}
			got <- all.String()
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
		})
		r.may(func(p *Pass) { p.Sends, p.Named = true, patterns(t, "example.com") })
		_, in := r.raw(t, row.ask)
		if said := answer(http.ReadResponse(in, nil)); said != "200 ok" {
			t.Errorf("%s: %s", name, said)
		}
		if left := <-got; !strings.Contains(left, row.want) || strings.Contains(left, row.not) ||
			strings.Contains(left, "Proxy-") {
			t.Errorf("%s: %q", name, left)
		}
	}
}

// What no HTTP server should read gets an answer, and nothing leaves.
func TestMalformed(t *testing.T) {
	r := newRig(t, proxyLimits{}, echo)
	for ask, want := range map[string]string{
		"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n" + credentials +
			"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n": "501",
		"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n" + credentials +
			"Content-Length: 1\r\nContent-Length: 2\r\n\r\n": "400",
		"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n" + credentials +
			"X : 1\r\n\r\n": "400",
		"GET http://example.com/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n" + credentials +
			"\r\n": "400",
		"GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\n" + credentials +
			"\r\n": "400 example.com:443 is refused: TLS is not opened here. Instead: use CONNECT for https.",
		"GET ftp://example.com/ HTTP/1.1\r\nHost: example.com\r\n" + credentials +
			"\r\n": "403",
		"GET http://user:hidden@example.com/ HTTP/1.1\r\nHost: example.com\r\n" + credentials +
			"\r\n": "403",
		"CONNECT example.com HTTP/1.1\r\nHost: example.com\r\n" + credentials +
			"\r\n": "403",
		"CONNECT user@example.com:443 HTTP/1.1\r\nHost: example.com\r\n" + credentials +
			"\r\n": "403",
		"CONNECT [fe80::1%25eth0]:443 HTTP/1.1\r\nHost: example.com\r\n" + credentials +
			"\r\n": "403",
		"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n" + credentials +
			"Content-Length: 3\r\n\r\nabc": "400",
		"CONNECT /x HTTP/1.1\r\nHost: example.com\r\n" + credentials +
			"\r\n": "403",
		"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n" + credentials +
			"Upgrade: x\r\nConnection: upgrade\r\n\r\n": "403",
	} {
		_, in := r.raw(t, ask)
		line, err := in.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 "+want) {
			t.Errorf("%q: %q %v", ask, line, err)
		}
	}
	if len(r.net.Seen()) != 0 {
		t.Error(r.net.Seen())
	}
}

// A tunnel carries what was sent before it was open, and one direction may end before the
// other.
func TestTunnel(t *testing.T) {
	r := newBare(t, NetworkLimits{}, func(c net.Conn) {
		all, _ := io.ReadAll(c) // until the program has ended its direction
		_, _ = fmt.Fprintf(c, "%d bytes", len(all))
	})
	c, in := r.raw(t, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n"+credentials+"\r\nearly")
	if res, err := http.ReadResponse(in, &http.Request{Method: "CONNECT"}); err != nil ||
		res.StatusCode != 200 {
		t.Fatal(res, err)
	}
	_, err := c.Write(make([]byte, 1<<20))
	ruletest.Must(t, err)
	ruletest.Must(t, c.(*net.TCPConn).CloseWrite())
	if got, err := io.ReadAll(in); err != nil || string(got) != fmt.Sprint(1<<20+5, " bytes") {
		t.Errorf("%q %v", got, err)
	}
	r.finish()
	ruletest.Soon(t, "counted", func() bool { return len(r.logged()) == 2 })
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.records[1]; c.Sent != 1<<20+5 || c.Received != 13 {
		t.Errorf("%+v", c)
	}
}

// Whatever hangs up or hangs, nothing stays open: TestMain looks for what does.
func TestHangUps(t *testing.T) {
	silent := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	ends := func(t *testing.T, in io.Reader) {
		t.Helper()
		if _, err := io.Copy(io.Discard, in); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Error("it is still open")
		}
	}
	const ask = "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n" + credentials + "\r\n"
	t.Run("the server, in a tunnel", func(t *testing.T) {
		_, in := newBare(t, NetworkLimits{}, func(net.Conn) {}).connect(t, "example.com:443")
		ends(t, in)
	})
	t.Run("the server, before it answers", func(t *testing.T) {
		_, in := newBare(t, NetworkLimits{},
			func(c net.Conn) { _, _ = c.Read(make([]byte, 1<<10)) }).raw(t, ask)
		if got := answer(http.ReadResponse(in, nil)); !strings.HasPrefix(got,
			"502 example.com:80 is refused: there is no connection to it") {
			t.Error(got)
		}
	})
	t.Run("the server, in its answer", func(t *testing.T) {
		_, in := newBare(t, NetworkLimits{}, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1<<10))
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n")
		}).raw(t, ask)
		if got := answer(http.ReadResponse(in, nil)); !strings.Contains(got, "unexpected EOF") {
			t.Errorf("half an answer is taken for a whole one: %s", got)
		}
	})
	t.Run("the program", func(t *testing.T) {
		reached, gone := make(chan struct{}, 2), make(chan struct{}, 2)
		r := newBare(t, NetworkLimits{}, func(c net.Conn) { reached <- struct{}{}; silent(c); gone <- struct{}{} })
		c, _ := r.connect(t, "example.com:443")
		<-reached
		c.Close()
		<-gone
		c, _ = r.raw(t, ask)
		<-reached // a request is logged before its server is dialled
		c.Close()
		<-gone
	})
	t.Run("nobody moves", func(t *testing.T) {
		r := newBare(t, NetworkLimits{Idle: 50 * time.Millisecond}, silent)
		_, in := r.connect(t, "example.com:443")
		ends(t, in)
		_, in = r.raw(t, ask)
		ends(t, in)
	})
	t.Run("the program does not read", func(t *testing.T) {
		left := make(chan struct{}, 2)
		r := newBare(t, NetworkLimits{Idle: 100 * time.Millisecond}, func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			for {
				if _, err := c.Write(make([]byte, 64<<10)); err != nil {
					left <- struct{}{}
					return
				}
			}
		})
		r.raw(t, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n"+credentials+"\r\n")
		r.raw(t, ask)
		<-left
		<-left
	})
	t.Run("too long", func(t *testing.T) {
		r := newBare(t, NetworkLimits{Total: 2 * time.Second}, func(c net.Conn) {
			for {
				if _, err := io.WriteString(c, "x"); err != nil {
					return
				}
				time.Sleep(time.Millisecond) // a server that never ends
			}
		})
		_, in := r.connect(t, "example.com:443")
		ends(t, in)
	})
	t.Run("the header comes slowly", func(t *testing.T) {
		r := newRig(t, proxyLimits{Header: 50 * time.Millisecond}, echo)
		_, in := r.raw(t, "GET http://example.com/ HTTP/1.1\r\nHost: exa")
		ends(t, in)
	})
	t.Run("the command ends, and does not read", func(t *testing.T) {
		r := newBare(t, NetworkLimits{}, func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			for {
				if _, err := c.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		})
		r.raw(t, ask)
		ruletest.Soon(t, "the request is there", func() bool { return len(r.logged()) == 1 })
		r.finish()
		ruletest.Soon(t, "settled", func() bool { return len(r.logged()) == 2 })
	})
	t.Run("the command ends", func(t *testing.T) {
		r := newBare(t, NetworkLimits{}, silent)
		_, in := r.connect(t, "example.com:443")
		_, plain := r.raw(t, ask)
		ruletest.Soon(t, "the request is there", func() bool { return len(r.logged()) == 2 })
		r.finish()
		ends(t, in)
		ends(t, plain)
	})
	t.Run("the proxy ends", func(t *testing.T) {
		r := newBare(t, NetworkLimits{}, silent)
		_, in := r.connect(t, "example.com:443")
		_, plain := r.raw(t, ask)
		ruletest.Soon(t, "the request is there", func() bool { return len(r.logged()) == 2 })
		r.stop()
		ends(t, in)
		ends(t, plain)
	})
}

// One command cannot hold everything open, nor can who shows no ticket.
func TestMost(t *testing.T) {
	r := newBare(t, NetworkLimits{Open: 2, Servers: 3},
		func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	first, _ := r.connect(t, "example.com:443")
	r.connect(t, "example.com:443")
	status := func(server string) string {
		c, in := r.raw(t, "CONNECT "+server+" HTTP/1.1\r\nHost: a\r\n"+credentials+"\r\n")
		defer c.Close()
		line, _ := in.ReadString('\n')
		return line
	}
	if got := status("example.com:443"); !strings.HasPrefix(got,
		"HTTP/1.1 503 it has too many connections open") {
		t.Error(got)
	}
	first.Close()
	ruletest.Soon(t, "there is room again",
		func() bool { return strings.Contains(status("github.com:443"), "200") })
	for _, server := range []string{"inside.dev:443", "meta.dev:443"} {
		ruletest.Soon(t, "there is room again",
			func() bool { return strings.Contains(status(server), "403") })
	}
	ruletest.Soon(t, "too many servers", func() bool {
		return strings.Contains(status("other.dev:443"),
			"403 other.dev:443 is refused: it has asked for too many different servers")
	})
	if n := len(r.logged()); n != 3 {
		t.Errorf("%d records", n)
	}
	var idle []net.Conn
	for range 16 {
		c, _ := r.raw(t, "G")
		idle = append(idle, c)
	}
	ruletest.Soon(t, "one too many is closed", func() bool {
		c, in := r.raw(t, "G")
		defer c.Close()
		_, err := in.ReadByte()
		return err != nil
	})
	for _, c := range idle {
		c.Close()
	}
	ruletest.Soon(t, "others are served again", func() bool {
		c, in := r.raw(t, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		defer c.Close()
		line, _ := in.ReadString('\n')
		return strings.Contains(line, "407")
	})
}

// An answer flows as it comes, the interim ones, too; a request waits for them.
func TestFlows(t *testing.T) {
	more := make(chan struct{})
	r := newRig(t, proxyLimits{}, func(w http.ResponseWriter, in *http.Request) {
		if in.URL.Path == "/refuses" {
			w.WriteHeader(http.StatusExpectationFailed)
			return
		}
		_ = http.NewResponseController(w).EnableFullDuplex()
		w.Header().Set("Link", "</a>")
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = io.WriteString(w, "one ")
		_ = http.NewResponseController(w).Flush()
		<-more
		body, _ := io.ReadAll(in.Body)
		_, _ = fmt.Fprintf(w, "%s", body)
	})
	r.may(func(p *Pass) { p.Sends, p.Named = true, patterns(t, "example.com") })
	var hints atomic.Int64
	ctx := httptrace.WithClientTrace(context.Background(),
		&httptrace.ClientTrace{Got1xxResponse: func(int,
			textproto.MIMEHeader) error {
			hints.Add(1)
			return nil
		}})
	req, err := http.NewRequestWithContext(ctx, "POST", "http://example.com/", strings.NewReader("two"))
	ruletest.Must(t, err)
	res, err := r.client(t).Do(req)
	ruletest.Must(t, err)
	defer res.Body.Close()
	start := make([]byte, 4)
	if _, err := io.ReadFull(res.Body, start); err != nil || string(start) != "one " || hints.Load() != 1 {
		t.Errorf("%q %v, %d hints", start, err, hints.Load())
	}
	close(more)
	if rest, err := io.ReadAll(res.Body); err != nil || string(rest) != "two" {
		t.Errorf("%q %v", rest, err)
	}
	_, in := r.raw(t, "POST http://example.com/refuses HTTP/1.1\r\nHost: a\r\n"+credentials+
		"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n")
	if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 417") {
		t.Errorf("a body is asked for that the server does not want: %q %v", line, err)
	}
}

// A protocol that is switched to, in plain HTTP and in a tunnel.
func TestUpgrade(t *testing.T) {
	r := newRig(t, proxyLimits{}, func(w http.ResponseWriter, in *http.Request) {
		w.Header().Set("Upgrade", "echo")
		w.Header().Set("Connection", "Upgrade")
		w.WriteHeader(http.StatusSwitchingProtocols)
		c, buf, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		line, _ := buf.ReadString('\n')
		_, _ = io.WriteString(c, line)
	})
	r.may(func(p *Pass) { p.Sends = true })
	const rest = "Host: example.com\r\nConnection: Upgrade\r\nUpgrade: echo\r\n"
	plain, in := r.raw(t, "GET http://example.com/ HTTP/1.1\r\n"+rest+credentials+"\r\n")
	tunnel, inside := r.connect(t, "example.com:80")
	_, err := io.WriteString(tunnel, "GET / HTTP/1.1\r\n"+rest+"\r\n")
	ruletest.Must(t, err)
	for c, in := range map[net.Conn]*bufio.Reader{plain: in, tunnel: inside} {
		res, err := http.ReadResponse(in, nil)
		ruletest.Must(t, err)
		if res.StatusCode != 101 || res.Header.Get("Upgrade") != "echo" {
			t.Fatal(res)
		}
		_, err = io.WriteString(c, "hello\n")
		ruletest.Must(t, err)
		if line, err := in.ReadString('\n'); err != nil || line != "hello\n" {
			t.Errorf("%q %v", line, err)
		}
	}
}

// Whatever a program asks for, it gets an answer, and nothing is reached but public addresses.
func FuzzRequestLine(f *testing.F) {
	for _, s := range []string{"CONNECT example.com:443", "CONNECT [::1]:443", "CONNECT a@b:443",
		"GET http://example.com/", "GET http://127.1/", "GET http://example.com\\@127.0.0.1/",
		"GET http://[::ffff:10.0.0.1]/", "GET http://[fe80::1%25lo]/", "OPTIONS *", "GET //example.com/",
		"CONNECT example.com:443#", "GET http://b\u00fccher.de/", "GET http://localhost./", "PRI *"} {
		f.Add(s)
	}
	r := newRig(f, proxyLimits{Header: time.Second}, echo)
	limitsOf(r.set.Load()).Servers = 1 << 30
	f.Fuzz(func(t *testing.T, line string) {
		c, in := r.raw(t, line+" HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n"+credentials+"\r\n")
		ruletest.Must(t, c.(*net.TCPConn).CloseWrite())
		_, err := in.ReadString('\n')
		if err != nil && err != io.EOF && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%q: %v", line, err)
		}
		for _, to := range r.net.Seen() {
			if !to.Addr().IsGlobalUnicast() || to.Addr().IsPrivate() {
				t.Errorf("%q connects to %s", line, to)
			}
		}
	})
}
