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

// accounts holds an account for each command that has used the proxy.
type accounts struct {
	cfg   ProxyConfig
	ctx   context.Context // of the proxy: accounts end with it
	group sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	byTicket map[string]*account
}

func newAccounts(ctx context.Context, c ProxyConfig) *accounts {
	return &accounts{cfg: c, ctx: ctx, byTicket: map[string]*account{}}
}

// account is what one command has asked for.
type account struct {
	ctx    context.Context // of the command
	ticket string
	cfg    ProxyConfig

	mu             sync.Mutex
	ended          bool
	open           sync.WaitGroup
	openRequests   int
	servers        map[serverOutcome]*traffic
	tooManyServers bool     // further ones were refused
	refused        []string // sentences for the command

	credentials map[string]*credential // of the user, by remote
}

// serverOutcome is the key of what is logged once.
type serverOutcome struct {
	server  string
	outcome decisions.Outcome
}

// traffic counts the connections and bytes of one serverOutcome.
type traffic struct {
	first          decisions.Connection
	times          int
	sent, received atomic.Int64
}

// Why a command gets no further connection.
var (
	errEnded   = errors.New("the command of this ticket has ended")
	errTooMany = errors.New("it has too many connections open; close some first")
	errServers = errors.New("it has asked for too many different servers")
)

// enter counts one more request of a command, until leave. At most so many may be open.
func (l *accounts) enter(ticket string, p Pass, most int) (*account, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errEnded
	}
	a := l.byTicket[ticket]
	if a == nil {
		ctx, cancel := context.WithCancel(l.ctx)
		a = &account{ctx: ctx, ticket: ticket, cfg: l.cfg, servers: map[serverOutcome]*traffic{}}
		l.byTicket[ticket] = a
		l.group.Go(func() {
			defer cancel()
			select {
			case <-p.Done:
			case <-l.ctx.Done():
			}
			a.end(cancel)
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.byTicket, ticket)
		})
	}
	return a, a.enter(most)
}

// wait returns when all accounts have ended, after the proxy's context.
func (l *accounts) wait() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.group.Wait()
}

func (a *account) enter(most int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.ended:
		return errEnded
	case a.openRequests >= most:
		return errTooMany
	}
	a.openRequests++
	a.open.Add(1)
	return nil
}

func (a *account) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.openRequests--
	a.open.Done()
}

// maxRefusals is how many sentences a command is told at its end.
const maxRefusals = 20

// record counts an outcome and logs the first of its kind. After an error the connection must not be
// made. Most outcomes have a record in the decision log.
func (a *account) record(c decisions.Connection, sentence string, most int) (*traffic, error) {
	key := serverOutcome{c.Server, c.Outcome}
	a.mu.Lock()
	t := a.servers[key]
	first := t == nil
	switch {
	case first && len(a.servers) >= most: // no command needs so many, and each is a record
		reported := a.tooManyServers
		a.tooManyServers = true
		a.mu.Unlock()
		if !reported {
			a.cfg.Log.Warn("further servers are refused to a command", "event", "connection_refused",
				"why", errServers.Error(), "ticket", a.ticket, "agent", c.Agent, "session", c.Session)
		}
		return nil, errServers
	case first:
		t = &traffic{first: c}
		a.servers[key] = t
		if sentence != "" && len(a.refused) < maxRefusals {
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

// refusals returns the sentences of what was refused so far.
func (a *account) refusals() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.refused)
}

// end closes what is open and logs the totals.
func (a *account) end(cancel context.CancelFunc) {
	a.mu.Lock()
	a.ended = true
	a.mu.Unlock()
	cancel()
	a.open.Wait()
	// nothing else holds the account any more
	all := slices.SortedFunc(maps.Values(a.servers), func(x, y *traffic) int {
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
		recorded := c.Outcome == decisions.Refused && c.Times == 1
		if a.cfg.Decisions != nil && !recorded {
			_ = a.cfg.Decisions.AddConnection(c) // the log itself says what it lost
		}
	}
	a.cfg.Log.Info("a command has ended its connections", "event", "connections", "ticket", a.ticket,
		"connected", connected, "refused", refused,
		"servers", len(all), "sent", sent, "received", received)
}
