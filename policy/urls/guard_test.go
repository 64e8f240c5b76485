package urls_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// say is a use in short: its class, then its marks.
func say(u urls.Use) string {
	return strings.Join(append([]string{u.Class}, u.Marks...), ", ")
}

func TestLiteral(t *testing.T) {
	for _, row := range []struct{ url, want string }{
		{"https://go.dev/", "public"},
		{"HTTP://Go.Dev:80/x?y=1#z", "public"},
		{"https://go.dev.", "public"},
		{"https://go.dev:/", "public"},
		{"https://go.dev/@user:127.0.0.1", "public"},
		{"https://go.dev/%zz{a,b}", "public"},
		{"https://de.wikipedia.org/wiki/Köln", "public"},
		{"https://_dmarc.go.dev/", "public"},
		{"https://xn--mnchen-3ya.de/", "public, international"},
		{"http://9.9.9.9/", "public, address"},
		{"http://[2620:fe::fe]/", "public, address"},
		{"http://go.dev:8080/", "public, port"},
		{"http://go.dev:443/", "public"},
		{"http://go.dev:25/", "public, blocked port"},
		{"https://go.dev/?" + strings.Repeat("a", 1025), "public, long query"},
		{"https://go.dev/#" + strings.Repeat("a", 1025), "public"},
		{"https://nbswy3dpeb3w64tmmqqgm.go.dev/", "public, long label"},
		{"https://a-host-with-a-rather-long-name.go.dev/", "public"},

		{"http://127.0.0.1:3000/", "loopback, port, address"},
		{"http://0.0.0.0/", "loopback, address"},
		{"http://[::1]/", "loopback, address"},
		{"http://[::]:80/", "loopback, address"},
		{"http://[::ffff:127.0.0.1]/", "loopback, address"},
		{"http://LOCALHOST./", "loopback"},
		{"http://a.b.localhost/", "loopback"},
		{"http://app.lvh.me/", "loopback"},
		{"http://10.1.2.3/", "private, address"},
		{"http://100.64.0.1/", "private, address"},
		{"http://255.255.255.255/", "private, address"},
		{"http://[fe80::1]/", "private, address"},
		{"http://[2001:db8::1]/", "private, address"},
		{"http://[64:ff9b::a00:1]/", "private, address"},
		{"http://[2002:7f00:1::]/", "private, address"},
		{"http://[4000::1]/", "private, address"},
		{"http://router/", "private"},
		{"http://printer.local/", "private"},
		{"http://db.prod.svc/", "private"},
		{"http://svc/", "private"},
		{"http://10.0.0.1.nip.io/", "private"},
		{"http://169.254.169.254/", "metadata, address"},
		{"http://168.63.129.16/", "metadata, address"},
		{"http://[::ffff:a9fe:a9fe]/", "metadata, address"},
		{"http://[64:ff9b::169.254.169.254]/", "metadata, address"},
		{"http://[2002:a9fe:a9fe::1]/", "metadata, address"},
		{"http://[2001:0:1::5601:5601]/", "metadata, address"}, // Teredo
		{"http://[2620:0:1::5efe:169.254.169.254]/", "metadata, address"},
		{"http://metadata/", "metadata"},
		{"http://x.metadata.google.internal./", "metadata"},

		{"ftp://go.dev/", "badscheme"},
		{"javascript:alert(1)", "badscheme"},
		{"file:///etc/passwd", "badscheme"},
		{"ssh://go.dev/", "badscheme"},
		{"", "malformed, form"},
		{"go.dev", "malformed, form"},
		{"//go.dev/", "malformed, form"},
		{"http:go.dev", "malformed, form"},
		{"http:/go.dev/", "malformed, form"},
		{"1http://go.dev/", "malformed, form"},
		{"http://", "malformed, host"},
		{"http:///go.dev", "malformed, host"},
		{"http://go..dev/", "malformed, host"},
		{"http://.go.dev/", "malformed, host"},
		{"http://go.dev../", "malformed, host"},
		{"http://-x.go.dev/", "malformed, host"},
		{"http://go%2edev/", "malformed, host"},
		{"http://{a,b}.go.dev/", "malformed, host"},
		{"http://kö.de/", "malformed, host"},
		{"http://１２７.0.0.1/", "malformed, host"},
		{"http://go。dev/", "malformed, host"},
		{"http://[::1", "malformed, port number"},
		{"http://[::1]x/", "malformed, host"},
		{"http://[127.0.0.1]/", "malformed, host"},
		{"http://[fe80::1%25lo]/", "malformed, host"},
		{"http://::1/", "malformed, port number"},
		{"http://" + strings.Repeat("a.", 130) + "dev/", "malformed, host"},
		{"http://user@go.dev/", "malformed, user"},
		{"http://go.dev:80@127.0.0.1/", "malformed, user"},
		{"http://127.1/", "malformed, legacy address"},
		{"http://0x7f000001/", "malformed, legacy address"},
		{"http://127.0.0.01/", "malformed, legacy address"},
		{"http://127.0.0.1./", "malformed, legacy address"},
		{"http://go.dev.0x1/", "malformed, legacy address"},
		{"http://go.dev:0/", "malformed, port number"},
		{"http://go.dev:080/", "malformed, port number"},
		{"http://go.dev:+80/", "malformed, port number"},
		{"http://go.dev:65536/", "malformed, port number"},
		{"http://go.dev:８０/", "malformed, port number"},
		{"http://go.dev\\@127.0.0.1/", "malformed, characters"},
		{"http://go.dev/\r\nHost: x", "malformed, characters"},
		{"http://go.dev/a b", "malformed, characters"},
		{"\thttp://go.dev/", "malformed, characters"},
		{"http://go.dev/\u202e", "malformed, characters"},
		{"http://go.dev/\xff", "malformed, characters"},
		{"http://go.dev/\u00a0", "malformed, characters"},
	} {
		if got := say(urls.Literal(row.url, "GET")); got != row.want {
			t.Errorf("%.80q is %s, want %s", row.url, got, row.want)
		}
	}
}

func TestLiteralFields(t *testing.T) {
	want := urls.Use{URL: "HTTPS://Go.Dev.:8443/x", Scheme: "https", Host: "go.dev", Port: 8443,
		Class: "public", Method: "POST", Marks: []string{"port"}}
	if diff := cmp.Diff(want, urls.Literal(want.URL, "post")); diff != "" {
		t.Error(diff)
	}
	if m := urls.Literal("https://go.dev/", "").Method; m != "GET" {
		t.Errorf("no method is %q", m)
	}
}

func TestWord(t *testing.T) {
	for _, row := range []struct{ text, method, want string }{
		{"go.dev", "GET", "public"},
		{"go.dev:80/x?u=http://10.0.0.1/", "GET", "public"},
		{"//go.dev/x", "GET", "public"},
		{"localhost:3000/api", "GET", "loopback, port"},
		{"localhost:", "GET", "loopback"},
		{"169.254.169.254/latest", "GET", "metadata, address"},
		{"0x7f.1", "GET", "malformed, legacy address"},
		{"user:secret@go.dev", "GET", "badscheme"}, // user: may be a scheme
		{"user@go.dev", "GET", "malformed, user"},
		{"http:/go.dev", "GET", "malformed, form"},
		{"{http,file}:///etc/passwd", "GET", "malformed, host"},
		{"file:/etc/passwd", "GET", "badscheme"},
		{"unix:/var/run/docker.sock", "GET", "badscheme"},
		{"http+unix://%2Frun%2Fdocker.sock/x", "GET", "badscheme"},
		{"data:text/plain,x", "GET", "badscheme"},
		{"socks5://go.dev:1080", "PROXY", "badscheme"},
		{"proxy:3128", "PROXY", "private, port"},
		{"git@go.dev:org/x.git", "GET", "malformed, user"},

		{"https://go.dev/x.git", "GIT", "public"},
		{"git+https://go.dev/x.git", "GIT", "public"},
		{"git@go.dev:org/x.git", "GIT", "public, ssh"},
		{"go.dev:x", "GIT", "public, ssh"},
		{"ssh://git@go.dev:2222/x", "GIT", "public, ssh, port"},
		{"git@10.0.0.1:x", "GIT", "private, ssh, address"},
		{"git@localhost:x", "GIT", "loopback, ssh"},
		{"-oProxyCommand=x:y", "GIT", "malformed, host"},
		{"ssh://-oProxyCommand=x/y", "GIT", "malformed, host"},
		{"ssh://git:secret@go.dev/x", "GIT", "malformed, user"},
		{"https://token@go.dev/x", "GIT", "malformed, user"},
		{"ssh://go.dev?@10.0.0.1/x", "GIT", "malformed, user"},
		{"ssh://go.dev#x/x", "GIT", "malformed, host"},
		{"go.dev#x@10.0.0.1:x", "GIT", "malformed, user"},
		{"go.dev?x:x", "GIT", "malformed, host"},
		{"go.dev:x@[::1]:x", "GIT", "malformed, host"},
		{"ssh://go.dev/x@[::1]/x", "GIT", "malformed, host"},
		{"[go.dev:2222]:x", "GIT", "malformed, host"},
		{"git+go.dev:x", "GIT", "malformed, host"},
		{"file:x", "GIT", "private, ssh"}, // of a host named file
		{"ext::sh -c x", "GIT", "malformed, characters"},
		{"ext::x", "GIT", "badscheme"},
		{"fd::17/x", "GIT", "badscheme"},
		{"file:///srv/x", "GIT", "badscheme"},
		{"git://go.dev/x", "GIT", "badscheme"},
		{"../x", "GIT", "badscheme"},
	} {
		u := urls.Word(row.text, false, row.method)
		if got := say(u); got != row.want {
			t.Errorf("%s %q is %s, want %s", row.method, row.text, got, row.want)
		}
		if u.URL != row.text || u.Dynamic {
			t.Errorf("%q: %+v", row.text, u)
		}
	}
}

// A part that is not known may be anywhere, so that only what is bad already stays what it is.
func TestWordDynamic(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"", "dynamic"},
		{"https://go.dev/", "dynamic"},
		{"https://", "dynamic"},
		{"https://.go.dev/", "dynamic"},
		{"https://api-/", "dynamic"},
		{"https://host/", "dynamic"},
		{":8080/", "dynamic"},
		{"http://user:@go.dev/", "dynamic"},
		{"localhost:/api", "loopback"},
		{"http://169.254.169.254/", "metadata, address"},
		{"http://10.0.0.1/", "private, address"},
		{"http://metadata/", "metadata"},
		{"ftp://go.dev/", "badscheme"},
	} {
		u := urls.Word(row.text, true, "GET")
		if got := say(u); got != row.want || !u.Dynamic {
			t.Errorf("%q is %s (dynamic %v), want %s", row.text, got, u.Dynamic, row.want)
		}
	}
}

func TestIsRemote(t *testing.T) {
	for word, want := range map[string]bool{
		"origin": false, "../x": false, "/srv/x": false, "./a:b": false, "": false, ":x": false,
		"https://go.dev/x": true, "git@go.dev:x": true, "host:x": true, "ext::x": true,
	} {
		if got := urls.IsRemote(word); got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
}
