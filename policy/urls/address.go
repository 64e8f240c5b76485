package urls

import (
	"net/netip"
	"slices"
	"sync"
)

// ClassOf returns the class of an address: public, private, loopback or metadata. One with a zone, or an
// invalid one, is private.
func ClassOf(addr netip.Addr) string {
	if !addr.IsValid() || addr.Zone() != "" {
		return Private
	}
	addr = addr.Unmap()
	switch {
	case slices.Contains(metadata(), addr):
		return Metadata
	case addr.IsLoopback(), addr.IsUnspecified(): // connecting to 0.0.0.0 reaches this machine
		return Loopback
	case addr.Is4():
		if !within(special4(), addr) {
			return Public
		}
		return Private
	}
	if inner, found := embeddedIPv4(addr); found {
		if ClassOf(inner) == Metadata {
			return Metadata
		}
	} else if global6.Contains(addr) && !within(special6(), addr) {
		return Public
	}
	return Private
}

func within(ps []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(ps, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// embeddedIPv4 returns the IPv4 address that an IPv6 address leads to: NAT64, 6to4, Teredo, ISATAP, and the
// compatible and translated forms.
func embeddedIPv4(addr netip.Addr) (netip.Addr, bool) {
	b := addr.As16()
	last := netip.AddrFrom4([4]byte(b[12:]))
	switch {
	case within(lastFour(), addr):
		return last, true
	case sixToFour.Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	case teredo.Contains(addr):
		return netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}), true
	case b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe: // ISATAP
		return last, true
	}
	return netip.Addr{}, false
}

var (
	special4 = parsed("special4", netip.MustParsePrefix)
	special6 = parsed("special6", netip.MustParsePrefix)
	lastFour = parsed("last-four", netip.MustParsePrefix)
	metadata = parsed("addresses", netip.MustParseAddr)

	global6   = netip.MustParsePrefix("2000::/3") // all that is given out
	sixToFour = netip.MustParsePrefix("2002::/16")
	teredo    = netip.MustParsePrefix("2001::/32")
)

// parsed returns the values of a list, parsed on first use.
func parsed[T any](list string, parse func(string) T) func() []T {
	return sync.OnceValue(func() (out []T) {
		for _, s := range lists.List(list) {
			out = append(out, parse(s))
		}
		return out
	})
}
