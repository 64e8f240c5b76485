package guard

import (
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Connection says whether a running command may connect to a server, as far as its address
// is known. It counts nothing: the call was counted when it left.
func (g *Guard) Connection(set *ruleset.Set, who policy.Subject, tool string, u urls.Use) policy.Decision {
	now := g.Now()
	return set.CheckConnection(u, tool, who,
		g.World.at(Moment{Now: now, Rates: g.rates.Session(who.Session, now),
			Opened: func(port int) bool { return g.ports.Opened(who.Session, port, g.open) }}))
}
