package urls

import (
	"net"
	"strconv"
	"strings"
)

// Tunnel classifies the HOST:PORT to which a client wants a proxy to connect it, with CONNECT. The proxy sees
// neither what is sent there nor the method.
func Tunnel(authority string) Use {
	u := read("https://"+authority, "", webPorts)
	u.URL = authority
	if u.Class == Malformed {
		return u
	}
	if at := portAt(authority); at < 0 || at == len(authority)-1 || strings.ContainsAny(authority, "/?#") {
		return u.malformed(MarkForm)
	}
	u.mark(MarkTunnel)
	return u
}

// HostPort is the server of a use, as an address to dial or a Host header has it.
func (u Use) HostPort() string { return hostPort(u.Host, u.Port) }

func hostPort(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// portAt is where the colon before a port stands; -1: there is none.
func portAt(authority string) int {
	at := strings.LastIndexByte(authority, ':')
	if at < strings.LastIndexByte(authority, ']') {
		return -1
	}
	return at
}
