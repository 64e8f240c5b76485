// Package neighbour puts the sidecar next to a gateway: it finds out what the gateway has to know,
// and prints it, writes it into the gateway's config, or says what in one will hurt. It is what
// the command openclaw does. It starts nothing and restarts no gateway.
package neighbour

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/json5"
	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openclaw"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// Neighbour is a sidecar that is to be put next to a gateway.
type Neighbour struct {
	openclaw.Sidecar
	Named     []string      // ids of models to be named; none: all that answer in place of a model
	Executor  bool          // name the models that run tools of their own, too
	AskWindow bool          // ask the model server for its context window; Window is what is usual
	Start     bool          // the gateway starts the sidecar
	Idle      time.Duration // after which it stops it; 0: never
	Settings  config.Settings
	Environ   []string // NAME=value
	Out, Err  io.Writer
	Colours   terminal.Colours
}

// Learn finds out what is not said yet. Whatever is wrong is one of the flags.
func (n *Neighbour) Learn(ctx context.Context, set *ruleset.Set) error {
	if err := n.name(set); err != nil {
		return err
	}
	if n.Start {
		if err := n.supervise(); err != nil {
			return err
		}
	}
	if !n.AskWindow {
		return nil
	}
	s := n.Settings
	if err := s.ReadSecrets(); err != nil {
		return err
	}
	least, why := service.LeastWindow(ctx, s, set)
	if n.Guessed = least == 0; n.Guessed {
		fmt.Fprintf(n.Err, "context window: %d is assumed: %s; give it with --context-window\n", n.Window, why)
		return nil
	}
	n.Window = least
	fmt.Fprintf(n.Err, "context window: %d, as the model server says\n", least)
	return nil
}

// name names the models. Without a word about them these are all but those that need tools of
// their own; the default always is one of them.
func (n *Neighbour) name(set *ruleset.Set) error {
	for i, m := range set.Models {
		n.Serves = append(n.Serves, m.ID.Value)
		if i == 0 || m.Mode != ruleset.Executor || n.Executor {
			n.Models = append(n.Models, m.ID.Value)
		}
	}
	for _, id := range n.Named {
		if !slices.Contains(n.Serves, id) {
			return fmt.Errorf("--models: there is no model %q; there are %s", id, strings.Join(n.Serves, ", "))
		}
	}
	if len(n.Named) > 0 {
		n.Models = n.Named
	}
	return nil
}

// supervise says how the gateway starts this program.
func (n *Neighbour) supervise() error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("name this program: %w", err)
	}
	if strings.Contains(program, "/go-build") {
		return fmt.Errorf("--local-service: %s is gone when go run ends; run the program that make build makes", program)
	}
	var handed []string
	for _, pair := range n.Environ {
		if strings.HasPrefix(pair, config.Prefix) || strings.HasPrefix(pair, "OPENCLAW_WORKSPACE=") {
			handed = append(handed, pair)
		}
		if value, ok := strings.CutPrefix(pair, config.Prefix+"TOKEN="); ok && value != "" {
			n.Key = cmp.Or(n.Key, "${"+config.Prefix+"TOKEN}")
		}
	}
	secret := func(name string) bool {
		return slices.ContainsFunc(n.Settings.All(), func(f config.Setting) bool { return f.Variable() == name && f.Flag() == "" })
	}
	n.Service, err = openclaw.NewService(program, n.URL, n.Settings.Upstream, int(n.Idle.Milliseconds()), handed, secret)
	if err != nil {
		return fmt.Errorf("--local-service: %w", err)
	}
	for _, p := range n.Service.Env {
		if p.Value == "${"+p.Key+"}" {
			fmt.Fprintf(n.Err, "%s is a secret, and is not written down: the gateway needs it in its environment, or in ~/.openclaw/.env\n", p.Key)
		}
	}
	return nil
}

// Print prints the settings.
func (n *Neighbour) Print() error {
	n.doubt()
	if _, err := fmt.Fprint(n.Out, json5.Write(openclaw.Block(n.Sidecar))); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	n.note()
	return nil
}

func (n *Neighbour) doubt() {
	for _, doubt := range n.Doubts() {
		fmt.Fprintln(n.Err, "warning:", doubt)
	}
}

// note says what becomes of commands, and notes for serve where the gateway is.
func (n *Neighbour) note() { fmt.Fprintln(n.Err, "confine:", service.NoteGateway(n.URL)) }
