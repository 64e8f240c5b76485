package run

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

const (
	inspectionTTL     = 5 * time.Minute  // how long an inspection holds
	unreachableTTL    = 10 * time.Second // the same, if the gateway was unreachable
	badTokenTTL       = time.Minute      // the same, if it refused the token
	inspectionTimeout = 5 * time.Second  // for all questions of one inspection
	maxInspections    = 64
	maxMissing        = 1024
)

// inspection is what a gateway was seen to have for an agent.
type inspection struct {
	rules   string // version of the rules
	until   time.Time
	done    chan struct{} // closed when the fields below are set
	accepts bool          // the gateway accepts calls, or may do so soon
	missing []string
	failing []string // tools that answer 500 to a call without arguments, which may still work
}

// Tools returns the tools of gateway.yaml that the gateway has for a subject: all of them if it cannot
// be asked, none if it refuses the token.
func (c *Gateway) Tools(ctx context.Context, set *ruleset.Set, who policy.Subject) (out []tools.Tool) {
	seen := c.inspection(ctx, set, who)
	if !seen.accepts {
		return nil
	}
	for _, t := range *ruleset.Of[gatewayTools](set) {
		if !slices.Contains(seen.missing, t.Name) && !c.isMissing(c.session(who), t.Name) {
			out = append(out, t)
		}
	}
	return out
}

// equal reports whether a finished inspection saw the same.
func (l *inspection) equal(as *inspection) bool {
	if l == nil {
		return false
	}
	select {
	case <-l.done:
		return l.accepts == as.accepts && l.rules == as.rules && slices.Equal(l.missing, as.missing) &&
			slices.Equal(l.failing, as.failing)
	default:
		return false
	}
}

// inspection returns a recent inspection or makes a new one. Of concurrent callers one asks, and the
// others wait.
func (c *Gateway) inspection(ctx context.Context, set *ruleset.Set, who policy.Subject) *inspection {
	c.mu.Lock()
	kept, _ := c.inspections.Use(who.Agent)
	l := *kept
	if l != nil && l.rules == set.Version && c.cfg.Now().Before(l.until) {
		c.mu.Unlock()
		select {
		case <-l.done:
			return l
		case <-ctx.Done():
			return &inspection{}
		}
	}
	last := l
	l = &inspection{rules: set.Version, until: c.cfg.Now().Add(inspectionTTL), done: make(chan struct{})}
	*kept = l
	c.mu.Unlock()

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), inspectionTimeout) // others wait, too
	defer cancel()
	hold := c.inspect(ctx, set, who, l)
	c.mu.Lock()
	l.until = c.cfg.Now().Add(hold)
	c.mu.Unlock()
	close(l.done)
	c.logTools(set, who, l, last)
	return l
}

// probeTool is the name of a tool that no gateway has.
const probeTool = "gpt_oss_executor_asks_who_is_there"

// inspect fills l and returns how long it holds. It first calls a tool that no gateway has, which
// shows whether this is a gateway that accepts the token. Then it calls the reading tools that require
// an argument without any: one that exists reports the mistake and does nothing.
func (c *Gateway) inspect(ctx context.Context, set *ruleset.Set, who policy.Subject,
	l *inspection) (hold time.Duration) {
	hello := c.invoke(ctx, c.emptyCall(probeTool, who), who)
	switch hello.kind {
	case noSuchTool, succeeded, callFailed, toolFailed:
		l.accepts = true
	case badToken, notGateway:
		return badTokenTTL
	default: // it may be there for the calls of the run
		l.accepts = true
		return unreachableTTL
	}
	var group sync.WaitGroup
	listed := *ruleset.Of[gatewayTools](set)
	answers := make([]answerKind, len(listed))
	for i, t := range listed {
		if set.Tools.Class(t.Name) == tools.Read && gjson.GetBytes(t.Parameters, "required.#").Int() > 0 {
			group.Go(func() {
				answers[i] = c.send(ctx, c.emptyCall(t.Name, who), who).kind
			})
		}
	}
	group.Wait()
	for i, t := range listed {
		switch answers[i] {
		case noSuchTool:
			l.missing = append(l.missing, t.Name)
		case toolFailed:
			l.failing = append(l.failing, t.Name)
		}
	}
	return inspectionTTL
}

// GatewayStatus is the result of a probe.
type GatewayStatus struct {
	Trouble gatewayTrouble // empty: it accepts calls
	Why     string
	Missing []string // tools of gateway.yaml that it does not have, among reading ones
	Failing []string // tools that answer 500 to a call without arguments
}

// gatewayTrouble is why a gateway accepts no calls.
type gatewayTrouble string

// The kinds of trouble.
const (
	GatewayAway    gatewayTrouble = "away"    // it cannot be reached
	GatewayRefused gatewayTrouble = "refused" // it refuses the token
	GatewayForeign gatewayTrouble = "foreign" // the server is not a gateway
	GatewayBusy    gatewayTrouble = "busy"    // it accepts no calls for a while
)

// Probe asks the gateway now, whatever is known of it. It makes no call that does something.
func (c *Gateway) Probe(ctx context.Context, set *ruleset.Set) GatewayStatus {
	ctx, cancel := context.WithTimeout(ctx, 2*inspectionTimeout)
	defer cancel()
	who := policy.Subject{}
	hello := c.send(ctx, c.emptyCall(probeTool, who), who)
	trouble := map[answerKind]gatewayTrouble{badToken: GatewayRefused, notGateway: GatewayForeign,
		gatewayBusy: GatewayBusy, unreachable: GatewayAway, unanswered: GatewayAway}[hello.kind]
	if trouble != "" {
		return GatewayStatus{Trouble: trouble, Why: cmp.Or(hello.detail, hello.text)}
	}
	l := &inspection{}
	c.inspect(ctx, set, who, l)
	return GatewayStatus{Missing: l.missing, Failing: l.failing}
}

// emptyCall returns an invocation without arguments.
func (c *Gateway) emptyCall(tool string, who policy.Subject) invocation {
	return invocation{Name: tool, Args: json.RawMessage("{}"), SessionKey: c.session(who)}
}

// logTools logs the tools of an inspection, if they have changed.
func (c *Gateway) logTools(set *ruleset.Set, who policy.Subject, l, last *inspection) {
	if !l.accepts || last.equal(l) {
		return // what is wrong was told when it was found
	}
	var has []string
	runs := ruleset.Of[Runs](set)
	for _, t := range *ruleset.Of[gatewayTools](set) {
		if rule := runs.Tool(t.Name); !slices.Contains(l.missing, t.Name) && rule.Offered() {
			has = append(has, t.Name)
		}
	}
	c.cfg.Log.Info("runs may call tools of the gateway", "event", "gateway_tools", "gateway", c.url.Host,
		"agent", who.Agent, "tools", has, "not_there", l.missing, "answer_500", l.failing)
}

// knownAnswer returns the answer to an invocation, if it is known without sending it.
func (c *Gateway) knownAnswer(o invocation) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.cfg.Now()
	if now.Before(c.pausedUntil) {
		a := c.pauseAnswer
		if a.kind == gatewayBusy {
			a.after = int(c.pausedUntil.Sub(now)/time.Second) + 1
		}
		return a, true
	}
	if until := c.missing.Get(toolKey(o.SessionKey, o.Name)); until != nil && now.Before(*until) {
		return answer{kind: noSuchTool}, true
	}
	return answer{}, false
}

func toolKey(session, tool string) string { return session + "\x00" + tool }

// isMissing reports whether a call of the session has shown that a tool does not exist.
func (c *Gateway) isMissing(session, tool string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	until := c.missing.Get(toolKey(session, tool))
	return until != nil && c.cfg.Now().Before(*until)
}

// remember notes what an answer says of the gateway and logs each trouble once.
func (c *Gateway) remember(o invocation, a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	trouble := ""
	switch a.kind {
	case badToken:
		c.pauseAnswer, c.pausedUntil, trouble = a, c.cfg.Now().Add(badTokenTTL), a.detail
	case gatewayBusy:
		if a.detail != "" { // it asks all to wait, not this call
			c.pauseAnswer, c.pausedUntil, trouble = a, c.cfg.Now().Add(min(time.Duration(a.after)*time.Second,
				inspectionTTL)), a.detail
		}
	case notGateway:
		trouble = "what answers is no gateway: " + a.detail
	case unreachable:
		if a.canceled {
			return
		}
		trouble = "the gateway cannot be reached: " + a.detail
	case noSuchTool:
		if o.Name != probeTool {
			until, _ := c.missing.Use(toolKey(o.SessionKey, o.Name))
			*until = c.cfg.Now().Add(inspectionTTL)
		}
	case unanswered:
		return // it may be this call alone
	}
	if trouble != "" && trouble != c.trouble {
		c.cfg.Log.Warn("the gateway's tools cannot be used", "event", "gateway_trouble", "gateway", c.url.Host,
			"detail", trouble)
	} else if trouble == "" && c.trouble != "" {
		c.cfg.Log.Info("the gateway's tools can be used again", "event", "gateway_back", "gateway", c.url.Host)
	}
	c.trouble = trouble
}
