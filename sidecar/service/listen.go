package service

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

// listener is the one that was given to this process, or one at an address that a flag names. One that
// was given stays where it is, whatever the flag says by now, and the address is its then.
func (r *running) listener(name string, address *string, flag string) (net.Listener, error) {
	l, err := r.Given.Listener(name)
	if err != nil || l == nil {
		if err == nil {
			l, err = listenAt(*address, flag)
		}
		return l, err
	}
	r.taken = !r.Given.Before()
	r.Log.Info("a socket is open already", "event", "socket_given", "socket", name,
		"address", l.Addr().String())
	if !same(l.Addr(), *address) {
		if r.Given.Before() {
			r.Log.Warn("the socket of the process before is kept: another address is taken at a restart, and not by SIGUSR2",
				"event", "socket_elsewhere", "socket", name, "address", l.Addr().String(),
				"setting", *address)
		}
		*address = l.Addr().String()
	}
	return l, nil
}

// same reports whether a socket is at an address. Port 0 is any.
func same(socket net.Addr, address string) bool {
	is, tcp := socket.(*net.TCPAddr)
	want, err := net.ResolveTCPAddr("tcp", address)
	if !tcp || err != nil {
		return false
	}
	all := func(ip net.IP) bool { return ip == nil || ip.IsUnspecified() }
	return (want.Port == is.Port || want.Port == 0) && (want.IP.Equal(is.IP) || all(want.IP) && all(is.IP))
}

// listenAt takes an address that a flag names.
func listenAt(address, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%w; is another server running there? Choose another address with --%s", err,
			flag)
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
