package setup

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/connection"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func ReadOpenClaw(path string) (File, error) {
	f, err := Read(path)
	if err == nil && f.Missing {
		err = fmt.Errorf("read %s: there is no such file; openclaw onboard makes one, and openclaw config file says where it is", path)
	}
	return f, err
}

// config returns the path, or the default config of OpenClaw if it is empty.
func (c *Connector) config(path string) string {
	if path != "" {
		return path
	}
	folder := cmp.Or(c.variable("OPENCLAW_STATE_DIR"),
		filepath.Join(cmp.Or(c.variable("OPENCLAW_HOME"), c.variable("HOME")), ".openclaw"))
	return cmp.Or(c.variable("OPENCLAW_CONFIG_PATH"), filepath.Join(folder, "openclaw.json"))
}

// Write merges the settings into a config and shows the changes first. It leaves a config unchanged if
// OpenClaw refuses the result, or if others change it meanwhile. An empty path is OpenClaw's default; so it
// is for Undo and Check.
func (c *Connector) Write(ctx context.Context, path string) error {
	path = c.config(path)
	f, err := ReadOpenClaw(path)
	if err != nil {
		return err
	}
	text, err := c.accepted(ctx, f)
	if err != nil {
		return err
	}
	c.doubt()
	if bytes.Equal(text, f.Text) {
		c.say(terminal.Plain, "nothing to change in %s", path)
	} else if err := c.replace(f, text, connection.JSON, "openclaw"); err != nil {
		return err
	}
	for _, found := range openclaw.Check(text, c.Sidecar) {
		if found.Status != openclaw.OK {
			c.show(path, found)
		}
	}
	c.note(ruleset.OpenClaw)
	return nil
}

// accepted returns a config with our settings that OpenClaw accepts. If OpenClaw no longer accepts security
// and ask for exec, it sets the nearest mode.
func (c *Connector) accepted(ctx context.Context, f File) ([]byte, error) {
	text, err := openclaw.Merge(f.Text, c.Sidecar)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", f.Path, err)
	}
	if bytes.Equal(text, f.Text) {
		return text, nil
	}
	err = validate(ctx, f.Path, text)
	var no *refused
	if errors.As(err, &no) && no.about("tools.exec") && !c.ExecMode {
		c.ExecMode = true
		return c.accepted(ctx, f)
	}
	if no != nil {
		return nil, fmt.Errorf("%w\n%s was left as it is; openclaw doctor says more", err, f.Path)
	}
	if err != nil {
		fmt.Fprintln(c.Err, "warning: OpenClaw itself was not asked whether it takes the settings:", err)
	}
	return text, nil
}

// Undo restores the newest backup of a config. It forgets the gateway if it no longer leads to the sidecar.
func (c *Connector) Undo(path string) error {
	path = c.config(path)
	u, err := c.undo(path, connection.JSON)
	if err != nil {
		return err
	}
	return confine.ForgetAgent(ruleset.OpenClaw, func(sidecar string) bool {
		return openclaw.Leads(u.Before, sidecar) && !openclaw.Leads(u.After, sidecar)
	})
}

// Check prints the problems of a config, and reports whether everything works.
func (c *Connector) Check(path string, asJSON bool) (works bool, err error) {
	path = c.config(path)
	f, err := ReadOpenClaw(path)
	if err != nil {
		return false, err
	}
	list := openclaw.Check(f.Text, c.Sidecar)
	for _, found := range list {
		if !asJSON {
			c.show(path, found)
			continue
		}
		line, err := json.Marshal(found)
		if err != nil {
			return false, err
		}
		fmt.Fprintf(c.Out, "%s\n", line)
	}
	return openclaw.Worst(list) != openclaw.Fail, nil
}

// show prints a finding, and below it the fix.
func (c *Connector) show(path string, f openclaw.Finding) {
	ink := map[openclaw.Status]terminal.Ink{openclaw.Fail: terminal.Red,
		openclaw.Warn: terminal.Bold}[f.Status]
	c.say(ink, "%s:%d: %s %s: %s", path, f.Line, f.Status, f.Name, f.Found)
	switch {
	case f.Fix == "":
	case f.Path == "":
		c.say(terminal.Plain, "    mend it: %s", f.Fix)
	default:
		c.say(terminal.Plain, "    mend it: %s (in %s)", f.Fix, f.Path)
	}
}

// changes prints the changes of a config as diff -u does.
func (c *Connector) changes(path, format string, before, after []byte) {
	for line := range strings.Lines(connection.Diff(path, format, before, after)) {
		c.say(map[byte]terminal.Ink{'-': terminal.Red, '+': terminal.Green, '@': terminal.Faint}[line[0]],
			"%s", strings.TrimRight(line, "\r\n"))
	}
}

// say prints a line, safe for a terminal.
func (c *Connector) say(ink terminal.Ink, format string, args ...any) {
	fmt.Fprintln(c.Out, c.Colours.Paint(terminal.Printable(fmt.Sprintf(format, args...)), ink))
}
