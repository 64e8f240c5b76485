package urls

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Lookup resolves a host.
type Lookup func(host string) ([]netip.Addr, error)

const MaxRedirects = 10

// Literal classifies a URL that a fetch tool was given, without resolving it. An empty method means GET.
func Literal(url, method string) Use {
	return parse(url, method, webPorts)
}

// Follow classifies a URL and all that it redirects to, by all addresses of each name. Redirects are Location
// headers, and may be relative. A nil lookup resolves nothing.
func Follow(url, method string, redirects []string, lookup Lookup) []Use {
	u := Literal(url, method).resolve(lookup)
	uses := []Use{u}
	for _, location := range redirects {
		u = u.Redirect(location).resolve(lookup)
		uses = append(uses, u)
		if u.Class == Malformed {
			break // where it would go on is unknown
		}
	}
	return uses
}

// Tunnel classifies the HOST:PORT of a CONNECT to a proxy, which sees neither what is sent nor the method.
func Tunnel(authority string) Use {
	u := parse("https://"+authority, "", webPorts)
	u.URL = authority
	if u.Class == Malformed {
		return u
	}
	if at := portIndex(authority); at < 0 || at == len(authority)-1 || strings.ContainsAny(authority, "/?#") {
		return u.malformed(MarkForm)
	}
	u.mark(MarkTunnel)
	return u
}

// HostPort returns the server of a use, as for a dialer or a Host header.
func (u Use) HostPort() string { return net.JoinHostPort(u.Host, strconv.Itoa(u.Port)) }

// Redirect classifies what a server redirects to in answer to u.
func (u Use) Redirect(location string) Use {
	next := Literal(u.target(location), u.Method)
	next.Hop = u.Hop + 1
	if next.Hop > MaxRedirects {
		return next.malformed(MarkRedirects)
	}
	if next.Class == Malformed {
		return next
	}
	if u.Scheme == "https" && next.Scheme == "http" {
		next.mark(MarkDowngrade)
	}
	if !next.SameOrigin(u) {
		next.mark(MarkOtherOrigin)
	}
	return next
}

// target returns the URL that a Location header means. It returns an unreadable one unchanged, to be refused.
func (u Use) target(location string) string {
	switch {
	case hasScheme(location) || hasOddCharacters(location):
		return location
	case strings.HasPrefix(location, "//"):
		return u.Scheme + ":" + location
	}
	base, err := url.Parse(u.URL)
	if err != nil {
		return location
	}
	ref, err := url.Parse(location)
	if err != nil {
		return location
	}
	return base.ResolveReference(ref).String()
}

// SameOrigin reports whether both have the same scheme, host and port.
func (u Use) SameOrigin(v Use) bool {
	return u.Scheme == v.Scheme && u.Host == v.Host && u.Port == v.Port
}

// resolve returns u with the addresses of its name.
func (u Use) resolve(lookup Lookup) Use {
	if lookup == nil || u.Class != Public || u.isAddress() {
		return u
	}
	addrs, err := lookup(u.Host)
	if err != nil {
		addrs = nil
	}
	return u.At(addrs)
}

// At returns u with the addresses of its host. The worst of them decides; without any the class is Unknown.
func (u Use) At(addrs []netip.Addr) Use {
	switch u.Class {
	case BadScheme, Malformed, Dynamic:
		return u
	}
	if len(addrs) == 0 {
		u.Class = Unknown
		return u
	}
	u.Address = addrs[0].String()
	for _, a := range addrs {
		if c := ClassOf(a); severity[c] > severity[u.Class] {
			u.Class, u.Address = c, a.String()
		}
	}
	return u
}

// severity orders the classes of addresses.
var severity = map[string]int{Public: 0, Loopback: 1, Private: 2, Metadata: 3}

func (u Use) isAddress() bool {
	_, err := netip.ParseAddr(u.Host)
	return err == nil
}
