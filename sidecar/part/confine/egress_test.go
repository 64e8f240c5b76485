package confine

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func guardAt(opened map[int]bool) ruleset.At {
	return ruleset.At{Opened: func(port int) bool { return opened[port] }}
}

// What a command reaches that may use every public host.
func TestReaches(t *testing.T) {
	r := newRig(t, proxyLimits{}, echo)
	for _, row := range []struct{ url, want string }{
		{"http://example.com/a?b=%zz;c", "200 GET example.com /a?b=%zz;c"},
		{"https://example.com/a", "200 GET example.com /a"},
		{"http://other.dev/", "200 GET other.dev /"},
		{"http://" + here + "/", "200 GET " + here + " /"},
		{"http://[" + there + "]/", "200 GET [" + there + "] /"},
		{"http://EXAMPLE.com.:80/", "200 GET example.com /"},
		{"http://inside.dev/", "403 inside.dev:80 (10.0.0.5) is refused: This is an address inside a private network. Instead: Use a public address, or ask the user. (rule url-private)\n"},
		{"https://inside.dev/", "inside.dev:443 (10.0.0.5) is refused: This is an address inside a private network."},
		{"http://mapped.dev/", "403 mapped.dev:80 (10.0.0.5) is refused"},
		{"http://mixed.dev/", "403 mixed.dev:80 (127.0.0.1) is refused: This is a service of this machine."},
		{"http://meta.dev/", "403 meta.dev:80 (169.254.169.254) is refused: This is a metadata service."},
		{"http://169.254.169.254/latest/", "403 169.254.169.254:80 is refused: This is a metadata service."},
		{"https://169.254.169.254/", "169.254.169.254:443 is refused"},
		{"http://v6.dev/", "403 v6.dev:80 (::1) is refused"},
		{"http://127.0.0.1/", "403 127.0.0.1:80 is refused"},
		{"http://localhost:3000/", "403 localhost:3000 is refused: This is a server on this machine that no command of this session has started, so a person must be asked, and a running command cannot wait for that. Instead: make a call of its own"},
		{"http://0x7f.1/", `403 "http://0x7f.1/" is refused: This URL can be read in more than one way.`},
		{"http://2130706433/", "is refused: This URL can be read in more than one way."},
		{"http://example.com:22/", "403 example.com:22 is refused: This port is not for HTTP."},
		{"https://example.com:25/", "example.com:25 is refused"},
		{"https://example.com:8443/", "example.com:8443 is refused: This URL is unusual"},
		{"http://nobody.dev/", "502 nobody.dev:80 is refused: its name has no address."},
		{"https://nobody.dev/", "nobody.dev:443 is refused: its name has no address."},
		{"http://example.com/?" + strings.Repeat("a", 2000), "403 example.com:80 is refused: This URL is unusual"},
	} {
		if got := r.get(t, "GET", row.url, ""); !strings.Contains(got, row.want) {
			t.Errorf("%.60s: %s\nwant %s", row.url, got, row.want)
		}
	}
	for _, to := range r.net.Seen() {
		if urls.ClassOf(to.Addr()) != urls.Public {
			t.Errorf("connected to %s", to)
		}
	}
}

// What a pass says.
func TestPasses(t *testing.T) {
	r := newRig(t, proxyLimits{}, echo)
	const unknown = "the command does not name this host, and known_hosts in urls.yaml does not have it. Instead: name the host in the command, or ask the user to add it to known_hosts. (rule known_hosts)"
	for _, row := range []struct {
		name              string
		may               func(*Pass)
		method, url, body string
		want              string
	}{
		{"nothing", func(p *Pass) { p.Any = false }, "GET", "http://example.com/", "", "403 example.com:80 is refused: " + unknown},
		{"known, plain", func(p *Pass) { p.Any, p.Known = false, true }, "GET", "http://github.com/", "", "200 GET github.com"},
		{"known, another", func(p *Pass) { p.Any, p.Known = false, true }, "GET", "https://example.com/", "", "example.com:443 is refused: " + unknown},
		{"named", func(p *Pass) { p.Any, p.Named = false, patterns(t, "example.com") }, "GET", "https://example.com/", "", "200 GET example.com"},
		{"named, another port", func(p *Pass) { p.Any, p.Named = false, patterns(t, "example.com") }, "GET", "http://example.com:81/", "", "403 example.com:81"},
		{"named, its port", func(p *Pass) { p.Any, p.Named = false, patterns(t, "example.com:8080") }, "GET", "http://example.com:8080/", "", "200 GET example.com:8080"},
		{"named, and denied", func(p *Pass) { p.Named = patterns(t, "inside.dev", "169.254.169.254") }, "GET", "http://inside.dev/", "", "403 inside.dev:80 (10.0.0.5)"},
		{"named, and leads here", func(p *Pass) { p.Named = patterns(t, "mixed.dev:3000") }, "GET", "http://mixed.dev:3000/", "", "403 mixed.dev:3000 (127.0.0.1) is refused: This is a server on this machine"},
		{"no sends", nil, "POST", "http://example.com/", "x", "403 example.com:80 is refused: this command may send nothing in plain HTTP."},
		{"no sends without a body", nil, "DELETE", "http://example.com/", "", "403 example.com:80"},
		{"no body with GET", nil, "GET", "http://example.com/", "x", "403 example.com:80"},
		{"HEAD", nil, "HEAD", "http://example.com/", "", "200 "},
		{"HEAD, refused", nil, "HEAD", "http://inside.dev/", "", "403 "},
		{"sends, asked about", func(p *Pass) { p.Sends = true }, "POST", "http://example.com/", "x", "403 example.com:80 is refused: This sends data, so a person must be asked"},
		{"sends, settled", func(p *Pass) { p.Sends, p.Named = true, patterns(t, "example.com") }, "POST", "http://example.com/", "x", "200 POST example.com / "},
		{"nobody sees what TLS carries", nil, "POST", "https://example.com/", "x", "200 POST example.com / "},
	} {
		before := r.pass
		if row.may != nil {
			r.may(row.may)
		}
		if got := r.get(t, row.method, row.url, row.body); !strings.Contains(got, row.want) {
			t.Errorf("%s: %s\nwant %s", row.name, got, row.want)
		}
		r.may(func(p *Pass) { *p = before })
	}
}

// A command that may send nothing sends no long head either, in one header or in many.
func TestHeads(t *testing.T) {
	r := newRig(t, proxyLimits{}, echo)
	for headers, want := range map[string]int{
		"X: " + strings.Repeat("x", 3<<10) + "\r\n": 200,
		"X: " + strings.Repeat("x", 5<<10) + "\r\n": 403,
		strings.Repeat("X: xx\r\n", 2<<10):          403,
		strings.Repeat("x", 5<<10) + ": x\r\n":      403,
	} {
		_, in := r.raw(t, "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n"+
			credentials+headers+"\r\n")
		if res, err := http.ReadResponse(in, nil); err != nil || res.StatusCode != want {
			t.Errorf("%.9q: %v %v", headers, res, err)
		}
	}
}

// A server that the session has started is open to its commands, by no other name than its own.
func TestOwnServers(t *testing.T) {
	r := newRig(t, proxyLimits{}, echo)
	r.opened[3000] = true
	r.may(func(p *Pass) { p.Any = false })
	if got := r.get(t, "GET", "http://localhost:3000/", ""); !strings.HasPrefix(got,
		"200 GET localhost:3000 /") {
		t.Error(got)
	}
	if got := r.get(t, "GET", "http://mixed.dev:3000/", ""); !strings.HasPrefix(got, "403 ") {
		t.Error(got)
	}
}

// A name that changes its address after it was judged changes nothing; the next request is
// judged again.
func TestRebinding(t *testing.T) {
	r := newRig(t, proxyLimits{}, echo)
	if got := r.get(t, "GET", "http://rebind.dev/", ""); !strings.HasPrefix(got, "200 ") {
		t.Error(got)
	}
	if seen := fmt.Sprint(r.net.Seen()); r.names.Times("rebind.dev") != 1 || seen != "["+here+":80]" {
		t.Errorf("%d times looked up, connected to %s", r.names.Times("rebind.dev"), seen)
	}
	for _, url := range []string{"http://rebind.dev/", "https://rebind.dev/"} {
		if got := r.get(t, "GET", url, ""); !strings.Contains(got, "(127.0.0.1) is refused") {
			t.Error(got)
		}
	}
}

// A name of which the rules or the pass want nothing to know is not looked up: that alone
// would tell it to others.
func TestNotLookedUp(t *testing.T) {
	r := newRig(t, proxyLimits{}, echo)
	r.may(func(p *Pass) { p.Any, p.Known = false, true })
	r.get(t, "GET", "https://other.dev/", "")
	r.get(t, "POST", "http://github.com/", "x")
	if n := r.names.Times("other.dev") + r.names.Times("github.com"); n != 0 {
		t.Errorf("looked up %d times", n)
	}
}

// Without the credentials of a command nothing is said and nothing is done.
func TestCredentials(t *testing.T) {
	r := newRig(t, proxyLimits{}, echo)
	for _, header := range []string{
		"", "Proxy-Authorization: Basic " + "dDE6d3Jvbmc=", "Proxy-Authorization: Basic dDI6czNjcmV0",
		"Proxy-Authorization: Basic dDE6", "Proxy-Authorization: Basic dDE=",
		"Proxy-Authorization: Bearer s3cret", "Proxy-Authorization: Basic !",
		"Authorization: Basic dDE6czNjcmV0", strings.Repeat(credentials, 2),
	} {
		for _, line := range []string{"GET http://example.com/ HTTP/1.1", "CONNECT example.com:443 HTTP/1.1",
			"GET / HTTP/1.1"} {
			_, in := r.raw(t, line+"\r\nHost: example.com\r\n"+strings.TrimSuffix(header,
				"\r\n")+strings.Repeat("\r\n", min(1, len(header)))+"\r\n")
			res, err := http.ReadResponse(in, nil)
			if err != nil || res.StatusCode != 407 || res.Header.Get("Proxy-Authenticate") == "" {
				t.Errorf("%q, %q: %v %v", line, header, res, err)
			}
		}
	}
	r.may(func(p *Pass) { p.Secret = "" }) // a pass that nobody has filled is good for nothing
	if _, in := r.raw(t, "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: Basic dDE6\r\n\r\n"); true {
		if res, err := http.ReadResponse(in, nil); err != nil || res.StatusCode != 407 {
			t.Errorf("%v %v", res, err)
		}
	}
	if len(r.net.Seen()) != 0 || len(r.logged()) != 0 {
		t.Errorf("%v %v", r.net.Seen(), r.logged())
	}
}

// Rules that change are in force for the next request.
func TestReload(t *testing.T) {
	r := newRig(t, proxyLimits{}, echo)
	client := r.client(t)
	if got := answer(client.Get("http://example.com/")); !strings.HasPrefix(got, "200 ") {
		t.Error(got)
	}
	dir := t.TempDir()
	ruletest.Copy(t, dir)
	ruletest.Edit(t, dir, "urls.yaml", "rules:\n",
		"rules:\n  - {id: shut, deny: Shut., when: host == 'example.com'}\n")
	files, err := ruletest.Source(t, dir).Read()
	ruletest.Must(t, err)
	set, problems := ruletest.Loader(NetworkSection()).Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	r.set.Store(set)
	if got := answer(client.Get("http://example.com/")); !strings.Contains(got,
		"403 example.com:80 is refused: Shut. (rule shut)") {
		t.Error(got)
	}
}

// Each outcome at each server is logged once, and counted at the end.
func TestLogged(t *testing.T) {
	r := newRig(t, proxyLimits{}, echo)
	for range 3 {
		r.get(t, "GET", "http://example.com/", "")
		r.get(t, "GET", "http://inside.dev/", "")
	}
	r.get(t, "GET", "https://example.com/", "")
	r.get(t, "GET", "https://meta.dev/", "")
	first := []string{"GET example.com:80 connected ", "GET inside.dev:80 refused url-private",
		"CONNECT example.com:443 connected ", "CONNECT meta.dev:443 refused url-metadata"}
	if got := r.logged(); !slices.Equal(got, first) {
		t.Errorf("%q", got)
	}
	_, in := r.raw(t, "GET / HTTP/1.1\r\nHost: a\r\n"+credentials+"\r\n")
	if got := answer(http.ReadResponse(in, nil)); !strings.Contains(got,
		"inside.dev:80 (10.0.0.5) is refused") || strings.Count(got, "\n") != 2 {
		t.Errorf("the command is told %s", got)
	}
	r.finish()
	ruletest.Soon(t, "counted", func() bool { return len(r.logged()) > len(first) })
	r.stop()
	if got := r.logged()[len(first):]; !slices.Equal(got, []string{"CONNECT example.com:443 connected  x1",
		"GET example.com:80 connected  x3", "GET inside.dev:80 refused url-private x3"}) {
		t.Errorf("%q", got)
	}
	for _, c := range r.records[len(first):] {
		if (c.Outcome == "connected") != (c.Sent > 50 && c.Received > 50) || c.Agent != "main" ||
			c.Session != "s1" || c.Tool != "exec" || c.Rules != r.Set().Version || c.Judged != "before" {
			t.Errorf("%+v", c)
		}
	}
	if r.said.Count("connection_refused") != 2 || r.said.Count("connections") != 1 {
		t.Error(r.said)
	}
}

// Where a decision must be logged and cannot be, nothing is connected.
func TestLogBroken(t *testing.T) {
	r := newRig(t, proxyLimits{}, echo)
	r.broken.Store(true)
	if got := r.get(t, "GET", "http://example.com/", ""); !strings.HasPrefix(got,
		"503 example.com:80 is refused: no connection may be made while decisions cannot be logged") {
		t.Error(got)
	}
	if len(r.net.Seen()) != 0 {
		t.Error(r.net.Seen())
	}
}
