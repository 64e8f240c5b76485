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

// forward sends a request of plain HTTP on. It goes to the server that was judged, on a
// connection of its own: one that was opened under other rules is never used again.
func (v *visit) forward(ctx context.Context, w http.ResponseWriter, r *http.Request, to Server, t *tally) {
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
		return &metered{server, newWatch(limitsOf(v.set).Idle, hangUp), t}, nil
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

// metered is a connection whose bytes are counted, and which ends when none come.
type metered struct {
	net.Conn
	idle  watch
	tally *tally
}

func (m *metered) Read(p []byte) (int, error) {
	return counted(m.Conn.Read, p, &m.tally.received, m.idle)
}
func (m *metered) Write(p []byte) (int, error) {
	return counted(m.Conn.Write, p, &m.tally.sent, m.idle)
}

func (m *metered) Close() error {
	m.idle.stop()
	return m.Conn.Close()
}

// counted reads or writes, and counts it.
func counted(move func([]byte) (int, error), p []byte, count *atomic.Int64, idle watch) (int, error) {
	n, err := move(p)
	if n > 0 {
		count.Add(int64(n))
		idle.moved()
	}
	return n, err
}

// reader is r with its bytes counted.
func (w watch) reader(r io.Reader, count *atomic.Int64) io.Reader {
	return readerFunc(func(p []byte) (int, error) { return counted(r.Read, p, count, w) })
}

// writer is w with its bytes counted.
func (w watch) writer(to io.Writer, count *atomic.Int64) io.Writer {
	return writerFunc(func(p []byte) (int, error) { return counted(to.Write, p, count, w) })
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
