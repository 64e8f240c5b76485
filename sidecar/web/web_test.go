package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// Who reads slowly gets all of a body, and who does not read is given up.
func TestSend(t *testing.T) {
	const size, idle = 24 << 20, 250 * time.Millisecond
	ended := make(chan time.Duration, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		Send(w, make([]byte, size), idle)
		ended <- time.Since(began)
	}))
	defer srv.Close()
	for _, reads := range []bool{true, false} {
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if reads {
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := int64(0)
			for n := int64(1); n > 0; got += n {
				time.Sleep(20 * time.Millisecond) // slow, and longer than the deadline in all
				if n, err = io.CopyN(io.Discard, res.Body, 1<<20); err != nil && err != io.EOF {
					t.Fatal(err)
				}
			}
			if got != size {
				t.Errorf("%d bytes came", got)
			}
		}
		select {
		case took := <-ended:
			if reads && took < idle {
				t.Errorf("it took %s: the deadline was not moved", took)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("it still waits")
		}
	}
}
