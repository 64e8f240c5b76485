package ruleset

import (
	"net"
	"slices"
	"strconv"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// knownHosts returns the known hosts of urls.yaml; nil: it has no such list.
func (l *loader) knownHosts(f urlsFile) []urls.Pattern {
	if f.KnownHosts == nil {
		return nil
	}
	out := []urls.Pattern{}
	for _, t := range *f.KnownHosts {
		p, err := urls.ParsePattern(t.Value)
		if err != nil {
			l.reject(t,
				strconv.Quote(t.Value)+" cannot be a known host: "+err.Error(),
				"write a host, such as github.com, *.npmjs.org for all below one, or git.example.com:8443")
			continue
		}
		out = append(out, p)
	}
	return out
}

// KnownHost reports whether urls.yaml knows the host of a URL. The locked folder must know it, too, if it
// lists hosts.
func (s *Set) KnownHost(u urls.Use) bool {
	knows := func(a *author) bool {
		return slices.ContainsFunc(a.known, func(p urls.Pattern) bool { return p.Covers(u) })
	}
	return knows(s.own) && (s.locked == nil || s.locked.known == nil || knows(s.locked))
}

// CheckConnection decides about a connection of a running command, as far as its address is known. It skips
// rules about calls, since the call has left, and does not count as confined, since this program connects.
func (s *Set) CheckConnection(u urls.Use, tool string, who policy.Subject, at At) policy.Decision {
	who.Interactive = true // to ask is not to deny here: a person may have said yes to the command
	c := policy.Call{Tool: tool, Class: string(tools.Exec), Args: map[string]any{}}
	return s.decideUse(c.From(who), at, func(a *author, f *policy.Facts) {
		f.URLs = []urls.Use{u}
		at.serversOf(a).Judge(f.URLs)
	})
}

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
