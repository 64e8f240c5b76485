package urls

import (
	"net/netip"
	"net/url"
	"strings"
)

// Lookup gives the addresses of a host, as a resolver does.
type Lookup func(host string) ([]netip.Addr, error)

// MaxRedirects is how many redirects may be followed.
const MaxRedirects = 10

// Literal classifies a URL that a fetch tool was given, by what it says alone. An
// empty method is GET.
func Literal(url, method string) Use {
	return read(url, method, webPorts)
}

// Follow classifies a URL and all that it redirects to, with every address that each name has. Redirects are
// Location headers, so they may be relative. With a nil lookup, no name is looked up.
func Follow(url, method string, redirects []string, lookup Lookup) []Use {
	u := Literal(url, method).resolved(lookup)
	uses := []Use{u}
	for _, location := range redirects {
		u = u.Redirect(location).resolved(lookup)
		uses = append(uses, u)
		if u.Class == Malformed {
			break // where it would go on is unknown
		}
	}
	return uses
}

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

// target is the URL that a Location header means. One that cannot be read is left as
// it is, to be refused.
func (u Use) target(location string) string {
	switch {
	case hasScheme(location) || strange(location):
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

// resolved is u with the addresses that its name has.
func (u Use) resolved(lookup Lookup) Use {
	if lookup == nil || u.Class != Public || u.isAddress() {
		return u
	}
	addrs, err := lookup(u.Host)
	if err != nil {
		addrs = nil
	}
	return u.At(addrs)
}

// At is u, given the addresses of its host. The worst of them says what it is; without
// any it is unknown.
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
		if c := ClassOf(a); harm[c] > harm[u.Class] {
			u.Class, u.Address = c, a.String()
		}
	}
	return u
}

// harm orders the classes that an address can have.
var harm = map[string]int{Public: 0, Loopback: 1, Private: 2, Metadata: 3}

func (u Use) isAddress() bool {
	_, err := netip.ParseAddr(u.Host)
	return err == nil
}
