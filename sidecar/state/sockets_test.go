package state

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestListening(t *testing.T) {
	if _, err := os.Stat("/proc/net/tcp"); err != nil {
		t.Skip("SKIPPED: what listens is known on Linux only")
	}
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", ":0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("this machine has no %s: %v", address, err)
			continue
		}
		port := l.Addr().(*net.TCPAddr).Port
		if !Listening()[port] {
			t.Errorf("a server at %s is not seen", address)
		}
		l.Close()
		if _, open := Listening()[port]; open {
			t.Errorf("a server at %s that has ended is still seen", address)
		}
	}
}

// Without IPv6 there is one table, and without any nobody can tell.
func TestListeningWithoutIPv6(t *testing.T) {
	v4 := filepath.Join(t.TempDir(), "tcp")
	if err := os.WriteFile(v4, []byte("1: 0100007F:0BB8 00000000:0000 0A 0:0 00:0 0 1000 0 1\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if open := listening(v4, v4+"6"); !open[3000] {
		t.Errorf("without IPv6: %v", open)
	}
	if open := listening(v4+"4", v4); open != nil {
		t.Errorf("without a table: %v", open)
	}
}

func TestListener(t *testing.T) {
	for line, want := range map[string]int{
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode":                      0,
		"   1: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 303028 2 0000 100 0 0 10 0": 3000,
		"   1: 0100007F:0BB8 0100007F:8000 01 00000000:00000000 00:00000000 00000000  1000        0 303028 2 0000 100 0 0 10 0": 0,
		"   0: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 0:0 00:0 0 1000 0 1":              8080,
		"": 0, "0: x:zz y 0A 1 2 3 1000": 0, "0: : y 0A 1 2 3 1000": 0,
	} {
		port, _, ok := listener(line)
		if ok != (want != 0) || ok && port != want {
			t.Errorf("%q: %d, %v; want %d", line, port, ok, want)
		}
	}
}

func FuzzListener(f *testing.F) {
	f.Add("   1: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 0 1")
	f.Fuzz(func(t *testing.T, line string) {
		if port, _, ok := listener(line); ok && (port < 0 || port > 65535) {
			t.Error(port)
		}
	})
}
