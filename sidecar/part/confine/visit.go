package confine

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// visit is one request of a command to one server. It keeps the rule set that it began with.
type visit struct {
	ProxyConfig
	set     *ruleset.Set
	pass    Pass
	account *account
	use     urls.Use        // as it is written
	last    policy.Decision // the last one about it
}

// judge is asked for the server as it is written, for the addresses of its name, and for the
// one that is dialled.
func (v *visit) judge(u urls.Use) error {
	if u.Class == urls.Unknown {
		return &refusal{status: http.StatusBadGateway, why: "its name has no address"}
	}
	d := v.Judge.Connection(v.set, v.pass.Subject, v.pass.Tool, u)
	v.last = d
	switch {
	case d.Effect == policy.Deny:
		return denied(d)
	case d.Effect == policy.Ask &&
		!(v.named(u) && u.Class == v.use.Class): // what was settled was not about another kind of address
		return unasked(d)
	case !v.open(u):
		return unknown()
	}
	return nil
}

// open reports whether the pass is good for a server. Those of this machine are the rules'
// alone: a session may use what it has started.
func (v *visit) open(u urls.Use) bool {
	here := u.Class == urls.Loopback && v.use.Class == urls.Loopback
	return here || v.named(u) || v.pass.Any && u.Class == urls.Public || v.pass.Known && v.set.KnownHost(u)
}

func (v *visit) named(u urls.Use) bool {
	return slices.ContainsFunc(v.pass.Named, func(p urls.Pattern) bool { return p.Covers(u) })
}

// sends refuses what would carry data in plain HTTP, where the pass does not let it. The proxy cannot see
// what a protocol carries that is switched to.
func (v *visit) sends(r *http.Request) error {
	switch {
	case r.Method == http.MethodConnect:
		if r.ContentLength != 0 {
			return &refusal{status: http.StatusBadRequest, why: "a CONNECT has no body"}
		}
	case v.use.Scheme == "https":
		return &refusal{status: http.StatusBadRequest, why: "TLS is not opened here",
			instead: "use CONNECT for https"}
	case v.pass.Sends:
	case r.Method != http.MethodGet && r.Method != http.MethodHead, r.ContentLength != 0,
		r.Header.Get("Upgrade") != "", len(r.RequestURI)+len(fmt.Sprint(r.Header)) > maxHead:
		return &refusal{status: http.StatusForbidden, why: "this command may send nothing in plain HTTP",
			rule: "plain-http", instead: "send it in a call of its own, with the URL written out, so that a person can be asked"}
	}
	return nil
}

// maxHead is about how long the head of a request may be that may send nothing, in bytes.
const maxHead = 4 << 10

// note counts what became of a visit, and logs the first of its kind. The error is the one
// that is given, or the one of the log.
func (v *visit) note(method string, at urls.Use, err error) (*tally, error) {
	c := decisions.Connection{
		Ticket: v.account.ticket, Session: v.pass.Subject.Session, Agent: v.pass.Subject.Agent,
		Tool: v.pass.Tool, Method: method, Server: v.server(), Address: at.Address,
		Effect: cmp.Or(v.last.Effect, policy.Allow), Outcome: decisions.Connected, Rule: v.last.Rule,
		Place: v.last.Place, Why: v.last.Why, Findings: v.last.Audits,
		Rules: v.set.Version, Judged: v.pass.Rules,
	}
	sentence := ""
	if err != nil {
		r := refusalOf(err, v.use)
		if r.status == http.StatusBadGateway {
			return nil, err // nothing was decided: there is no such name, or its lookup failed
		}
		c.Address, c.Effect, c.Outcome, c.Rule, c.Place, c.Why = r.address, cmp.Or(r.effect,
			policy.Deny), decisions.Refused, r.rule, r.place, r.why
		sentence = r.Error()
	}
	t, unwritten := v.account.note(c, sentence, limitsOf(v.set).Servers)
	switch {
	case err != nil:
		return t, err
	case errors.Is(unwritten, errServers):
		return nil, &refusal{status: http.StatusForbidden, why: unwritten.Error()}
	case unwritten != nil:
		v.Log.Error("a connection is refused, because its decision cannot be logged",
			"event", "decisions_required", "server", c.Server, "detail", unwritten.Error())
		return nil, &refusal{status: http.StatusServiceUnavailable,
			why: "no connection may be made while decisions cannot be logged"}
	}
	return t, nil
}

// maxServer is how much of what names no server is repeated.
const maxServer = 200

// server is HOST:PORT, or what was written in its place.
func (v *visit) server() string {
	if v.use.Host != "" && v.use.Class != urls.Malformed {
		return v.use.HostPort()
	}
	return fmt.Sprintf("%.*q", maxServer, v.use.URL)
}
