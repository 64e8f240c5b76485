// Package publish puts the rule files of a folder on disk, all of them or none, so that
// whoever reads them never sees half of a change.
package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Change is a folder whose rule files were just replaced. It ends with Keep or
// with Undo.
type Change struct {
	dir    string
	aside  string        // where the folder before stands; empty: it is still there, or there was none
	before ruleset.Files // the rule files that were replaced in place
	survey *survey       // where they stood
	fresh  bool          // there was no folder
}

// Folder makes files the rule files of a folder, and all of them at once: a new
// folder is written beside it, and the two are swapped. What else stands in the
// folder is carried over. Where the folder must keep its place, as a mount point
// must, or its owner could not be kept, its files are replaced one by one, in
// quick succession. An error says why nothing was changed.
func Folder(dir string, files ruleset.Files) (*Change, error) {
	c, err := folder(dir, files)
	if err != nil {
		return nil, fmt.Errorf("publish to %s: %w", dir, err)
	}
	return c, nil
}

func folder(dir string, files ruleset.Files) (*Change, error) {
	for name := range files {
		if !ruleset.Counted(name) {
			return nil, fmt.Errorf("%s is no name of a rule file", name)
		}
	}
	if len(files) == 0 {
		return nil, errors.New("there is no rule file")
	}
	dir, err := real(dir)
	if err != nil {
		return nil, err
	}
	s, err := look(dir)
	if err != nil {
		return nil, err
	}
	if s.mount {
		return inPlace(dir, files, s)
	}
	c, err := swapped(dir, files, s)
	if stays(err) && s.folder != nil {
		return inPlace(dir, files, s)
	}
	return c, err
}

// real follows links to the folder itself, as far as it is there.
func real(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	at, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return dir, nil
	}
	return at, err
}

// stays reports whether an error means that a folder cannot be moved, or not be
// written beside, while the files in it perhaps can.
func stays(err error) bool {
	for _, e := range []error{fs.ErrPermission, syscall.EROFS, syscall.EBUSY, syscall.EXDEV} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// swapped writes a folder beside dir and swaps the two.
func swapped(dir string, files ruleset.Files, s *survey) (c *Change, err error) {
	beside, err := os.MkdirTemp(filepath.Dir(dir), atomicfile.Unfinished+filepath.Base(dir)+"-*")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeFolder(beside))
		}
	}()
	if err := fill(beside, dir, files, s); err != nil {
		return nil, err
	}
	c = &Change{dir: dir, aside: beside}
	if s.folder == nil {
		c.fresh, c.aside = true, ""
		err = os.Rename(beside, dir)
	} else {
		err = swap(beside, dir)
	}
	if err != nil {
		return nil, err
	}
	// From here on, what stands beside is the folder before, and nothing may fail.
	// Whichever of the two a power cut leaves here is whole.
	_ = atomicfile.SyncFolder(filepath.Dir(dir))
	return c, nil
}

// swap exchanges two folders: in one step, or, where that cannot be, with a
// moment in which none has the second name.
func swap(a, b string) error {
	err := exchange(a, b)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	third := a + "-old"
	if err := os.Rename(b, third); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(third, b))
	}
	if err := os.Rename(third, a); err != nil {
		return errors.Join(err, os.Rename(b, a), os.Rename(third, b))
	}
	return nil
}

// removeFolder is os.RemoveAll, which fails for a folder inside one that cannot
// be read.
func removeFolder(dir string) error {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, f := range list {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, f.Name())))
	}
	return errors.Join(err, os.Remove(dir))
}

// InPlace reports whether the files were replaced one by one, so that for a moment
// a reader could see some of the old ones with some of the new ones.
func (c *Change) InPlace() bool { return c.before != nil }

// Keep ends a change: what stood there before is kept for Previous. An error
// means that it is not; the new files stay.
func (c *Change) Keep() (err error) {
	switch {
	case c.fresh:
	case c.InPlace():
		err = keepInside(filepath.Join(c.dir, keptInside), c.before, c.survey)
	default:
		beside := c.dir + keptBeside
		if err = removeFolder(beside); err == nil {
			err = os.Rename(c.aside, beside)
		}
	}
	if err != nil {
		return fmt.Errorf("keep the previous rules: %w", err)
	}
	return nil
}

// Undo ends a change: the folder is what it was before.
func (c *Change) Undo() (err error) {
	switch {
	case c.fresh:
		err = removeFolder(c.dir)
	case c.InPlace():
		err = restore(c.dir, c.before)
	default:
		if err = swap(c.aside, c.dir); err == nil {
			err = removeFolder(c.aside)
		}
	}
	if err != nil {
		return fmt.Errorf("put the previous rules back: %w", err)
	}
	return nil
}

// keptBeside ends the name of the folder that stands for the previous content.
const keptBeside = ".previous"

// Previous is the folder that holds what dir held before the last change.
func Previous(dir string) (string, error) {
	dir, err := real(dir)
	if err != nil {
		return "", err
	}
	for _, kept := range []string{filepath.Join(dir, keptInside), strings.TrimSuffix(dir, string(filepath.Separator)) + keptBeside} {
		if info, err := os.Stat(kept); err == nil && info.IsDir() {
			return kept, nil
		}
	}
	return "", fmt.Errorf("nothing is kept of what stood in %s before", dir)
}
