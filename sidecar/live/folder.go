package live

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// kept is the folder inside one of rules that holds the files before.
const kept = ".previous"

// Change is a folder whose rule files were just replaced. It ends with Keep or with
// Undo.
type Change struct {
	dir    string
	before *content
}

// Folder makes files the rule files of a folder, and makes the folder where there is
// none. by is their origin for the log and the history of a server that watches the folder, such as
// ByPromote; empty: saved files. An error says why nothing was changed.
func Folder(dir string, files rulefile.Files, by string) (*Change, error) {
	c, err := folder(dir, files, by)
	if errors.Is(err, syscall.EBUSY) {
		err = fmt.Errorf("%w: it is mounted by itself; change it where it comes from", err)
	}
	if err != nil {
		return nil, fmt.Errorf("publish to %s: %w", dir, err)
	}
	return c, nil
}

func folder(dir string, files rulefile.Files, by string) (*Change, error) {
	for name := range files {
		if !rulefile.IsRuleFile(name) {
			return nil, fmt.Errorf("%s is not the name of a rule file", name)
		}
	}
	if len(files) == 0 {
		return nil, errors.New("there is no rule file")
	}
	before, err := write(dir, files, by, nil)
	c := &Change{dir, before}
	if err != nil && before != nil {
		if back := c.restore(); back != nil {
			err = fmt.Errorf("%w; and what was there could not be put back whole: %w", err, back)
		}
	}
	return c, err
}

// Keep ends a change: what stood there before is kept for Previous. An error means that
// it is not; the new files stay.
func (c *Change) Keep() error {
	if c.before.info == nil {
		return nil
	}
	if _, err := write(filepath.Join(c.dir, kept), c.before.texts(), "", c.before); err != nil {
		return fmt.Errorf("keep the previous rules: %w", err)
	}
	return nil
}

// Undo ends a change: the rule files are what they were before.
func (c *Change) Undo() error {
	if err := c.restore(); err != nil {
		return fmt.Errorf("put the previous rules back: %w", err)
	}
	return nil
}

func (c *Change) restore() error {
	if c.before.info == nil {
		return os.RemoveAll(c.dir)
	}
	_, err := write(c.dir, c.before.texts(), "", c.before)
	return err
}

// Previous is the folder that holds what dir held before the last change.
func Previous(dir string) (string, error) {
	at := filepath.Join(dir, kept)
	if info, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return "", fmt.Errorf("nothing is kept of what stood in %s before", dir)
	} else if err != nil {
		return "", err
	}
	return at, nil
}
