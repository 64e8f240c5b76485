package setup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/connection"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
)

// Agent is an agent whose connection is described by data.
type Agent struct {
	Name string
	Here bool // its commands run on its own machine, as its user
	connection.Connection
}

// configPath is a config file of an agent with its path.
type configPath struct {
	connection.Config
	path string
}

// configs returns the config files of an agent: the first one at path, or if path is empty all at their
// usual places.
func (c *Connector) configs(a Agent, path string) (out []configPath, err error) {
	for _, config := range a.Configs {
		if path != "" {
			return []configPath{{config, path}}, nil
		}
		out = append(out, configPath{config, config.Path(c.variable, exists)})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no config file that is known here; run gpt-oss-executor connect %s, and do what it says", a.Name, a.Name)
	}
	return out, nil
}

// variable returns an environment variable. Without HOME, the system provides the home folder.
func (c *Connector) variable(name string) (value string) {
	for _, pair := range c.Environ {
		if key, v, _ := strings.Cut(pair, "="); key == name {
			value = v
		}
	}
	if value == "" && name == "HOME" {
		value, _ = os.UserHomeDir()
	}
	return value
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// sidecar returns the values that an agent's settings need.
func (c *Connector) sidecar() connection.Sidecar {
	reply := connection.Tokens{Number: c.Tokens}
	if c.Tokens == 0 {
		reply = connection.Tokens{Number: min(openclaw.DefaultTokens, c.Window/2), Guessed: true}
	}
	return connection.Sidecar{URL: c.URL, Key: c.Key, Models: c.Models, Serves: c.Serves,
		Window: connection.Tokens{Number: c.Window, Guessed: c.Guessed}, Reply: reply}
}

// PrintAgent prints the settings of an agent as a config without any others.
func (c *Connector) PrintAgent(a Agent) error {
	configs, _ := c.configs(a, "") // an agent without configs has commands
	for _, config := range configs {
		text, err := config.Merge(nil, a.Key, c.sidecar())
		if err != nil {
			return err
		}
		fmt.Fprintf(c.Err, "for %s:\n", config.path)
		if _, err := c.Out.Write(text); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	c.warn(a)
	return nil
}

// WriteAgent merges the settings into the configs of an agent, and shows the changes first. If one config
// cannot be read, none is written.
func (c *Connector) WriteAgent(a Agent, path string) error {
	configs, err := c.configs(a, path)
	if err != nil {
		return err
	}
	files, texts := make([]File, len(configs)), make([][]byte, len(configs))
	for i, config := range configs {
		if files[i], err = Read(config.path); err != nil {
			return err
		}
		if texts[i], err = config.Merge(files[i].Text, a.Key, c.sidecar()); err != nil {
			return fmt.Errorf("%s:%w", config.path, err)
		}
	}
	for i, config := range configs {
		if bytes.Equal(texts[i], files[i].Text) {
			c.say(terminal.Plain, "nothing to change in %s", config.path)
			continue
		}
		if err := c.replace(files[i], texts[i], config.Format.Value, "connect "+a.Name); err != nil {
			return err
		}
	}
	if a.Here {
		c.note(a.Name)
	}
	c.warn(a)
	return nil
}

// replace shows the changes of a config and writes it.
func (c *Connector) replace(f File, text []byte, format, command string) error {
	c.changes(f.Path, format, f.Text, text)
	backup, err := f.Write(text, time.Now())
	switch {
	case err != nil:
		return err
	case f.Missing:
		c.say(terminal.Plain, "made %s", f.Path)
	default:
		c.say(terminal.Plain, "wrote %s; the old one is %s", f.Path, backup)
	}
	c.say(terminal.Plain, "to put it back: gpt-oss-executor %s --undo %s", command, f.Path)
	return nil
}

// UndoAgent restores the newest backups of an agent's configs.
func (c *Connector) UndoAgent(a Agent, path string) error {
	configs, err := c.configs(a, path)
	if err != nil {
		return err
	}
	undone := 0
	var none error // perhaps only some of them were written
	for _, config := range configs {
		_, err := c.undo(config.path, config.Format.Value)
		switch {
		case errors.Is(err, ErrNoBackup):
			none = err
		case err != nil:
			return err
		default:
			undone++
		}
	}
	if undone == 0 {
		return none
	}
	return confine.ForgetAgent(a.Name, func(string) bool { return true })
}

// undo restores the newest backup of a config.
func (c *Connector) undo(path, format string) (Undone, error) {
	u, err := Undo(path, time.Now())
	if err != nil {
		return u, err
	}
	c.changes(path, format, u.Before, u.After)
	if u.Removed {
		c.say(terminal.Plain, "removed %s: there was none before", path)
	} else {
		c.say(terminal.Plain, "put back %s", u.Backup)
	}
	if u.Aside != "" {
		c.say(terminal.Bold, "%s had changed since it was written; what was there is now %s", path, u.Aside)
	}
	return u, nil
}

// warn prints what else must be set.
func (c *Connector) warn(a Agent) {
	s, settings := c.sidecar(), a.Told(c.sidecar())
	window, reply, one, key := s, s, s, s
	window.Window.Number++
	reply.Reply.Number++
	one.Models, key.Key = s.Models[:1], "${X}"
	for _, flag := range []struct {
		names string
		given bool
		other connection.Sidecar
	}{{"--context-window", !c.AskWindow, window}, {"--max-tokens", c.Tokens > 0, reply},
		{"--models or --executor", len(c.Named) > 1 || c.Executor, one}} {
		if flag.given && a.Told(flag.other) == settings {
			fmt.Fprintf(c.Err, "note: the settings of %s have no place for %s\n", a.Name, flag.names)
		}
	}
	switch name := s.Variable(); {
	case name != "" && a.Told(key) != settings:
		fmt.Fprintf(c.Err, "note: %s is a secret, and is not written down: %s needs it in its environment\n",
			name, a.Name)
	case name != "":
		fmt.Fprintf(c.Err, "note: %s is a secret, and %s has no way to name a variable: no key is set; --key TOKEN writes one down\n", name, a.Name)
	}
	for _, command := range a.Commands {
		if text, ok := s.Say(command.Value, a.Key); ok {
			fmt.Fprintln(c.Err, "run:", text)
		}
	}
	for _, remark := range a.Remarks {
		if text, ok := s.Say(remark.Value, a.Key); ok {
			fmt.Fprintln(c.Err, "note:", text)
		}
	}
}
