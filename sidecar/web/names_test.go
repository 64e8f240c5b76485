package web

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// Which requests a listener takes, by the names of the request and of its web page.
func TestNames(t *testing.T) {
	local := Names{Local: true, Hosts: []string{"LLM.example.com"}}
	network := Names{Hosts: local.Hosts}
	token := Names{Token: true}
	for _, row := range []struct {
		names        Names
		host, origin string
		want         bool
	}{
		{local, "127.0.0.1:8001", "", true},
		{local, "127.9.9.9", "", true},
		{local, "[::1]:8001", "", true},
		{local, "LocalHost.:8001", "", true},
		{local, "llm.example.com", "", true},
		{local, "evil.example:8001", "", false},
		{local, "localhost.evil.example", "", false},
		{local, "10.0.0.1:8001", "", false},
		{local, "", "", false},
		{local, "127.0.0.1:8001", "http://127.0.0.1:8001", true},
		{local, "127.0.0.1:8001", "https://llm.example.com", true},
		{local, "127.0.0.1:8001", "http://127.0.0.1:3000", false},
		{local, "127.0.0.1:8001", "https://evil.example", false},
		{local, "127.0.0.1:8001", "null", false},
		{local, "evil.example:8001", "http://evil.example:8001", false},

		{network, "10.0.0.1:8001", "", true},
		{network, "[2001:db8::1]:8001", "", true},
		{network, "localhost:8001", "", true},
		{network, "sidecar:8001", "", true},
		{network, "sidecar.llm.svc.cluster.local", "", true},
		{network, "llm.example.com:8001", "", true},
		{network, "evil.example:8001", "", false},
		{network, "evil.example:8001", "http://evil.example:8001", false},
		{network, "10.0.0.1:8001", "https://evil.example", false},

		{token, "any.example:8001", "", true},
		{token, "any.example:8001", "https://evil.example", false},
	} {
		r := httptest.NewRequest("GET", "/v1/models", nil)
		if r.Host = row.host; row.origin != "" {
			r.Header.Set("Origin", row.origin)
		}
		why, hint := row.names.Refuse(r)
		if (why == "") != row.want || !row.want &&
			!strings.Contains(hint, map[bool]string{false: "setting hosts",
				true: "send the header Host"}[row.host == ""]) {
			t.Errorf("%s from %s with %+v: %q; %q", row.host, row.origin, row.names, why, hint)
		}
	}
}
