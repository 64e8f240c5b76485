package confine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
)

// ledger has an account for each command that has asked for something.
type ledger struct {
	cfg  ProxyConfig
	ctx  context.Context // of the proxy: accounts end with it
	ends sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	accounts map[string]*account
}

func newLedger(ctx context.Context, c ProxyConfig) *ledger {
	return &ledger{cfg: c, ctx: ctx, accounts: map[string]*account{}}
}

// account is what one command has done.
type account struct {
	ctx    context.Context // of the command
	ticket string
	cfg    ProxyConfig

	mu      sync.Mutex
	ended   bool
	open    sync.WaitGroup
	now     int // how many are open
	servers map[outcome]*tally
	full    bool     // further servers were refused
	refused []string // sentences, for the command's own eyes

	credentials map[string]*credential // of the user, by remote
}

// outcome is what is logged once: what became of the wish to reach a server.
type outcome struct {
	server  string
	outcome decisions.Outcome
}

// tally is how often it came to that, and how much went through.
type tally struct {
	first          decisions.Connection
	times          int
	sent, received atomic.Int64
}

// What a command cannot have more of.
var (
	errEnded   = errors.New("the command of this ticket has ended")
	errTooMany = errors.New("it has too many connections open; close some first")
	errServers = errors.New("it has asked for too many different servers")
)

// enter counts one more request of a command, until leave. Most may be open.
func (l *ledger) enter(ticket string, p Pass, most int) (*account, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errEnded
	}
	a := l.accounts[ticket]
	if a == nil {
		ctx, cancel := context.WithCancel(l.ctx)
		a = &account{ctx: ctx, ticket: ticket, cfg: l.cfg, servers: map[outcome]*tally{}}
		l.accounts[ticket] = a
		l.ends.Go(func() {
			defer cancel()
			select {
			case <-p.Done:
			case <-l.ctx.Done():
			}
			a.end(cancel)
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.accounts, ticket)
		})
	}
	return a, a.enter(most)
}

// wait ends when all accounts are settled, after the context of the proxy.
func (l *ledger) wait() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.ends.Wait()
}

func (a *account) enter(most int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.ended:
		return errEnded
	case a.now >= most:
		return errTooMany
	}
	a.now++
	a.open.Add(1)
	return nil
}

func (a *account) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now--
	a.open.Done()
}

// maxTold is how many sentences a command is told at its end.
const maxTold = 20

// note writes down what became of a wish. The first of its kind is logged; the error
// means that it must not come true. Of most kinds there is a record.
func (a *account) note(c decisions.Connection, sentence string, most int) (*tally, error) {
	key := outcome{c.Server, c.Outcome}
	a.mu.Lock()
	t := a.servers[key]
	first := t == nil
	switch {
	case first && len(a.servers) >= most: // no command needs so many, and each is a record
		told := a.full
		a.full = true
		a.mu.Unlock()
		if !told {
			a.cfg.Log.Warn("further servers are refused to a command", "event", "connection_refused",
				"why", errServers.Error(), "ticket", a.ticket, "agent", c.Agent, "session", c.Session)
		}
		return nil, errServers
	case first:
		t = &tally{first: c}
		a.servers[key] = t
		if sentence != "" && len(a.refused) < maxTold {
			a.refused = append(a.refused, sentence)
		}
	}
	t.times++
	a.mu.Unlock()
	a.cfg.Metrics.Connections.WithLabelValues(string(c.Outcome)).Inc()
	if !first {
		return t, nil
	}
	if c.Outcome == decisions.Refused {
		a.cfg.Log.Warn("a connection of a command is refused", "event", "connection_refused",
			"server", c.Server, "address", c.Address, "effect", c.Effect,
			"rule", c.Rule, "place", c.Place, "why", c.Why, "ticket", a.ticket, "agent", c.Agent,
			"session", c.Session, "rules", c.Rules)
	}
	if a.cfg.Decisions == nil {
		return t, nil
	}
	return t, a.cfg.Decisions.AddConnection(c)
}

// refusals are the sentences of what was refused so far.
func (a *account) refusals() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.refused)
}

// end closes what is open, and logs how much there was of everything.
func (a *account) end(cancel context.CancelFunc) {
	a.mu.Lock()
	a.ended = true
	a.mu.Unlock()
	cancel()
	a.open.Wait()
	// nothing else holds the account any more
	all := slices.SortedFunc(maps.Values(a.servers), func(x, y *tally) int {
		return cmp.Or(cmp.Compare(x.first.Server, y.first.Server), cmp.Compare(x.first.Outcome,
			y.first.Outcome))
	})
	var connected, refused int
	var sent, received int64
	for _, t := range all {
		c := t.first
		c.Times, c.Sent, c.Received = t.times, t.sent.Load(), t.received.Load()
		if c.Outcome == decisions.Refused {
			refused += c.Times
		} else {
			connected += c.Times
		}
		sent, received = sent+c.Sent, received+c.Received
		said := c.Outcome == decisions.Refused && c.Times == 1
		if a.cfg.Decisions != nil && !said {
			_ = a.cfg.Decisions.AddConnection(c) // the log itself says what it lost
		}
	}
	a.cfg.Log.Info("a command has ended its connections", "event", "connections", "ticket", a.ticket,
		"connected", connected, "refused", refused,
		"servers", len(all), "sent", sent, "received", received)
}
