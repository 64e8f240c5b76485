package ruleset

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Which hosts are known: those that the operator names, as far as the locked folder lets them.
func TestKnownHosts(t *testing.T) {
	ours := func(text string) rulefile.Files {
		return rulefile.Files{urlsFilename: "version: 1\n" + text + "rules: [{id: all, allow: Yes.}]\n"}
	}
	for name, row := range map[string]struct {
		own, locked rulefile.Files
		known, not  string
	}{
		"shipped": {nil, nil, "registry.npmjs.org github.com us.archive.ubuntu.com",
			"npmjs.org gist.github.com example.com"},
		"nobody says": {ours(""), nil, "", "github.com"},
		"the operator": {ours("known_hosts: ['*.example.com', other.dev]\n"), nil,
			"a.example.com other.dev", "example.com github.com"},
		"more":                  {rulefile.Files{urlsFilename: "version: 1\ninclude: [builtin/urls.yaml]\nknown_hosts: [example.com]\n"}, nil, "example.com github.com", "example.org"},
		"the lock says nothing": {ours("known_hosts: [example.com]\n"), ours(""), "example.com", "github.com"},
		"the lock restricts": {ours("known_hosts: [example.com, other.dev]\n"),
			ours("known_hosts: [example.com, third.dev]\n"), "example.com", "other.dev third.dev"},
		"the lock knows none": {ours("known_hosts: [example.com]\n"), ours("known_hosts: []\n"), "",
			"example.com"},
	} {
		set, problems := untried(lockedFiles(t, row.locked, row.own))
		if set == nil {
			t.Fatalf("%s: %v", name, problems)
		}
		for _, host := range strings.Fields(row.known) {
			if !set.KnownHost(urls.Tunnel(host + ":443")) {
				t.Errorf("%s: %s is not known", name, host)
			}
		}
		for _, host := range strings.Fields(row.not) {
			if set.KnownHost(urls.Tunnel(host + ":443")) {
				t.Errorf("%s: %s is known", name, host)
			}
		}
	}
}

func TestKnownHostsHavePlaces(t *testing.T) {
	_, problems := underLock(t, nil,
		rulefile.Files{urlsFilename: "version: 1\ninclude: [builtin/urls.yaml]\nknown_hosts:\n  - github.com\n  - '*.com'\n"})
	if got := problems.Error(); !strings.Contains(got, "urls.yaml:5:") ||
		!strings.Contains(got, `"*.com" cannot be a known host: it covers a whole top-level domain`) ||
		!strings.Contains(got, "*.npmjs.org") {
		t.Error(got)
	}
}

// A connection is judged by the rules about URLs, of both authors, and by nothing else.
func TestCheckConnection(t *testing.T) {
	locked := rulefile.Files{urlsFilename: "version: 1\nrules: [{id: shut, deny: Shut., when: host == 'shut.dev'}, {id: all, allow: Yes.}]\n"}
	set, problems := underLock(t, locked, nil)
	if set == nil {
		t.Fatal(problems)
	}
	at := At{Now: exampleTime, Opened: func(port int) bool { return port == 5173 },
		World: World{Servers: []string{"127.0.0.1:8001"}}}
	for _, row := range []struct {
		use  urls.Use
		addr string // that it has; empty: it is not known yet
		want policy.Effect
		rule string
	}{
		{urls.Tunnel("go.dev:443"), "", policy.Allow, "public"},
		{urls.Tunnel("go.dev:443"), "93.184.215.14", policy.Allow, "public"},
		{urls.Tunnel("go.dev:443"), "10.0.0.1", policy.Deny, "url-private"},
		{urls.Tunnel("go.dev:443"), "127.0.0.1", policy.Deny, "url-loopback-service"},
		{urls.Tunnel("go.dev:5173"), "127.0.0.1", policy.Ask, "url-loopback"},
		{urls.Tunnel("go.dev:8443"), "", policy.Ask, "url-odd"},
		{urls.Tunnel("go.dev:22"), "", policy.Deny, "url-blocked-port"},
		{urls.Tunnel("go.dev"), "", policy.Deny, "url-malformed"},
		{urls.Tunnel("169.254.169.254:80"), "", policy.Deny, "url-metadata"},
		{urls.Tunnel("localhost:5173"), "127.0.0.1", policy.Allow, "public"},
		{urls.Tunnel("localhost:8001"), "127.0.0.1", policy.Deny, "url-control"},
		{urls.Tunnel("shut.dev:443"), "", policy.Deny, "shut"},
		{urls.Literal("http://go.dev/", "GET"), "", policy.Allow, "public"},
		{urls.Literal("http://go.dev/", "POST"), "", policy.Ask, "url-send"},
		{urls.Literal("https://go.dev/", "OPTIONS"), "", policy.Ask, "url-send"},
		{urls.Literal("ftp://go.dev/", ""), "", policy.Deny, "url-scheme"},
	} {
		u := row.use
		if row.addr != "" {
			u = u.At([]netip.Addr{netip.MustParseAddr(row.addr)})
		}
		d := set.CheckConnection(u, "exec", somebody, at)
		if d.Effect != row.want || row.want != policy.Allow && d.Rule != row.rule {
			t.Errorf("%s %s: %s by %q, want %s by %s", u.URL, row.addr, d.Effect, d.Rule, row.want, row.rule)
		}
	}
}
