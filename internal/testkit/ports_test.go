package testkit

import (
	"net"
	"testing"
)

// Addresses that are not listened at yet differ, and each can be listened at.
func TestAddress(t *testing.T) {
	given := map[string]bool{}
	for range 200 {
		at := Address(t)
		l, err := net.Listen("tcp", at)
		if err != nil || given[at] {
			t.Fatalf("%s, given before %v: %v", at, given[at], err)
		}
		l.Close()
		given[at] = true
	}
}

// A socket holds the number of an address until its test ends.
func TestAddressIsHeld(t *testing.T) {
	at := Address(t)
	if held, err := net.ListenPacket("udp", at); err == nil {
		held.Close()
		t.Errorf("%s is not held", at)
	}
}
