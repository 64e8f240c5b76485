package testkit

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// The system gives ports from 32768 on to connections and to listeners that ask for any (Linux,
// ip_local_port_range), also one that a test has looked up and let go.
const first, end = 10000, 32000

// Address is an address at which no process listens. No other test gets it until t ends: a socket of UDP with
// its number is open as long.
func Address(t testing.TB) string {
	t.Helper()
	for {
		at := net.JoinHostPort("127.0.0.1", strconv.Itoa(first+rand.IntN(end-first)))
		held, err := net.ListenPacket("udp", at)
		if err != nil {
			continue
		}
		if l, err := net.Listen("tcp", at); err == nil {
			l.Close()
			t.Cleanup(func() { held.Close() })
			return at
		}
		held.Close()
	}
}
