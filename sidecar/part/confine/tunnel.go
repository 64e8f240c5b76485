package confine

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"
)

// tunnel connects the program to the server, and looks at nothing that goes through.
func (v *visit) tunnel(ctx context.Context, w http.ResponseWriter, r *http.Request, to Server, t *tally) {
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
	idle := newWatch(limitsOf(v.set).Idle, hangUp)
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

// pump copies until the end, and tells the other side of it. After an error nothing can go
// on in either direction.
func pump(to net.Conn, from io.Reader, hangUp func()) {
	if _, err := io.CopyBuffer(writerOnly{to}, from, make([]byte, 32<<10)); err != nil ||
		closeWrite(to) != nil {
		hangUp()
	}
}

// writerOnly hides ReadFrom, which would copy past the counting.
type writerOnly struct{ io.Writer }

// closeWrite ends one direction; the other one goes on.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// failed answers where the connection could not be made; the last look at the address may
// have refused it.
func (v *visit) failed(w http.ResponseWriter, r *http.Request, err error) {
	refusal := refusalOf(err, v.use)
	if refusal.status == http.StatusForbidden {
		_, err = v.note(r.Method, v.use, err)
		refusal = refusalOf(err, v.use)
	} else {
		v.Log.Debug("no connection", "event", "connection_failed", "server", v.server(),
			"ticket", v.account.ticket, "detail", err.Error())
		v.Metrics.Connections.WithLabelValues("failed").Inc()
	}
	refusal.write(w, r)
}

// watch ends what has not moved for a while.
type watch struct {
	after time.Duration
	timer *time.Timer
}

func newWatch(after time.Duration, hangUp func()) watch {
	return watch{after, time.AfterFunc(after, hangUp)}
}

func (w watch) stop() { w.timer.Stop() }

func (w watch) moved() { w.timer.Reset(w.after) }
