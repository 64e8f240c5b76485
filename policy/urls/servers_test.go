package urls_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

func TestServers(t *testing.T) {
	opened := func(port int) bool { return port == 5173 || port == 80 }
	servers := urls.Servers{Known: true, Own: []string{"127.0.0.1:8001", ":8002", "localhost:18789-18899",
		"llm.example.com:443"}, Ports: []int{3000}, Opened: opened}
	every := urls.Servers{Known: true, Own: servers.Own, Ports: []int{0}}
	for _, c := range []struct {
		servers urls.Servers
		url     string
		class   string
		opened  bool
	}{
		{servers, "http://localhost:3000/x", urls.Loopback, true}, {servers, "http://127.0.0.1:5173/", urls.Loopback, true}, {servers, "http://[::1]:3000/", urls.Loopback, true}, {servers, "http://0.0.0.0:3000/", urls.Loopback, true},
		{servers, "http://localhost:3001/", urls.Loopback, false}, {servers, "http://localhost/", urls.Loopback, false}, {servers, "http://LOCALHOST:3000/", urls.Loopback, true},
		{servers, "http://localhost:8001/v1", urls.Control, false}, {servers, "http://127.8.9.1:8001/", urls.Control, false}, {servers, "http://[::1]:8002/rules", urls.Control, false}, {servers, "http://127.0.0.1:18789/", urls.Control, false}, {servers, "http://127.0.0.1:18800/json/new", urls.Control, false}, {servers, "http://127.0.0.1:18900/", urls.Loopback, false}, {servers, "https://llm.example.com/v1", urls.Control, false},
		{servers, "http://example.com:3000/", urls.Public, false}, {servers, "http://10.0.0.1:3000/", urls.Private, false}, {servers, "http://192.0.2.1:8001/", urls.Private, false},
		{every, "http://localhost:9999/", urls.Loopback, true}, {every, "http://localhost:8001/", urls.Control, false}, {every, "http://169.254.169.254/", urls.Metadata, false},
		{urls.Servers{Own: servers.Own, Ports: servers.Ports}, "http://localhost:8001/v1", urls.Loopback, false}, {urls.Servers{}, "http://localhost:3000/", urls.Loopback, false},
	} {
		uses := []urls.Use{urls.Word(c.url, false, "GET")}
		c.servers.Judge(uses)
		if uses[0].Class != c.class || uses[0].Opened != c.opened {
			t.Errorf("%s: %s, opened %v; want %s, %v", c.url, uses[0].Class, uses[0].Opened, c.class,
				c.opened)
		}
	}
}

// A name that leads to this machine today, and a redirect to it, are not its own servers.
func TestServersByOtherNames(t *testing.T) {
	servers := urls.Servers{Known: true, Ports: []int{0}}
	for name, uses := range map[string][]urls.Use{
		"a name":     {{Host: "app.example.com", Port: 3000, Class: urls.Loopback}},
		"a redirect": {{Host: "localhost", Port: 3000, Class: urls.Loopback, Hop: 1}},
	} {
		if servers.Judge(uses); uses[0].Opened {
			t.Errorf("%s counts as a server of the agent", name)
		}
	}
}

func TestAddressOf(t *testing.T) {
	for base, want := range map[string]string{
		"http://127.0.0.1:8000/v1": "127.0.0.1:8000", "https://llm.example.com/v1": "llm.example.com:443",
		"http://[::1]": "[::1]:80", "": "", "/v1": "", "http://a b": "",
	} {
		if got := urls.AddressOf(base); got != want {
			t.Errorf("%s: %q, want %q", base, got, want)
		}
	}
}

func TestPortsOf(t *testing.T) {
	for text, want := range map[string][2]int{"80": {80, 80}, "1-2": {1, 2}, "": {}, "0": {}, "2-1": {},
		"1-": {}, "-1": {}, "70000": {}, "1-2-3": {}, "x": {}} {
		first, last, ok := urls.PortsOf(text)
		if ok != (want[0] > 0) || ok && [2]int{first, last} != want {
			t.Errorf("%q: %d to %d, %v", text, first, last, ok)
		}
	}
}
