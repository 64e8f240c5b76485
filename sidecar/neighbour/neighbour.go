// Package neighbour puts the sidecar next to a gateway: it finds out what the gateway has to know,
// and prints it, writes it into the gateway's config, or says what in one will hurt. It is what
// the command openclaw does. It starts nothing and restarts no gateway.
package neighbour

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
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
	Told      bool     // somebody has said which the upstream of the settings is
	Environ   []string // NAME=value
	Out, Err  io.Writer
	Colours   terminal.Colours
}

// Learn finds out what is not said yet. Whatever is wrong is one of the flags.
func (n *Neighbour) Learn(ctx context.Context, set *ruleset.Set) (err error) {
	if n.URL, err = openclaw.Base(cmp.Or(n.URL, n.address())); err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	if err := n.name(set); err != nil {
		return err
	}
	n.key()
	if err := n.supervise(); err != nil {
		return err
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

// address is where a sidecar with these settings is reached from its own machine.
func (n *Neighbour) address() string {
	host, port, err := net.SplitHostPort(n.Settings.Listen)
	if ip, perr := netip.ParseAddr(host); err == nil && (host == "" || perr == nil && ip.IsUnspecified()) {
		return "http://" + net.JoinHostPort("127.0.0.1", port)
	}
	return "http://" + n.Settings.Listen
}

// tokenName is the variable with the token that callers must show.
const tokenName = config.Prefix + "TOKEN"

// key names the token of the environment, if the flag says none. It is not written down.
func (n *Neighbour) key() {
	switch {
	case n.Key != "" || n.Settings.Token == "":
	case strings.HasPrefix(n.Settings.Token, "file:"):
		fmt.Fprintf(n.Err, "%s names a file, which the gateway does not read: no apiKey is set; name a variable of the gateway that holds the token, such as --key '${GPT_OSS_TOKEN}'\n", tokenName)
	default:
		n.Key = "${" + tokenName + "}"
		n.tellSecret(tokenName)
	}
}

func (n *Neighbour) tellSecret(name string) {
	fmt.Fprintf(n.Err, "%s is a secret, and is not written down: the gateway needs it in its environment, or in ~/.openclaw/.env\n", name)
}

// supervise says how the gateway starts this program, or what is to be renewed if it does already.
func (n *Neighbour) supervise() error {
	listen := openclaw.Listen(n.URL)
	if listen != "" {
		n.Service = &openclaw.Service{Listen: listen, Upstream: n.Settings.Upstream, Guessed: !n.Told}
	}
	if !n.Start {
		return nil
	}
	program, err := os.Executable()
	switch {
	case err != nil:
		return fmt.Errorf("name this program: %w", err)
	case listen == "":
		return fmt.Errorf("--local-service: the gateway can start the sidecar on its own machine only, and %s is on another one, or has no port", n.URL)
	case strings.Contains(program, "/go-build"):
		return fmt.Errorf("--local-service: %s is gone when go run ends; run the program that make build makes", program)
	}
	handed, secrets, err := n.handed()
	if err != nil {
		return fmt.Errorf("--local-service: %w", err)
	}
	n.Service.Start(program, int(n.Idle.Milliseconds()), handed, func(name string) bool { return slices.Contains(secrets, name) })
	for _, p := range n.Service.Env {
		if p.Value == "${"+p.Key+"}" && p.Key != tokenName {
			n.tellSecret(p.Key)
		}
	}
	return nil
}

// handed are the variables that the sidecar gets, and the names of the secrets among them. The
// gateway starts it elsewhere, so that paths are written out.
func (n *Neighbour) handed() (pairs, secrets []string, err error) {
	variables := map[string]config.Setting{}
	for _, f := range n.Settings.All() {
		variables[f.Variable()] = f
		if f.Flag() == "" {
			secrets = append(secrets, f.Variable())
		}
	}
	variables["OPENCLAW_WORKSPACE"] = variables[config.Prefix+"WORKSPACE"]
	for _, pair := range n.Environ {
		name, value, _ := strings.Cut(pair, "=")
		if !openclaw.Handed(name) {
			continue
		}
		if value != "" {
			if value, err = variables[name].Whole(value); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		pairs = append(pairs, name+"="+value)
	}
	return pairs, secrets, nil
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
func (n *Neighbour) note() {
	fmt.Fprintln(n.Err, "confine:", service.NoteAgent(ruleset.OpenClaw, n.URL))
}
