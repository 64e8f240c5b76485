package urls

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Servers are those that an agent can reach on its own machine, and those that it must not.
type Servers struct {
	Known bool // false: no server is special
	// HOST:PORT or HOST:FIRST-LAST of the guard, the model server and the gateway: class control
	Own   []string
	Ports []int // of this machine, for agents; 0: all
	// reports whether only a command of the agent can have opened a port of this machine; nil: unknown
	Opened func(port int) bool
}

// unprivileged is the first port that every user may open.
const unprivileged = 1024

// Judge marks uses of the guard's own servers and of those that the agent may use. Only the URL itself
// qualifies, and only by an address of this machine or the name localhost: another name may lead elsewhere
// next time.
func (s Servers) Judge(uses []Use) {
	if !s.Known {
		return
	}
	for i := range uses {
		u := &uses[i]
		if slices.ContainsFunc(s.Own, func(own string) bool { return u.isAt(own) }) {
			u.Class = Control
			continue
		}
		u.Opened = u.Class == Loopback && u.Hop == 0 && isLocal(u.Host) &&
			(slices.Contains(s.Ports, u.Port) || slices.Contains(s.Ports, 0) || u.Port >= unprivileged &&
				s.Opened != nil && s.Opened(u.Port))
	}
}

// isAt reports whether a URL is at a HOST:PORT. All addresses of this machine are one.
func (u *Use) isAt(server string) bool {
	host, ports, err := net.SplitHostPort(server)
	first, last, found := PortsOf(ports)
	if err != nil || !found || u.Port < first || u.Port > last {
		return false
	}
	return strings.EqualFold(host, u.Host) || u.Class == Loopback && (host == "" || isLocal(host))
}

// PortsOf parses a port or a range of ports: 18789, 18789-18899.
func PortsOf(text string) (first, last int, ok bool) {
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		to = from
	}
	a, errA := strconv.ParseUint(from, 10, 16)
	b, errB := strconv.ParseUint(to, 10, 16)
	return int(a), int(b), errA == nil && errB == nil && a > 0 && a <= b
}

// AddressOf returns the HOST:PORT of the server at a base URL; empty: none.
func AddressOf(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return ""
	}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443",
		"redis": "6379", "rediss": "6379"}[u.Scheme]))
}

// isLocal reports whether a host is this machine: localhost, a loopback address, or 0.0.0.0.
func isLocal(host string) bool {
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ClassOf(addr) == Loopback || strings.EqualFold(host, "localhost")
}
