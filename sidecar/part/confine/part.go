// Package confine runs commands so that the kernel confines them. It issues a ticket per command: a
// file, written before the call leaves, that says what the command may touch; the guard decides what
// that is. It also serves the network of confined commands, an HTTP proxy on loopback, and the
// transport of git. The rules in force judge each connection as it is written and again with its
// address, and it goes to that address. TLS is not opened.
package confine

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// Part is the part confine.
type Part struct{}

// Settings say whether commands run confined.
type Settings struct {
	Confine string `rule:"confine" is:"WHERE" one:"auto here off" doc:"Whether the kernel confines commands. here: it does; the gateway runs them on this machine, as the user of this program. auto, which is the default: as here, if this user has run the command openclaw on this machine, and this program listens for this machine alone. off: they run as the gateway runs them." eg:"here"`
	Egress  string `rule:"egress" is:"MODE" one:"on off" doc:"on, which is the default: confined commands reach the network through a proxy of this program, which listens at a free port of 127.0.0.1. off: they have no network."`
}

// Name returns the name of the part.
func (Part) Name() string { return "confine" }

// Settings returns the defaults.
func (Part) Settings() any { return &Settings{} }

// Rules returns the limits of one command.
func (Part) Rules() []ruleset.Section { return []ruleset.Section{Section(), NetworkSection()} }

// Commands returns confine and the ssh of confined git.
func (Part) Commands(env cli.Env) []*cobra.Command {
	return []*cobra.Command{confineCommand(env), gitSSHCommand(env)}
}

// Walls returns what this machine enforces, and whose commands serve confines.
func (Part) Walls(agents []string) cli.Walls {
	var out cli.Walls
	out.Here, _ = Agents(true, agents)
	for _, g := range walls.Probe().Parts {
		out.Holds = append(out.Holds, cli.Hold{Part: string(g.Part), About: g.About, By: g.By,
			Missing: g.Missing})
	}
	return out
}

// Open confines commands if that is possible. Stop waits for the proxy.
func (Part) Open(ctx context.Context, c *service.Core) (stop func() error, err error) {
	s := config.Of[Settings](&c.Settings)
	set := c.Rules.Set()
	roots := c.Guard.World.Roots(set)
	issuers, err := openIssuers(c, s, set.AgentNames(), slices.Concat(roots.Write,
		set.Confined(roots.Home).Write, []string{c.Settings.Workspace}))
	if err != nil {
		return nil, err
	}
	var out net.Listener // of the proxy of confined commands; nil: there is none
	var passes *PassStore
	if s.Egress != Off && issuers.any() {
		if out, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, fmt.Errorf("listen for confined commands: %w", err)
		}
		c.Guard.World = c.Guard.World.WithServer(out.Addr().String())
		passes = NewPassStore(out.Addr().String(), PassLifetime, time.Now)
	}
	issuers.configure(&c.Guard, passes)
	if out == nil {
		return nil, nil
	}
	ended := func() error { return out.Close() } // until it is served
	c.Start = append(c.Start, func() error {
		ended = serveEgress(ctx, out, ProxyConfig{Rules: c.Rules, Judge: c.Judge, Passes: passes,
			Resolver: net.DefaultResolver, Metrics: c.Metrics, Log: c.Log}, c.Decisions)
		return nil
	})
	return func() error { return ended() }, nil
}
