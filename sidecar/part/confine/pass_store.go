package confine

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// PassStore holds the passes of commands, from when their call leaves until they have ended or could
// not run any more. It is safe for concurrent use.
type PassStore struct {
	addr     string // of the proxy
	tool     string // that runs commands
	lifetime func(*ruleset.Set) time.Duration
	now      func() time.Time

	mu     sync.Mutex
	passes map[string]issuedPass
}

// issuedPass is a pass that is valid until then, or until done is closed.
type issuedPass struct {
	Pass
	done  chan struct{}
	until time.Time
}

// NewPassStore returns a store for a proxy at HOST:PORT. Lifetime is how long a pass is valid.
func NewPassStore(addr string, lasts func(*ruleset.Set) time.Duration, now func() time.Time) *PassStore {
	return &PassStore{addr: addr, tool: "exec", lifetime: lasts, now: now, passes: map[string]issuedPass{}}
}

// Admit issues a pass and returns the URL of the proxy with its credentials. Code that was not read
// reaches only what the command names and known hosts.
func (b *PassStore) Admit(set *ruleset.Set, p guard.Permit) (proxy string, err error) {
	pass := Pass{
		Secret: rand.Text(), Subject: p.Who, Tool: b.tool, Rules: p.Rules,
		Any: p.Understood, Known: true, Sends: p.Understood, Remotes: p.Remotes,
	}
	if len(p.Remotes) > 0 {
		pass.User = newGitUser(os.Environ(), slices.Concat(p.Roots.Write,
			set.Confined(p.Roots.Home).Write))
	}
	for _, host := range p.Hosts {
		named, err := urls.ParsePattern(host)
		if err != nil {
			return "", fmt.Errorf("let the command reach %q: %w", host, err)
		}
		pass.Named = append(pass.Named, named)
	}
	done := make(chan struct{})
	pass.Done = done
	ticket := rand.Text()
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for old, e := range b.passes {
		if now.After(e.until) {
			b.revoke(old)
		}
	}
	b.passes[ticket] = issuedPass{pass, done, now.Add(b.lifetime(set))}
	return (&url.URL{Scheme: "http", User: url.UserPassword(ticket, pass.Secret), Host: b.addr}).String(), nil
}

// Pass returns the pass of a ticket.
func (b *PassStore) Pass(ticket string) (p Pass, found bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, found := b.passes[ticket]
	if found && b.now().After(e.until) {
		b.revoke(ticket)
		return Pass{}, false
	}
	return e.Pass, found
}

// End revokes a pass and ends its connections.
func (b *PassStore) End(ticket string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, found := b.passes[ticket]; found {
		b.revoke(ticket)
	}
}

func (b *PassStore) revoke(ticket string) {
	close(b.passes[ticket].done)
	delete(b.passes, ticket)
}
