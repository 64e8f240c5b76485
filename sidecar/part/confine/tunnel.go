package confine

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync/atomic"
	"time"
)

// tunnel connects the program to the server and does not look at the data.
func (v *proxyRequest) tunnel(ctx context.Context, w http.ResponseWriter, r *http.Request,
	to Server, t *traffic) {
	server, err := to.Dial(ctx, "tcp", "")
	if err != nil {
		v.failed(w, r, err)
		return
	}
	defer server.Close()
	client, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	hangUp := func() { client.Close(); server.Close() }
	defer context.AfterFunc(ctx, hangUp)()
	idle := newIdleTimer(limitsOf(v.set).Idle, hangUp)
	defer idle.stop()
	there := make(chan struct{})
	early := io.LimitReader(buf, int64(buf.Reader.Buffered())) // what the program has sent already
	go func() {
		defer close(there)
		pump(server, idle.reader(io.MultiReader(early, client), &t.sent), hangUp)
	}()
	pump(client, idle.reader(server, &t.received), hangUp)
	<-there
}

// pump copies until the end and closes that direction. After an error it ends both.
func pump(to net.Conn, from io.Reader, hangUp func()) {
	if _, err := io.CopyBuffer(writerOnly{to}, from, make([]byte, 32<<10)); err != nil ||
		closeWrite(to) != nil {
		hangUp()
	}
}

// writerOnly hides ReadFrom, which would bypass the counting.
type writerOnly struct{ io.Writer }

// closeWrite ends one direction of a connection.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// failed answers if no connection could be made; the last check of the address may have refused it.
func (v *proxyRequest) failed(w http.ResponseWriter, r *http.Request, err error) {
	refusal := refusalOf(err, v.use)
	if refusal.status == http.StatusForbidden {
		_, err = v.record(r.Method, v.use, err)
		refusal = refusalOf(err, v.use)
	} else {
		v.Log.Debug("no connection", "event", "connection_failed", "server", v.server(),
			"ticket", v.account.ticket, "detail", err.Error())
		v.Metrics.Connections.WithLabelValues("failed").Inc()
	}
	refusal.write(w, r)
}

// idleTimer ends a connection without traffic.
type idleTimer struct {
	after time.Duration
	timer *time.Timer
}

func newIdleTimer(after time.Duration, hangUp func()) idleTimer {
	return idleTimer{after, time.AfterFunc(after, hangUp)}
}

func (w idleTimer) stop() { w.timer.Stop() }

func (w idleTimer) reset() { w.timer.Reset(w.after) }

// forward sends a request of plain HTTP to the server that was judged, on a connection of its own: a
// connection opened under other rules is never used again.
func (v *proxyRequest) forward(ctx context.Context, w http.ResponseWriter, r *http.Request,
	to Server, t *traffic) {
	host := strings.TrimSuffix(to.Use.HostPort(), ":80") // as browsers write it
	transport := &http.Transport{
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 256 << 10,
		ExpectContinueTimeout: 5 * time.Second,
	}
	client := http.NewResponseController(w)
	_ = client.EnableFullDuplex() // or a body that is still being sent would be cut off by the answer
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	defer context.AfterFunc(ctx, func() { // the program may have stopped reading
		past := time.Unix(1, 0)
		_, _ = client.SetReadDeadline(past), client.SetWriteDeadline(past)
	})()
	transport.DialContext = func(dialling context.Context, network, _ string) (net.Conn, error) {
		server, err := to.Dial(dialling, network, "")
		if err != nil {
			return nil, err
		}
		return &meteredConn{server, newIdleTimer(limitsOf(v.set).Idle, hangUp), t}, nil
	}
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Host, p.Out.URL.User, p.Out.Host = to.Use.HostPort(), nil, host
			p.Out.URL.RawQuery = p.In.URL.RawQuery // ReverseProxy takes away what net/url cannot read
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) { v.failed(w, r, err) },
		ErrorLog:     slog.NewLogLogger(v.Log.Handler(), slog.LevelDebug),
	}
	proxy.ServeHTTP(w, r.WithContext(ctx))
}

// meteredConn counts the bytes of a connection and resets its idle timer.
type meteredConn struct {
	net.Conn
	idle  idleTimer
	tally *traffic
}

func (m *meteredConn) Read(p []byte) (int, error) {
	return countBytes(m.Conn.Read, p, &m.tally.received, m.idle)
}
func (m *meteredConn) Write(p []byte) (int, error) {
	return countBytes(m.Conn.Write, p, &m.tally.sent, m.idle)
}

func (m *meteredConn) Close() error {
	m.idle.stop()
	return m.Conn.Close()
}

// countBytes reads or writes and counts the bytes.
func countBytes(move func([]byte) (int, error), p []byte, count *atomic.Int64, idle idleTimer) (int, error) {
	n, err := move(p)
	if n > 0 {
		count.Add(int64(n))
		idle.reset()
	}
	return n, err
}

// reader counts what is read from r.
func (w idleTimer) reader(r io.Reader, count *atomic.Int64) io.Reader {
	return readerFunc(func(p []byte) (int, error) { return countBytes(r.Read, p, count, w) })
}

// writer counts what is written to w.
func (w idleTimer) writer(to io.Writer, count *atomic.Int64) io.Writer {
	return writerFunc(func(p []byte) (int, error) { return countBytes(to.Write, p, count, w) })
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
