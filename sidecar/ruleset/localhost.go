package ruleset

import (
	"net"
	"slices"
	"strconv"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// localhost returns the servers of urls.yaml and the model servers of models.yaml.
func (l *loader) localhost(f urlsFile) urls.Servers {
	s := urls.Servers{Known: namesClass(f.Rules, f.Lists, urls.Control), Ports: f.Localhost}
	for _, t := range f.Own {
		_, ports, err := net.SplitHostPort(t.Value)
		if _, _, ok := urls.PortsOf(ports); err != nil || !ok {
			l.reject(t, strconv.Quote(t.Value)+" is no address",
				"write HOST:PORT, such as 127.0.0.1:18789, or a range of ports: 127.0.0.1:18789-18899")
			continue
		}
		s.Own = append(s.Own, t.Value)
	}
	for _, url := range append(mapSlice(l.set.Models, func(m Model) string { return m.Upstream.Value }),
		mapSlice(l.set.Upstreams, func(u Upstream) string { return u.URL })...) {
		if address := urls.AddressOf(url); address != "" {
			s.Own = append(s.Own, address)
		}
	}
	return s
}

// namesClass reports whether conditions of rules name a class, literally or through a list.
func namesClass(rules []policyRule, lists rulefile.Lists, class string) bool {
	return slices.ContainsFunc(rules, func(r policyRule) bool {
		if !mentions(r.When, "class") {
			return false
		}
		return slices.Contains(cond.Words(r.When.Value), class) ||
			slices.ContainsFunc(lists, func(l rulefile.Pair[[]rulefile.Text]) bool {
				return mentions(r.When, l.Key.Value) && slices.Contains(values(l.Value), class)
			})
	})
}
