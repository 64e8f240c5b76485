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
	fresh     = 5 * time.Minute  // how long it holds what a gateway has
	soon      = 10 * time.Second // how long it holds that a gateway was not there
	shut      = time.Minute      // how long a gateway that refuses the token is left alone
	patience  = 5 * time.Second  // for all questions of one look
	maxLooks  = 64
	maxLacked = 1024
)

// look is what a gateway was seen to have for an agent.
type look struct {
	rules string // the version by which it was asked
	until time.Time
	done  chan struct{} // closed when the rest is good
	opens bool          // the gateway takes calls, or may do so soon
	lacks []string
	fails []string // they answer 500 to a call without arguments: some cannot work, others check nothing
}

// Tools are those of gateway.yaml, without those that the gateway does not have for who.
// Where it cannot be asked, none is left out; where it refuses the token, all are.
func (c *Gateway) Tools(ctx context.Context, set *ruleset.Set, who policy.Subject) (out []tools.Tool) {
	seen := c.look(ctx, set, who)
	if !seen.opens {
		return nil
	}
	for _, t := range *ruleset.Of[gatewayTools](set) {
		if !slices.Contains(seen.lacks, t.Name) && !c.lacked(c.session(who), t.Name) {
			out = append(out, t)
		}
	}
	return out
}

// same reports whether a look that has ended saw the same.
func (l *look) same(as *look) bool {
	if l == nil {
		return false
	}
	select {
	case <-l.done:
		return l.opens == as.opens && l.rules == as.rules && slices.Equal(l.lacks, as.lacks) &&
			slices.Equal(l.fails, as.fails)
	default:
		return false
	}
}

// look looks at the gateway, or gives what was seen not long ago. Of several that want to know
// one asks, and the others wait.
func (c *Gateway) look(ctx context.Context, set *ruleset.Set, who policy.Subject) *look {
	c.mu.Lock()
	kept, _ := c.looks.Use(who.Agent)
	l := *kept
	if l != nil && l.rules == set.Version && c.cfg.Now().Before(l.until) {
		c.mu.Unlock()
		select {
		case <-l.done:
			return l
		case <-ctx.Done():
			return &look{}
		}
	}
	last := l
	l = &look{rules: set.Version, until: c.cfg.Now().Add(fresh), done: make(chan struct{})}
	*kept = l
	c.mu.Unlock()

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience) // others wait, too
	defer cancel()
	hold := c.ask(ctx, set, who, l)
	c.mu.Lock()
	l.until = c.cfg.Now().Add(hold)
	c.mu.Unlock()
	close(l.done)
	c.tell(set, who, l, last)
	return l
}

// nobodys is the name of a tool that no gateway has.
const nobodys = "gpt_oss_executor_asks_who_is_there"

// ask finds out what the gateway has. The first question is for a tool that no gateway has: it shows
// whether there is a gateway, and whether it takes the token. Tools that read and cannot do
// without an argument are called without: the one that is there says so, and does nothing.
func (c *Gateway) ask(ctx context.Context, set *ruleset.Set, who policy.Subject,
	l *look) (hold time.Duration) {
	hello := c.invoke(ctx, c.empty(nobodys, who), who)
	switch hello.means {
	case absent, done, failedAnswer, broke:
		l.opens = true
	case refused, stranger:
		return shut
	default: // it may be there for the calls of the run
		l.opens = true
		return soon
	}
	var group sync.WaitGroup
	listed := *ruleset.Of[gatewayTools](set)
	said := make([]meaning, len(listed))
	for i, t := range listed {
		if set.Tools.Class(t.Name) == tools.Read && gjson.GetBytes(t.Parameters, "required.#").Int() > 0 {
			group.Go(func() {
				said[i] = c.send(ctx, c.empty(t.Name, who), who).means
			})
		}
	}
	group.Wait()
	for i, t := range listed {
		switch said[i] {
		case absent:
			l.lacks = append(l.lacks, t.Name)
		case broke:
			l.fails = append(l.fails, t.Name)
		}
	}
	return fresh
}

// GatewayProbed is what a gateway was found to be. Wrong is empty where it takes calls.
type GatewayProbed struct {
	Wrong gatewayTrouble
	Why   string
	Lacks []string // tools of gateway.yaml that it does not have, as far as reading ones tell
	Fails []string // that answer 500 to a call without arguments
}

// gatewayTrouble is why a gateway takes no calls.
type gatewayTrouble string

// The kinds of trouble.
const (
	GatewayAway    gatewayTrouble = "away"    // it cannot be reached
	GatewayRefused gatewayTrouble = "refused" // it does not accept the token
	GatewayForeign gatewayTrouble = "foreign" // who answers is no gateway
	GatewayBusy    gatewayTrouble = "busy"    // it takes no calls for a while
)

// Probe asks the gateway now, whatever is known of it. It makes no call that does something.
func (c *Gateway) Probe(ctx context.Context, set *ruleset.Set) GatewayProbed {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	who := policy.Subject{}
	hello := c.send(ctx, c.empty(nobodys, who), who)
	trouble := map[meaning]gatewayTrouble{refused: GatewayRefused, stranger: GatewayForeign,
		busy: GatewayBusy, away: GatewayAway, lost: GatewayAway}[hello.means]
	if trouble != "" {
		return GatewayProbed{Wrong: trouble, Why: cmp.Or(hello.detail, hello.text)}
	}
	l := &look{}
	c.ask(ctx, set, who, l)
	return GatewayProbed{Lacks: l.lacks, Fails: l.fails}
}

// empty is an order without arguments.
func (c *Gateway) empty(tool string, who policy.Subject) order {
	return order{Name: tool, Args: json.RawMessage("{}"), SessionKey: c.session(who)}
}

// tell tells the operator what was seen, where that is new.
func (c *Gateway) tell(set *ruleset.Set, who policy.Subject, l, last *look) {
	if !l.opens || last.same(l) {
		return // what is wrong was told when it was found
	}
	var has []string
	runs := ruleset.Of[Runs](set)
	for _, t := range *ruleset.Of[gatewayTools](set) {
		if rule := runs.Tool(t.Name); !slices.Contains(l.lacks, t.Name) && rule.Offered() {
			has = append(has, t.Name)
		}
	}
	c.cfg.Log.Info("runs may call tools of the gateway", "event", "gateway_tools", "gateway", c.at.Host,
		"agent", who.Agent, "tools", has, "not_there", l.lacks, "answer_500", l.fails)
}
