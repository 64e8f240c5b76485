package setup

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// Connector connects agents to a sidecar.
type Connector struct {
	openclaw.Sidecar
	Agent     string        // empty: an OpenClaw gateway
	Named     []string      // models to offer; none: all models
	Executor  bool          // also offer the models that run tools of their own
	AskWindow bool          // ask the model server for its context window instead of using Window
	Start     bool          // the gateway starts the sidecar
	Writes    bool          // the config is written, not only printed or checked
	Idle      time.Duration // after which it stops it; 0: never
	Settings  config.Settings
	Upstream  bool     // the user named the upstream
	Environ   []string // NAME=value
	Out, Err  io.Writer
	Colours   terminal.Colours
}

// Learn completes the fields that the user did not set. An error is about a flag.
func (c *Connector) Learn(ctx context.Context, set *ruleset.Set) (err error) {
	if c.URL, err = openclaw.Base(cmp.Or(c.URL, c.address())); err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	if err := c.name(set); err != nil {
		return err
	}
	c.key()
	if err := c.supervise(); err != nil {
		return err
	}
	if !c.AskWindow {
		return nil
	}
	s := c.Settings
	if err := s.ReadSecrets(); err != nil {
		return err
	}
	least, why := leastWindow(ctx, s, set)
	if c.Guessed = least == 0; c.Guessed {
		fmt.Fprintf(c.Err, "context window: %d is assumed, and --context-window names another: %s\n",
			c.Window, why)
		return nil
	}
	c.Window = least
	fmt.Fprintf(c.Err, "context window: %d, as the model server says\n", least)
	return nil
}

// name chooses the models. By default these are all that need no tools of their own, and the default model.
func (c *Connector) name(set *ruleset.Set) error {
	for i, m := range set.Models {
		c.Serves = append(c.Serves, m.ID.Value)
		if i == 0 || m.Mode != ruleset.Executor || c.Executor {
			c.Models = append(c.Models, m.ID.Value)
		}
	}
	for _, id := range c.Named {
		if !slices.Contains(c.Serves, id) {
			return fmt.Errorf("--models: there is no model %q; there are %s", id,
				strings.Join(c.Serves, ", "))
		}
	}
	if len(c.Named) > 0 {
		c.Models = c.Named
	}
	return nil
}

// address returns the URL of a sidecar with these settings, on its own machine.
func (c *Connector) address() string {
	host, port, err := net.SplitHostPort(c.Settings.Listen)
	if ip, perr := netip.ParseAddr(host); err == nil && (host == "" || perr == nil && ip.IsUnspecified()) {
		return "http://" + net.JoinHostPort("127.0.0.1", port)
	}
	return "http://" + c.Settings.Listen
}

// tokenName is the variable with the token for callers.
const tokenName = config.Prefix + "TOKEN"

// key refers to the token of the environment, unless the flag gives one. The token itself is not written.
func (c *Connector) key() {
	switch {
	case c.Key != "" || c.Settings.Token == "":
	case strings.HasPrefix(c.Settings.Token, "file:"):
		who := cmp.Or(c.Agent, "the gateway")
		fmt.Fprintf(c.Err, "%s names a file, which %s does not read: no key is set; name a variable of %s that holds the token, such as --key '${GPT_OSS_TOKEN}'\n", tokenName, who, who)
	default:
		c.Key = "${" + tokenName + "}"
		if c.Agent == "" {
			c.tellSecret(tokenName)
		}
	}
}

func (c *Connector) tellSecret(name string) {
	fmt.Fprintf(c.Err, "%s is a secret, and is not written down: the gateway needs it in its environment, or in ~/.openclaw/.env\n", name)
}

// supervise sets how the gateway starts this program, or what to renew if it already does.
func (c *Connector) supervise() error {
	listen := openclaw.Listen(c.URL)
	if listen != "" {
		c.Service = &openclaw.Service{Listen: listen, Upstream: c.Settings.Upstream, Guessed: !c.Upstream}
	}
	if !c.Start {
		return nil
	}
	program, err := os.Executable()
	switch {
	case err != nil:
		return fmt.Errorf("name this program: %w", err)
	case listen == "":
		return fmt.Errorf("--local-service: the gateway can start the sidecar on its own machine only, and %s is on another one, or has no port", c.URL)
	case strings.Contains(program, "/go-build"):
		return fmt.Errorf("--local-service: %s is gone when go run ends; run the program that make build makes", program)
	}
	handed, secrets, err := c.handed()
	if err == nil {
		handed, err = c.keep(handed)
	}
	if err != nil {
		return fmt.Errorf("--local-service: %w", err)
	}
	c.Service.Start(program, int(c.Idle.Milliseconds()), handed,
		func(name string) bool { return slices.Contains(secrets, name) })
	for _, p := range c.Service.Env {
		if p.Value == "${"+p.Key+"}" && p.Key != tokenName {
			c.tellSecret(p.Key)
		}
	}
	return nil
}

// handed returns the variables for the sidecar, and the names of secrets among them. Paths are made
// absolute, since the gateway starts it elsewhere.
func (c *Connector) handed() (pairs, secrets []string, err error) {
	variables := map[string]config.Setting{}
	for _, f := range c.Settings.All() {
		variables[f.Variable()] = f
		if f.Flag() == "" {
			secrets = append(secrets, f.Variable())
		}
	}
	variables["OPENCLAW_WORKSPACE"] = variables[config.Prefix+"WORKSPACE"]
	for _, pair := range c.Environ {
		name, value, _ := strings.Cut(pair, "=")
		if !openclaw.IsSetting(name) {
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

func (c *Connector) Print() error {
	c.doubt()
	if _, err := fmt.Fprint(c.Out, jsonc.Write(openclaw.Block(c.Sidecar))); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	c.note(ruleset.OpenClaw)
	return nil
}

func (c *Connector) doubt() {
	for _, doubt := range c.Doubts() {
		fmt.Fprintln(c.Err, "warning:", doubt)
	}
}

// note prints what happens to the commands of an agent, and notes for serve that the agent is here.
func (c *Connector) note(agent string) {
	fmt.Fprintln(c.Err, "confine:", confine.NoteAgent(agent, c.URL))
}

// keep adds the defaults of a sidecar that the gateway starts to its variables: a state folder, a log file in
// it, and the console with a token. With Writes it makes the folder, the token and a note of the console's
// address, and prints a new token. Without it, it names only what was made before.
func (c *Connector) keep(pairs []string) ([]string, error) {
	dir, err := service.StateOf(c.Settings)
	if err == nil && c.Writes {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("make the state folder: %w", err)
	}
	open := func(name string) bool {
		return !slices.ContainsFunc(pairs, func(p string) bool {
			return strings.HasPrefix(p, config.Prefix+name+"=")
		})
	}
	add := func(name, value string) { pairs = append(pairs, config.Prefix+name+"="+value) }
	if open("STATE") {
		add("STATE", dir)
	}
	if open("LOG_OUTPUT") && exists(dir) {
		logs := filepath.Join(dir, "sidecar.log")
		add("LOG_OUTPUT", logs)
		fmt.Fprintln(c.Err, "log:", logs)
	}
	if !open("ADMIN") {
		return pairs, nil
	}
	address, file := filepath.Join(dir, "console_address"), filepath.Join(dir, "admin_token")
	ownToken := open("ADMIN_TOKEN")
	if !c.Writes && !(exists(address) && (exists(file) || !ownToken)) {
		fmt.Fprintf(c.Err, "console: there is none yet; with --write a log file, a console and its token are made in %s\n", dir)
		return pairs, nil
	}
	admin, err := consoleAt(address, c.Service.Listen)
	if err != nil {
		return nil, fmt.Errorf("find a port for the console: %w", err)
	}
	add("ADMIN", admin)
	if !ownToken {
		return pairs, nil
	}
	add("ADMIN_TOKEN", "file:"+file)
	switch token, err := newToken(file); {
	case err != nil:
		return nil, fmt.Errorf("make a token for the console: %w", err)
	case token == "":
		fmt.Fprintf(c.Err, "console: http://%s/, with the token in %s\n", admin, file)
	default:
		fmt.Fprintf(c.Err, "console: http://%s/, with this token, which is in %s: %s\n", admin, file, token)
	}
	return pairs, nil
}

// consoleAt returns the address in a file, or else the next free one after that of the sidecar, which it
// writes to the file.
func consoleAt(file, listen string) (address string, err error) {
	if text, err := os.ReadFile(file); err == nil {
		return strings.TrimSpace(string(text)), nil
	}
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return "", err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return "", err
	}
	for range 20 {
		port = port%65535 + 1
		address = net.JoinHostPort(host, strconv.Itoa(port))
		l, err := net.Listen("tcp", address)
		if err == nil {
			return address, errors.Join(l.Close(), os.WriteFile(file, []byte(address+"\n"), 0o600))
		}
	}
	return "", errors.New("none behind " + listen + " is free; set " + config.Prefix + "ADMIN")
}

// newToken makes a file with a token that only its owner can read. The token is empty if the file exists.
func newToken(file string) (token string, err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	token = rand.Text()
	_, err = fmt.Fprintln(f, token)
	return token, errors.Join(err, f.Close())
}
