package urls_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

func TestPattern(t *testing.T) {
	for _, row := range []struct {
		pattern   string
		yes, not  string // URLs, with blanks between them
		isPattern bool
	}{
		{"github.com", "https://github.com/a http://GITHUB.com./ https://github.com:80/", "https://api.github.com/ https://github.com.evil.dev/ https://github.com:8443/ https://evilgithub.com/", true},
		{"*.npmjs.org", "https://registry.npmjs.org/ https://a.b.npmjs.org/", "https://npmjs.org/ https://evilnpmjs.org/ https://npmjs.org.evil.dev/", true},
		{"Git.Example.com:8443", "https://git.example.com:8443/", "https://git.example.com/ https://x.git.example.com:8443/", true},
		{"93.184.215.14", "http://93.184.215.14/", "http://93.184.215.1/", true},
		{"[2606:2800:21f::1]:444", "https://[2606:2800:21f::1]:444/", "https://[2606:2800:21f::1]/", true},
		{"*", "", "", false}, {"*.com", "", "", false}, {"*.*.com", "", "", false}, {"", "", "", false}, {"*.", "", "", false},
		{"https://github.com", "", "", false}, {"github.com/a", "", "", false}, {"a@github.com", "", "", false}, {"git hub.com", "", "", false},
		{"github.com:", "", "", false}, {"github.com:0", "", "", false}, {"127.1", "", "", false}, {"*.93.184.215.14", "", "", false}, {"github.com.", "", "", false},
	} {
		p, err := urls.ParsePattern(row.pattern)
		if (err == nil) != row.isPattern {
			t.Errorf("%q: %v", row.pattern, err)
			continue
		}
		for _, url := range strings.Fields(row.yes) {
			if !p.Covers(urls.Literal(url, "")) {
				t.Errorf("%s does not cover %s", row.pattern, url)
			}
		}
		for _, url := range strings.Fields(row.not) {
			if p.Covers(urls.Literal(url, "")) {
				t.Errorf("%s covers %s", row.pattern, url)
			}
		}
	}
	if (urls.Pattern{}).Covers(urls.Use{Port: 80}) {
		t.Error("the zero pattern covers something")
	}
}

func TestTunnel(t *testing.T) {
	for text, want := range map[string]string{
		"github.com:443": "public github.com:443", "GitHub.com.:443": "public github.com:443",
		"github.com:80": "public github.com:80",
		"github.com:22": "public github.com:22", "93.184.215.14:443": "public 93.184.215.14:443",
		"[2606:2800:21f::1]:443": "public [2606:2800:21f::1]:443",
		"127.0.0.1:443":          "loopback 127.0.0.1:443", "[::1]:443": "loopback [::1]:443",
		"localhost:3000":     "loopback localhost:3000",
		"169.254.169.254:80": "metadata 169.254.169.254:80", "10.0.0.1:443": "private 10.0.0.1:443",
		"intranet:443":         "private intranet:443",
		"[fe80::1%25eth0]:443": "malformed", "[fe80::1%eth0]:443": "malformed", "0x7f.1:443": "malformed",
		"2130706433:443": "malformed", "127.1:443": "malformed",
		"user@github.com:443": "malformed", "user:password@github.com:443": "malformed",
		"github.com": "malformed", "github.com:": "malformed", ":443": "malformed", "": "malformed",
		"github.com:0": "malformed", "github.com:70000": "malformed", "github.com:0443": "malformed",
		"github.com:+443": "malformed", "github.com:443/x": "malformed", "github.com:443?x": "malformed",
		"github.com:443#x": "malformed",
		"github.com/x:443": "malformed", "bücher.de:443": "malformed",
		"xn--bcher-kva.de:443": "public xn--bcher-kva.de:443", "github.com\u200b:443": "malformed",
		"git\thub.com:443": "malformed", "github.com:443 ": "malformed", "2606:2800::1:443": "malformed",
		"a..b:443": "malformed", "%67ithub.com:443": "malformed", "https://github.com:443": "malformed",
	} {
		u := urls.Tunnel(text)
		got := u.Class
		if u.Class != urls.Malformed {
			got += " " + u.HostPort()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// What is read as a host and a port reads the same when it is written again, and nothing
// else stands in it.
func FuzzTunnel(f *testing.F) {
	for _, s := range []string{"github.com:443", "[::1]:443", "[fe80::1%25eth0]:80", "a@b:1", "b:1@c:2",
		"a.:443", "xn--a:1", "0x7f.1:443", "a:443/", "a:443\r\nX: y", "１２７.0.0.1:80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u := urls.Tunnel(text)
		if u.Class == urls.Malformed {
			return
		}
		if strings.ContainsAny(text, "/?#@%\\ \t\r\n") {
			t.Errorf("%q is %s", text, u.HostPort())
		}
		again := urls.Tunnel(u.HostPort())
		if again.Class != u.Class || again.Host != u.Host || again.Port != u.Port {
			t.Errorf("%q is %s (%s), and that is %s (%s)", text, u.HostPort(), u.Class, again.HostPort(),
				again.Class)
		}
		if p, err := urls.ParsePattern(u.HostPort()); err != nil || !p.Covers(u) {
			t.Errorf("the pattern %s does not cover itself: %v", u.HostPort(), err)
		}
		if p, err := urls.ParsePattern(urls.PatternOf(u).String()); err != nil || !p.Covers(u) {
			t.Errorf("the pattern %s does not cover %s: %v", urls.PatternOf(u), u.HostPort(), err)
		}
	})
}
