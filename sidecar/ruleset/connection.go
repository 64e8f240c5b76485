package ruleset

import (
	"slices"
	"strconv"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
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
