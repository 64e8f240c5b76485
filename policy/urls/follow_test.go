package urls_test

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

var book = map[string][]string{
	"go.dev": {"216.239.32.21"}, "cdn.go.dev": {"216.239.32.21", "2001:4860:4802:32::15"},
	"inside.dev": {"10.0.0.5"}, "mixed.dev": {"216.239.32.21", "127.0.0.1", "169.254.169.254", "10.0.0.1"},
	"mapped.dev": {"::ffff:10.0.0.1"}, "zone.dev": {"fe80::1%eth0"}, "empty.dev": {},
}

func lookup(host string) (addrs []netip.Addr, err error) {
	answers, found := book[host]
	if !found {
		return nil, errors.New("no such host")
	}
	for _, a := range answers {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return addrs, nil
}

func TestFollow(t *testing.T) {
	for _, row := range []struct{ url, redirects, want string }{
		{"https://go.dev/", "", "public"},
		{"https://cdn.go.dev/", "", "public"},
		{"https://GO.dev./", "", "public"},
		{"https://inside.dev/", "", "private"},
		{"https://mixed.dev/", "", "metadata"},
		{"https://mapped.dev/", "", "private"},
		{"https://zone.dev/", "", "private"},
		{"https://empty.dev/", "", "unknown"},
		{"https://nobody.dev/", "", "unknown"},
		{"http://localhost/", "", "loopback"},
		{"http://9.9.9.9/", "", "public, address"},
		{"https://go.dev/a", "/b", "public | public"},
		{"https://go.dev/a", "b?c", "public | public"},
		{"https://go.dev/a", "https://go.dev:443/b", "public | public"},
		{"https://go.dev/a", "//cdn.go.dev/b", "public | public, other origin"},
		{"https://go.dev/a", "http://go.dev/b", "public | public, downgrade, other origin"},
		{"http://go.dev/a", "https://go.dev/b", "public | public, other origin"},
		{"https://go.dev/a", "//127.0.0.1/", "public | loopback, address, other origin"},
		{"https://go.dev/a", "///127.0.0.1/ /b", "public | malformed, host"},
		{"https://go.dev/a", "/b https://inside.dev/ /c", "public | public | private, other origin | private"},
		{"https://go.dev/a", "file:///etc/passwd", "public | badscheme, other origin"},
		{"https://go.dev/a", "http:b", "public | malformed, form"},
		{"https://go.dev/a", `/\127.0.0.1/`, "public | malformed, characters"},
		{"https://go.dev/a", "http://0x7f.1/", "public | malformed, legacy address"},
	} {
		var got []string
		for hop, u := range urls.Follow(row.url, "GET", strings.Fields(row.redirects), lookup) {
			got = append(got, say(u))
			if u.Hop != hop {
				t.Errorf("%s %s: hop %d is called %d", row.url, row.redirects, hop, u.Hop)
			}
		}
		if strings.Join(got, " | ") != row.want {
			t.Errorf("%s %s is %s, want %s", row.url, row.redirects, strings.Join(got, " | "), row.want)
		}
	}
}

func TestFollowAddress(t *testing.T) {
	if u := urls.Follow("https://mixed.dev/", "GET", nil, lookup)[0]; u.Address != "169.254.169.254" {
		t.Errorf("the address that decided is %s", u.Address)
	}
	if u := urls.Follow("https://nobody.dev/", "GET", nil, nil)[0]; u.Class != urls.Public {
		t.Errorf("without a lookup: %s", u.Class)
	}
}

func TestFollowEnds(t *testing.T) {
	uses := urls.Follow("https://go.dev/", "GET", slices.Repeat([]string{"/x"}, 50), lookup)
	if n, last := len(uses), uses[len(uses)-1]; n != urls.MaxRedirects+2 ||
		say(last) != "malformed, too many redirects" {
		t.Errorf("%d uses, the last is %s", n, say(last))
	}
}
