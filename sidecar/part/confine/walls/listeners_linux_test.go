package walls

import (
	"net"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func TestListeners(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := listeners(uint16(port))
	if want := inodeOf(int(f.Fd())); err != nil || !slices.Equal(got, []string{want}) {
		t.Errorf("%v %v, want %s", got, err, want)
	}
	l.Close()
	f.Close()
	if got, err := listeners(uint16(port)); err != nil || len(got) > 0 {
		t.Errorf("%v %v after it was closed", got, err)
	}
}

func FuzzDiagAnswer(f *testing.F) {
	f.Add(tcpRequest(unix.AF_INET, 80))
	f.Add(localRequest())
	f.Fuzz(func(t *testing.T, packet []byte) {
		for _, least := range []int{tcpMsgSize, localMsgSize} {
			all := 0
			_, err := readDiag(packet, least, func(body []byte) {
				if all += len(body); len(body) < least {
					t.Errorf("%d bytes, and at least %d were asked for", len(body), least)
				}
			})
			if err == nil && all > len(packet) {
				t.Errorf("%d bytes out of %d", all, len(packet))
			}
		}
	})
}
