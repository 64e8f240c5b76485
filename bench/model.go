//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// models is the answer to every GET.
const models = `{"object":"list","data":[{"id":"gpt-oss","object":"model","created":1760000000,"owned_by":"vllm","max_model_len":131072}]}`

// model is a cheap model server, which sends the same reply to every request.
type model struct {
	listener net.Listener
	reply    atomic.Pointer[reply]
	waiting  chan wait
	open     atomic.Int64 // open streams
	ended    atomic.Int64 // streams that callers ended
	wrote    atomic.Int64 // events written
}

// wait is an answer that is due later.
type wait struct {
	due time.Time
	now chan struct{}
}

func startModel() (*model, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	clock, err := newAlarm()
	if err != nil {
		return nil, err
	}
	m := &model{listener: l, waiting: make(chan wait, 4096)}
	go m.delay(clock)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // closed
			}
			go func() { defer c.Close(); m.serve(c) }()
		}
	}()
	return m, nil
}

// delay sends answers when they are due, in order, since all have the same delay.
func (m *model) delay(clock *alarm) {
	for w := range m.waiting {
		clock.until(w.due)
		close(w.now)
	}
}

func (m *model) serve(c net.Conn) {
	in := bufio.NewReaderSize(c, 8<<10)
	var body bytes.Buffer
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body.Reset()
		if _, err := body.ReadFrom(req.Body); err != nil {
			return
		}
		switch r := m.reply.Load().kind(body.Bytes()); {
		case req.Method == http.MethodGet:
			err = answer(c, []byte(models))
		case r.events != nil:
			err = m.stream(c, in, r)
		default:
			if r.delay > 0 {
				w := wait{time.Now().Add(r.delay), make(chan struct{})}
				m.waiting <- w
				<-w.now
			}
			if r.turns != nil {
				err = answer(c, r.turn(body.Bytes()))
			} else {
				err = answer(c, r.body)
			}
		}
		if err != nil {
			return
		}
	}
}

func answer(c net.Conn, body []byte) error {
	out := net.Buffers{fmt.Appendf(nil,
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body)), body}
	_, err := out.WriteTo(c)
	return err
}

// stream writes each event separately. It notices at once if the caller leaves, also between events; then
// the connection cannot be reused.
func (m *model) stream(c net.Conn, in *bufio.Reader, r *reply) error {
	m.open.Add(1)
	defer m.open.Add(-1)
	gone := make(chan struct{})
	if r.gap > 0 {
		go func() {
			_, _ = in.Peek(1)
			close(gone)
		}()
	}
	head := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n")
	if _, err := c.Write(bytes.Join([][]byte{head, r.events[0]}, nil)); err != nil {
		return err
	}
	for _, e := range r.events[1:] {
		if r.gap > 0 {
			select {
			case <-time.After(r.gap):
			case <-gone:
				m.ended.Add(1)
				return io.EOF
			}
		}
		if _, err := c.Write(e); err != nil {
			return err
		}
		m.wrote.Add(1)
	}
	if r.breaks {
		return io.EOF
	}
	if _, err := io.WriteString(c, "0\r\n\r\n"); err != nil || r.gap > 0 {
		return io.EOF
	}
	return nil
}
