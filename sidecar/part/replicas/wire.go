package replicas

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strconv"
	"time"
)

// Bounds of an answer; no question here has a longer one.
const (
	maxLine = 64 << 10
	maxText = 64 << 20
	maxList = 1 << 14
	maxDeep = 64 // nested lists, which a server uses to describe itself
)

var errAnswer = errors.New("the server does not speak the Redis protocol, or gives more than was asked for")

// dialer opens connections that check answers before the library reads them: it allocates any length that
// an answer names, which may end the program.
func dialer(t *tls.Config, most time.Duration) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		var d interface {
			DialContext(context.Context, string, string) (net.Conn, error)
		} = &net.Dialer{Timeout: most}
		if t != nil {
			d = &tls.Dialer{NetDialer: &net.Dialer{Timeout: most}, Config: t}
		}
		c, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &checkedConn{Conn: c}, nil
	}
}

// checkedConn is a connection whose answers are within bounds.
type checkedConn struct {
	net.Conn
	answers answerChecker
}

// Read returns what came, if it is a valid answer.
func (c *checkedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if wrong := c.answers.take(b[:n]); wrong != nil {
		return 0, wrong
	}
	return n, err
}

// answerChecker follows the answers of a connection, in pieces of any size.
type answerChecker struct {
	line []byte // not yet ended
	text int    // missing bytes of a text
	list int    // missing entries of lists
	deep int    // depth of nested lists
}

func (w *answerChecker) take(b []byte) error {
	for len(b) > 0 {
		if w.text > 0 {
			n := min(w.text, len(b))
			w.text, b = w.text-n, b[n:]
			continue
		}
		at := bytes.IndexByte(b, '\n')
		if len(w.line)+max(at, 0) > maxLine || at < 0 && len(w.line)+len(b) > maxLine {
			return errAnswer
		}
		if at < 0 {
			w.line = append(w.line, b...)
			return nil
		}
		line := append(w.line, b[:at]...)
		b, w.line = b[at+1:], w.line[:0]
		if err := w.checkLine(bytes.TrimSuffix(line, []byte("\r"))); err != nil {
			return err
		}
	}
	return nil
}

// checkLine checks a line that announces what follows.
func (w *answerChecker) checkLine(line []byte) error {
	if len(line) == 0 {
		return errAnswer
	}
	if w.list > 0 {
		w.list--
	} else {
		w.deep = 0
	}
	switch line[0] {
	case '+', '-', ':':
		return nil
	case '$', '*':
	default:
		return errAnswer
	}
	n, err := strconv.Atoi(string(line[1:]))
	switch {
	case err != nil || n < -1:
		return errAnswer
	case n == -1:
	case line[0] == '$' && n <= maxText:
		w.text = n + len("\r\n")
	case line[0] == '*' && n <= maxList-w.list && w.deep <= maxDeep:
		w.list, w.deep = w.list+n, w.deep+1
	default:
		return errAnswer
	}
	return nil
}
