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

// proxyRequest is one request of a command to one server. It keeps the rule set that it began with.
type proxyRequest struct {
	ProxyConfig
	set          *ruleset.Set
	pass         Pass
	account      *account
	use          urls.Use // as written
	lastDecision policy.Decision
}

// judge judges the server as it is written, the addresses of its name, and the address that is
// dialled.
func (v *proxyRequest) judge(u urls.Use) error {
	if u.Class == urls.Unknown {
		return &refusal{status: http.StatusBadGateway, why: "its name has no address"}
	}
	d := v.Judge.Connection(v.set, v.pass.Subject, v.pass.Tool, u)
	v.lastDecision = d
	switch {
	case d.Effect == policy.Deny:
		return denied(d)
	case d.Effect == policy.Ask &&
		!(v.isNamed(u) && u.Class == v.use.Class): // what was settled was not about another kind of address
		return needsPerson(d)
	case !v.allowed(u):
		return unknownHost()
	}
	return nil
}

// allowed reports whether the pass covers a server. Loopback is left to the rules: a session may use
// the servers that it has started.
func (v *proxyRequest) allowed(u urls.Use) bool {
	here := u.Class == urls.Loopback && v.use.Class == urls.Loopback
	return here || v.isNamed(u) || v.pass.Any && u.Class == urls.Public || v.pass.Known && v.set.KnownHost(u)
}

func (v *proxyRequest) isNamed(u urls.Use) bool {
	return slices.ContainsFunc(v.pass.Named, func(p urls.Pattern) bool { return p.Covers(u) })
}

// checkSending refuses plain HTTP that would carry data, if the pass does not allow it. The proxy
// cannot see what an upgraded protocol carries.
func (v *proxyRequest) checkSending(r *http.Request) error {
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

// maxHead is about how many bytes the head of a request may have that must not send data.
const maxHead = 4 << 10

// record counts an outcome and logs the first of its kind. It returns err, or why the outcome could
// not be logged.
func (v *proxyRequest) record(method string, at urls.Use, err error) (*traffic, error) {
	c := decisions.Connection{
		Ticket: v.account.ticket, Session: v.pass.Subject.Session, Agent: v.pass.Subject.Agent,
		Tool: v.pass.Tool, Method: method, Server: v.server(), Address: at.Address,
		Effect: cmp.Or(v.lastDecision.Effect, policy.Allow), Outcome: decisions.Connected,
		Rule:  v.lastDecision.Rule,
		Place: v.lastDecision.Place, Why: v.lastDecision.Why, Findings: v.lastDecision.Audits,
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
	t, unwritten := v.account.record(c, sentence, limitsOf(v.set).Servers)
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

// maxServer is how much of an invalid server name is repeated.
const maxServer = 200

// server returns HOST:PORT, or what was written instead.
func (v *proxyRequest) server() string {
	if v.use.Host != "" && v.use.Class != urls.Malformed {
		return v.use.HostPort()
	}
	return fmt.Sprintf("%.*q", maxServer, v.use.URL)
}
