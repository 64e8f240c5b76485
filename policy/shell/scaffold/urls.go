package scaffold

import (
	"net/netip"
	"net/url"
	"strings"
)

type ucase struct {
	ID, URL, Method, Technique string
	Resolve                    map[string][][]string
	Redirects                  []string
	Expect                     struct {
		Decision   string
		Acceptable []string
		Why        string
	}
}

var special = func() (l []netip.Prefix) {
	for _, s := range strings.Fields("0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 ::/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8") {
		l = append(l, netip.MustParsePrefix(s))
	}
	return
}()

func badIP(ip netip.Addr) bool {
	if ip.Zone() != "" {
		return true
	}
	ip = ip.Unmap()
	for _, p := range special {
		if p.Contains(ip) {
			return true
		}
	}
	if ip.Is6() { // ISATAP
		b := ip.As16()
		if (b[8] == 0 || b[8] == 2) && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe {
			return true
		}
	}
	return !ip.IsGlobalUnicast()
}
func urlGuard(c ucase) string {
	ask := c.Method != "GET" && c.Method != "HEAD"
	seq := append([]string{c.URL}, c.Redirects...)
	if len(seq) > 11 {
		return "deny"
	}
	prev := ""
	for i, s := range seq {
		d := oneURL(s, c.Resolve)
		if d == "deny" {
			return "deny"
		}
		if d == "ask" {
			ask = true
		}
		u, _ := url.Parse(s)
		if i > 0 && prev == "https" && strings.EqualFold(u.Scheme, "http") {
			ask = true
		}
		prev = strings.ToLower(u.Scheme)
	}
	if ask {
		return "ask"
	}
	return "allow"
}
func oneURL(s string, dns map[string][][]string) string {
	for _, r := range s {
		if r <= 0x20 || r == 0x7f || r == '\\' || r > 0x7e {
			return "deny" // callers give the punycode form; anything else is refused
		}
	}
	u, err := url.Parse(s)
	if err != nil || u.Opaque != "" || u.User != nil {
		return "deny"
	}
	if sc := strings.ToLower(u.Scheme); sc != "http" && sc != "https" {
		return "deny"
	}
	raw := u.Host
	if strings.Contains(raw, "%") || raw == "" {
		return "deny"
	}
	if p := u.Port(); p != "" && p != "80" && p != "443" {
		return "deny"
	}
	h := strings.ToLower(u.Hostname())
	if strings.HasPrefix(raw, "[") {
		ip, err := netip.ParseAddr(h)
		if err != nil || ip.Is4() || badIP(ip) {
			return "deny"
		}
		return "allow"
	}
	h = strings.TrimSuffix(h, ".")
	if h == "" {
		return "deny"
	}
	last := h[strings.LastIndex(h, ".")+1:]
	if (last[0] >= '0' && last[0] <= '9') || strings.HasPrefix(last, "0x") { // WHATWG "ends in a number"
		ip, err := netip.ParseAddr(h)
		if err != nil || badIP(ip) || strings.HasSuffix(u.Hostname(), ".") {
			return "deny"
		}
		return "allow"
	}
	if !strings.Contains(h, ".") {
		return "deny"
	}
	for _, sfx := range []string{"localhost", "local", "internal", "localdomain", "lan", "home.arpa", "intranet", "corp", "svc", "test", "invalid", "onion", "metadata.goog"} {
		if h == sfx || strings.HasSuffix(h, "."+sfx) {
			return "deny"
		}
	}
	ask := len(u.RawQuery) > 1024
	for _, l := range strings.Split(h, ".") {
		if len(l) > 20 && !strings.HasPrefix(l, "xn--") {
			ask = true
		}
	}
	ans, ok := dns[h]
	if !ok || len(ans) == 0 || len(ans[0]) == 0 {
		return "deny"
	}
	for _, a := range ans { // every answer the resolver gives during the request, connect-time check included
		for _, x := range a {
			ip, err := netip.ParseAddr(x)
			if err != nil || badIP(ip) {
				return "deny"
			}
		}
	}
	if ask {
		return "ask"
	}
	return "allow"
}
