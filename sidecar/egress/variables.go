package egress

import "net/url"

// Variables are what a command finds in its environment. They say where the proxy is to all
// that read them: curl, git, pip, npm, go, cargo, apt, and Node from version 24 on.
func (p *Proxy) Variables(ticket, secret string) []string {
	at := (&url.URL{Scheme: "http", User: url.UserPassword(ticket, secret), Host: p.Addr()}).String()
	out := []string{"no_proxy=", "NO_PROXY=", "NODE_USE_ENV_PROXY=1"} // what is inherited names hosts that nobody can reach directly
	for _, name := range []string{"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"} {
		out = append(out, name+"="+at)
	}
	return out
}
