package urls_test

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// checkDial fails if a public URL would be dialled anywhere else than the guard says.
func checkDial(t *testing.T, u urls.Use) {
	t.Helper()
	if addr, ok := inetAton(u.Host); ok && urls.ClassOf(addr) != urls.Public {
		t.Errorf("%q is public, and is the address %s", u.URL, addr)
	}
	if addr, err := netip.ParseAddr(u.Host); err == nil && urls.ClassOf(addr) != urls.Public {
		t.Errorf("%q is public, and is the address %s", u.URL, addr)
	}
	parsed, err := url.Parse(u.URL)
	if err != nil || parsed.Host == "" {
		return // net/http would refuse it, or it is a word without a scheme
	}
	host := strings.ToLower(strings.TrimSuffix(parsed.Hostname(), "."))
	if addr, err := netip.ParseAddr(host); err == nil {
		host = addr.Unmap().String()
	}
	port := parsed.Port()
	if guard, err := netip.ParseAddr(u.Host); err == nil && guard.Unmap().String() != host || err != nil &&
		u.Host != host ||
		port != "" && port != strconv.Itoa(u.Port) {
		t.Errorf("%q: the guard reads %s port %d, net/url %s port %s", u.URL, u.Host, u.Port, host, port)
	}
}

// inetAton reads the spellings of IPv4 addresses that C programs take: 127.1, 0x7f.1,
// 017700000001.
func inetAton(s string) (netip.Addr, bool) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 32)
		if err != nil || strings.Contains(p, "_") {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			n <<= 8 * (3 - i)
		}
		sum += n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

func BenchmarkLiteral(b *testing.B) {
	for b.Loop() {
		urls.Literal("https://api.github.com/repos/golang/go/issues?state=open&page=2", "GET")
	}
}

func BenchmarkLiteralAddress(b *testing.B) {
	for b.Loop() {
		urls.Literal("http://[2620:0:1::1]:8080/", "GET")
	}
}

// FuzzLiteral: nothing panics, and what is public is read by net/url as the guard read
// it, and is no spelling that would be dialled as an address of another class.
func FuzzLiteral(f *testing.F) {
	for _, s := range []string{"https://go.dev/", "http://[::1]:80/", "http://127.1/", "http://a@b/",
		"git@go.dev:x", "http://go.dev:8080/x?y#z", "ext::x", "http://[2620:fe::fe]/", "//go.dev",
		"http://xn--a.dev/"} {
		f.Add(s, "/b")
	}
	f.Fuzz(func(t *testing.T, s, location string) {
		for _, u := range append(urls.Follow(s, "GET", []string{location}, lookup),
			urls.Word(s, false, "GET"), urls.Word(s, false, "GIT")) {
			if u.Class == urls.Public {
				checkDial(t, u)
			}
		}
		if u := urls.Word(s, true, "GET"); u.Class == urls.Public {
			t.Errorf("%q is public, but not known", s)
		}
	})
}
