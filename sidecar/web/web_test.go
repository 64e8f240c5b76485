package web

import (
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// Who reads slowly gets all of a body, and who does not read is given up.
func TestSend(t *testing.T) {
	const size, idle = 24 << 20, 250 * time.Millisecond
	for _, reads := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			began, ended := time.Now(), make(chan struct{})
			go func() {
				defer close(ended)
				Send(pipeWriter{near}, make([]byte, size), idle)
				near.Close()
			}()
			got := int64(0)
			for n := int64(1); reads && n > 0; got += n {
				time.Sleep(20 * time.Millisecond) // slow, and longer than the deadline in all
				n, _ = io.CopyN(io.Discard, far, 1<<20)
			}
			<-ended
			if took := time.Since(began); reads && (got != size || took < idle) || !reads && took != idle {
				t.Errorf("%d bytes came in %s", got, took)
			}
		})
	}
}

// pipeWriter answers a request on a connection in memory.
type pipeWriter struct{ net.Conn }

func (pipeWriter) Header() http.Header { return nil }
func (pipeWriter) WriteHeader(int)     {}
