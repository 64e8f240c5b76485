package urls

import (
	"net/netip"
	"slices"
)

// ClassOf returns the class of an address: public, private, loopback or metadata. One with a zone, or an
// invalid one, is private.
func ClassOf(addr netip.Addr) string {
	if !addr.IsValid() || addr.Zone() != "" {
		return Private
	}
	addr = addr.Unmap()
	switch {
	case slices.Contains(metadata, addr):
		return Metadata
	case addr.IsLoopback(), addr.IsUnspecified(): // connecting to 0.0.0.0 reaches this machine
		return Loopback
	case addr.Is4():
		if !within(special4, addr) {
			return Public
		}
		return Private
	}
	if inner, found := embeddedIPv4(addr); found {
		if ClassOf(inner) == Metadata {
			return Metadata
		}
	} else if global6.Contains(addr) && !within(special6, addr) {
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
	case within(lastFour, addr):
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

// IANA's special-purpose registries, https://www.iana.org/assignments/iana-ipv4-special-registry and
// iana-ipv6-special-registry, with what was reserved before, and multicast.
var (
	special4 = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
		"172.16.0.0/12",
		"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
		"192.168.0.0/16",
		"192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4")
	special6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3ffe::/16",
		"3fff::/20")

	global6   = netip.MustParsePrefix("2000::/3") // all that is given out
	sixToFour = netip.MustParsePrefix("2002::/16")
	teredo    = netip.MustParsePrefix("2001::/32")
	lastFour  = prefixes("::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48")
)

// metadata are the addresses at which clouds tell a machine its secrets.
var metadata = parseAll(netip.MustParseAddr, []string{"169.254.169.254", "169.254.170.2", "169.254.170.23",
	"169.254.169.253", "169.254.0.23", "169.254.10.10", "100.100.100.200", "192.0.0.192", "168.63.129.16",
	"fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fe80::a9fe:a9fe"})

func prefixes(texts ...string) []netip.Prefix { return parseAll(netip.MustParsePrefix, texts) }

func parseAll[T any](parse func(string) T, texts []string) (out []T) {
	for _, s := range texts {
		out = append(out, parse(s))
	}
	return out
}

// blockedPorts are the bad ports of the Fetch standard: servers of other protocols may take a request for
// commands. https://fetch.spec.whatwg.org/#port-blocking
var blockedPorts = []int{1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95,
	101, 102,
	103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513,
	514, 515,
	526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
	3659, 4045,
	4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080}
