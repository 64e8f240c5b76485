package run

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

// applyPatch makes every new text first: a patch that does not fit changes nothing. Where a file
// cannot be written after that, the error says what was done before it.
func (w *toolWork) applyPatch() (string, error) {
	list, err := parsePatch(w.in.Input)
	if err != nil {
		return "", err
	}
	texts := make([]string, len(list))
	seen := map[string]bool{}
	for i := range list {
		c := &list[i]
		for _, name := range c.names() {
			key := w.place(name)
			if seen[key] {
				return "", fmt.Errorf("patch:%d: %s stands in the patch twice", c.line, name)
			}
			seen[key] = true
		}
		if texts[i], err = w.prepare(c); err != nil {
			return "", err
		}
	}
	var done []string
	for i := range list {
		did, err := w.change(&list[i], texts[i])
		if err != nil {
			return "", fmt.Errorf("%w; done before it: %s", err, strings.Join(append(done, "nothing else"),
				", "))
		}
		done = append(done, did)
	}
	return strings.Join(done, "\n"), nil
}

// prepare checks that a change can be made and returns the new text of the file.
func (w *toolWork) prepare(c *change) (text string, err error) {
	if c.moves() {
		err = w.absent(c.to)
	}
	switch {
	case err != nil:
	case c.remove:
		err = w.removable(c.path)
	case c.add != nil:
		text, err = joined(c.add, "\n", true), w.absent(c.path)
	default:
		if text, err = w.text(c.path); err != nil {
			return "", err
		}
		return c.apply(w.ctx, text)
	}
	if err != nil {
		return "", fmt.Errorf("patch:%d: %w", c.line, err)
	}
	return text, nil
}

// moves reports whether the file gets another name.
func (c *change) moves() bool {
	return c.to != "" && filepath.Clean(c.to) != filepath.Clean(c.path)
}

// names are the files that a change touches.
func (c *change) names() []string {
	if c.moves() {
		return []string{c.path, c.to}
	}
	return []string{c.path}
}

// place is where a file is, whatever it is called.
func (w *toolWork) place(name string) string {
	if use, err := w.call.May(paths.Read, name); err == nil && use.Resolved != "" {
		return use.Resolved
	}
	return filepath.Clean(name)
}

// absent is an error where a file is there, or where that cannot be told: what is no text
// would be lost as well.
func (w *toolWork) absent(path string) error {
	use, err := w.call.May(paths.Read, path)
	if err != nil {
		return err
	}
	f, err := workspace.Open(use)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer f.Close()
	return fmt.Errorf("%s is there already; use *** Update File", path)
}

// removable is an error where no file is there.
func (w *toolWork) removable(path string) error {
	use, err := w.call.May(paths.Delete, path)
	if err != nil {
		return err
	}
	switch there, err := (workspace.Links{}).Look(use.Resolved); {
	case err != nil:
		return fmt.Errorf("delete %s: %w", path, err)
	case there.Mode.IsDir():
		return fmt.Errorf("%s is a folder: remove it with exec", path)
	}
	return nil
}

// change does to a file what the patch says.
func (w *toolWork) change(c *change, text string) (string, error) {
	switch {
	case c.remove:
		return "deleted " + c.path, w.remove(c.path)
	case c.moves():
		if err := w.put(c.to, text); err != nil {
			return "", err
		}
		return "changed " + c.path + ", which is now " + c.to, w.remove(c.path)
	case c.add != nil:
		return "added " + c.path, w.put(c.path, text)
	}
	return "changed " + c.path, w.put(c.path, text)
}

func (w *toolWork) remove(path string) error {
	use, err := w.call.May(paths.Delete, path)
	if err != nil {
		return err
	}
	return workspace.Remove(use)
}
