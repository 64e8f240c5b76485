package service

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

// listenAt takes an address that a flag names.
func listenAt(address, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%w; is another server running there? Choose another address with --%s", err, flag)
	case err != nil:
		return nil, fmt.Errorf("%w; --%s takes HOST:PORT of this machine, such as 127.0.0.1:8001", err, flag)
	}
	return l, nil
}

// isLocal reports whether a listener is reached from this machine alone.
func isLocal(l net.Listener) bool {
	at, ok := l.Addr().(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// hosts are the names of the setting hosts, and that of an address to listen on.
func hosts(s config.Settings, address string) []string {
	names := strings.FieldsFunc(s.Hosts, func(r rune) bool { return r == ',' || r == ' ' })
	if host, _, err := net.SplitHostPort(address); err == nil {
		names = append(names, host)
	}
	return names
}
