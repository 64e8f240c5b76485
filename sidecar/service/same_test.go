package service

import (
	"net"
	"testing"
)

// A socket that was given is at the address of the setting, however that is written.
func TestSame(t *testing.T) {
	for _, row := range []struct {
		ip, address string
		want        bool
	}{
		{"127.0.0.1", "127.0.0.1:8001", true}, {"127.0.0.1", "127.0.0.1:0", true}, {"127.0.0.1", "localhost:8001", true}, {"::", ":8001", true}, {"::", "0.0.0.0:8001", true},
		{"127.0.0.1", "127.0.0.1:8002", false}, {"127.0.0.1", ":8001", false}, {"::", "127.0.0.1:8001", false}, {"127.0.0.1", "8001", false},
	} {
		if got := listensAt(&net.TCPAddr{IP: net.ParseIP(row.ip), Port: 8001}, row.address); got != row.want {
			t.Errorf("%s, %s: %v", row.ip, row.address, got)
		}
	}
	if listensAt(&net.UnixAddr{Name: "/run/x"}, "127.0.0.1:8001") {
		t.Error("a socket in a folder has an address")
	}
}
