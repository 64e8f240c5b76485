package neighbour

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openclaw"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openclaw/file"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// Write merges the settings into a config. It shows what changes first, and leaves a config
// that OpenClaw itself refuses as it is, as one that others change meanwhile.
func (n *Neighbour) Write(ctx context.Context, path string) error {
	f, err := file.Read(path)
	if err != nil {
		return err
	}
	text, err := openclaw.Merge(f.Text, n.Sidecar)
	if err != nil {
		return fmt.Errorf("%s:%w", path, err)
	}
	n.doubt()
	if bytes.Equal(text, f.Text) {
		n.say(terminal.Plain, "nothing to change in %s", path)
	} else if err := n.replace(ctx, f, text); err != nil {
		return err
	}
	for _, found := range openclaw.Check(text, n.Sidecar) {
		if found.Status != openclaw.OK {
			n.show(path, found)
		}
	}
	n.note()
	return nil
}

func (n *Neighbour) replace(ctx context.Context, f file.File, text []byte) error {
	for _, t := range [][]byte{f.Text, text} {
		var refused *file.Refused
		if err := file.Validate(ctx, f.Path, t); errors.As(err, &refused) {
			return fmt.Errorf("%w\n%s was left as it is; openclaw doctor says more", err, f.Path)
		} else if err != nil {
			fmt.Fprintln(n.Err, "warning: OpenClaw itself was not asked whether it takes the settings:", err)
			break
		}
	}
	n.changes(f.Path, f.Text, text)
	backup, err := f.Write(text, time.Now())
	if err != nil {
		return err
	}
	n.say(terminal.Plain, "wrote %s; the old one is %s", f.Path, backup)
	n.say(terminal.Plain, "to put it back: gpt-oss-executor openclaw --undo %s", f.Path)
	return nil
}

// Undo puts the newest backup of a config back. A gateway that leaves the sidecar with it is forgotten.
func (n *Neighbour) Undo(path string) error {
	u, err := file.Undo(path, time.Now())
	if err != nil {
		return err
	}
	n.changes(path, u.Before, u.After)
	n.say(terminal.Plain, "put back %s", u.Backup)
	if u.Aside != "" {
		n.say(terminal.Bold, "%s had changed since it was written; what was there is now %s", path, u.Aside)
	}
	return service.ForgetAgent(ruleset.OpenClaw, func(sidecar string) bool {
		return openclaw.Leads(u.Before, sidecar) && !openclaw.Leads(u.After, sidecar)
	})
}

// Check says what in a config will hurt, and whether all works.
func (n *Neighbour) Check(path string, asJSON bool) (works bool, err error) {
	f, err := file.Read(path)
	if err != nil {
		return false, err
	}
	list := openclaw.Check(f.Text, n.Sidecar)
	for _, found := range list {
		if !asJSON {
			n.show(path, found)
			continue
		}
		line, err := json.Marshal(found)
		if err != nil {
			return false, err
		}
		fmt.Fprintf(n.Out, "%s\n", line)
	}
	return openclaw.Worst(list) != openclaw.Fail, nil
}

// show shows a finding, and below it how to mend what hurts.
func (n *Neighbour) show(path string, f openclaw.Finding) {
	ink := map[openclaw.Status]terminal.Ink{openclaw.Fail: terminal.Red, openclaw.Warn: terminal.Bold}[f.Status]
	n.say(ink, "%s:%d: %s %s: %s", path, f.Line, f.Status, f.Name, f.Found)
	switch {
	case f.Fix == "":
	case f.Path == "":
		n.say(terminal.Plain, "    mend it: %s", f.Fix)
	default:
		n.say(terminal.Plain, "    mend it: %s (in %s)", f.Fix, f.Path)
	}
}

// changes shows what changes in a config, as diff -u does.
func (n *Neighbour) changes(path string, before, after []byte) {
	for line := range strings.Lines(openclaw.Diff(path, before, after)) {
		n.say(map[byte]terminal.Ink{'-': terminal.Red, '+': terminal.Green, '@': terminal.Faint}[line[0]], "%s", strings.TrimRight(line, "\r\n"))
	}
}

// say writes a line that does a terminal no harm.
func (n *Neighbour) say(ink terminal.Ink, format string, args ...any) {
	fmt.Fprintln(n.Out, n.Colours.Paint(terminal.Printable(fmt.Sprintf(format, args...)), ink))
}
