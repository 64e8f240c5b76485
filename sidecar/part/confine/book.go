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

// Book has the passes of commands, from when their call leaves until they have ended, or
// could not run any more. It is safe for concurrent use.
type Book struct {
	addr  string // of the proxy
	tool  string // that runs commands
	lasts func(*ruleset.Set) time.Duration
	now   func() time.Time

	mu     sync.Mutex
	passes map[string]entry
}

// entry is a pass, how to end it, and when it ends by itself.
type entry struct {
	Pass
	done  chan struct{}
	until time.Time
}

// NewBook is for a proxy at HOST:PORT. A pass lasts as long as its command may, from when it is admitted.
func NewBook(addr string, lasts func(*ruleset.Set) time.Duration, now func() time.Time) *Book {
	return &Book{addr: addr, tool: "exec", lasts: lasts, now: now, passes: map[string]entry{}}
}

// Admit writes down what a command may reach, and gives the URL of the proxy with its
// credentials. Code that was not read reaches what the command names, and known hosts.
func (b *Book) Admit(set *ruleset.Set, p guard.Permit) (proxy string, err error) {
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
			b.drop(old)
		}
	}
	b.passes[ticket] = entry{pass, done, now.Add(b.lasts(set))}
	return (&url.URL{Scheme: "http", User: url.UserPassword(ticket, pass.Secret), Host: b.addr}).String(), nil
}

// Pass is that of a ticket.
func (b *Book) Pass(ticket string) (p Pass, found bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, found := b.passes[ticket]
	if found && b.now().After(e.until) {
		b.drop(ticket)
		return Pass{}, false
	}
	return e.Pass, found
}

// End takes a pass back, and ends its connections.
func (b *Book) End(ticket string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, found := b.passes[ticket]; found {
		b.drop(ticket)
	}
}

func (b *Book) drop(ticket string) {
	close(b.passes[ticket].done)
	delete(b.passes, ticket)
}
