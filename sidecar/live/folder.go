package live

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// previousFolder holds the previous files inside a folder of rules.
const previousFolder = ".previous"

// Change is a folder whose rule files were replaced. It ends with Keep or Undo.
type Change struct {
	dir    string
	before *content
}

// ReplaceFiles makes files the rule files of a folder, which it creates if needed. by is their origin for
// the log and history of a server that watches the folder, such as ByPromote; empty: saved files. An error
// says why nothing has changed.
func ReplaceFiles(dir string, files rulefile.Files, by string) (*Change, error) {
	c, err := replaceFiles(dir, files, by)
	if errors.Is(err, syscall.EBUSY) {
		err = fmt.Errorf("%w: it is mounted by itself; change it where it comes from", err)
	}
	if err != nil {
		return nil, fmt.Errorf("publish to %s: %w", dir, err)
	}
	return c, nil
}

func replaceFiles(dir string, files rulefile.Files, by string) (*Change, error) {
	for name := range files {
		if !rulefile.IsRuleFile(name) {
			return nil, fmt.Errorf("%s is not the name of a rule file", name)
		}
	}
	if len(files) == 0 {
		return nil, errors.New("there is no rule file")
	}
	before, err := writeFiles(dir, files, by, nil)
	c := &Change{dir, before}
	if err != nil && before != nil {
		if back := c.restore(); back != nil {
			err = fmt.Errorf("%w; and what was there could not be put back whole: %w", err, back)
		}
	}
	return c, err
}

// Keep ends a change and keeps the old files for Previous. After an error the new files stay.
func (c *Change) Keep() error {
	if c.before.info == nil {
		return nil
	}
	if _, err := writeFiles(filepath.Join(c.dir, previousFolder), c.before.texts(), "",
		c.before); err != nil {
		return fmt.Errorf("keep the previous rules: %w", err)
	}
	return nil
}

// Undo ends a change and restores the old files.
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
	_, err := writeFiles(c.dir, c.before.texts(), "", c.before)
	return err
}

// Previous returns the folder with the files before the last change.
func Previous(dir string) (string, error) {
	at := filepath.Join(dir, previousFolder)
	if info, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return "", fmt.Errorf("nothing is kept of what stood in %s before", dir)
	} else if err != nil {
		return "", err
	}
	return at, nil
}

// content is the content of a folder of rules.
type content struct {
	info  fs.FileInfo // of the folder; nil: it does not exist
	files map[string]file
}

// file is a rule file.
type file struct {
	text string
	info fs.FileInfo
}

// readFolder reads the rule files of a folder. The error says why nothing can be published there.
func readFolder(dir string) (*content, error) {
	c := &content{files: map[string]file{}}
	var err error
	if c.info, err = os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	for _, folder := range append([]string{"."}, rulefile.Folders()...) {
		list, err := os.ReadDir(filepath.Join(dir, folder))
		if err != nil && !(folder != "." && errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
		for _, f := range list {
			if err := c.add(dir, filepath.ToSlash(filepath.Join(folder, f.Name())), f); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// add reads an entry of the folder, if it is a rule file. Its name has slashes.
func (c *content) add(dir, name string, f fs.DirEntry) error {
	link := f.Type()&fs.ModeSymlink != 0
	switch {
	case slices.Contains([]string{".git", ".hg", ".svn", ".jj"}, name):
		return fmt.Errorf("%s makes this a checkout, which is changed by a commit and a pull; or publish into a folder outside of it", name)
	case name == "..data":
		return errors.New("a ConfigMap is mounted here; change the ConfigMap instead")
	case rulefile.Misnamed(name):
		return fmt.Errorf("%s is not read: its name must end in .yaml", name)
	case link && (rulefile.IsRuleFile(name) || slices.Contains(rulefile.Folders(), name)):
		return fmt.Errorf("%s is a link, which a publication would replace; edit the file that it points to",
			name)
	case !f.Type().IsRegular() || !rulefile.IsRuleFile(name):
		return nil
	}
	at := filepath.Join(dir, filepath.FromSlash(name))
	info, err := f.Info()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(at)
	c.files[name] = file{string(text), info}
	return err
}

// texts are the files without their modes and owners.
func (c *content) texts() rulefile.Files {
	out := rulefile.Files{}
	for name, f := range c.files {
		out[name] = f.text
	}
	return out
}

// mode returns the mode for a rule file: its own or one that fits the folder, never writable by everyone.
func (c *content) mode(name string) fs.FileMode {
	if f, ok := c.files[name]; ok {
		return f.info.Mode().Perm() &^ 0o002
	}
	return c.folderMode() & 0o666
}

// folderMode returns the mode of the folder, or the usual one for a new folder.
func (c *content) folderMode() fs.FileMode {
	if c.info == nil {
		return 0o755
	}
	return c.info.Mode() & (fs.ModePerm | fs.ModeSetgid | fs.ModeSticky) &^ 0o002
}

// chown gives a new file the owner of the rule file that it replaces, or of the folder. If this process may
// not, it stays the owner: the owner of the folder can replace the file.
func (c *content) chown(path, name string) {
	like := c.info
	if f, ok := c.files[name]; ok {
		like = f.info
	}
	if like != nil {
		_ = chown(path, like)
	}
}

// writeFiles makes files the rule files of a folder and returns the old ones. Changed files are staged next
// to their places, and then renamed within milliseconds. by is the origin that publisher reads; empty:
// none. like has the modes and owners; nil: the old files.
func writeFiles(dir string, files rulefile.Files, by string, like *content) (before *content, err error) {
	made, err := makeFolder(dir, like)
	if err != nil {
		return nil, err
	}
	free, err := lock(dir)
	if err != nil {
		return nil, err
	}
	defer free()
	if before, err = readFolder(dir); err != nil {
		return nil, err
	}
	if made {
		before.info = nil
	}
	if like == nil {
		like = before
	}
	changed := files.Differ(before.texts())
	if text, _ := os.ReadFile(filepath.Join(dir, rulefile.PublishedFile)); len(changed) == 0 &&
		string(text) != rulefile.Publishing {
		return before, nil
	}
	staged := map[string]string{} // name → path; "": the file goes
	defer func() {
		for _, path := range staged {
			_ = os.Remove(path) // what was renamed is not there any more
		}
	}()
	for _, name := range changed {
		if staged[name], err = stage(dir, name, files, like); err != nil {
			return before, err
		}
	}
	done := fmt.Sprintf("%s %s %s\n", time.Now().UTC().Format(time.RFC3339Nano), files.Version(), by)
	return before, renameStaged(dir, staged, done, like)
}

// stage writes a file next to its place; "": the file is removed.
func stage(dir, name string, files rulefile.Files, like *content) (path string, err error) {
	text, stays := files[name]
	if !stays {
		return "", nil
	}
	at := filepath.Join(dir, filepath.FromSlash(name))
	if in := filepath.Dir(at); in != filepath.Clean(dir) {
		if _, err := makeFolder(in, like); err != nil {
			return "", err
		}
	}
	path, err = atomicfile.Stage(at, []byte(text), like.mode(name))
	if err == nil {
		like.chown(path, name)
	}
	return path, err
}

// renameStaged renames staged files, during which rulefile.ReadDir waits, and marks the publication as
// done.
func renameStaged(dir string, staged map[string]string, done string, like *content) error {
	if err := mark(dir, rulefile.Publishing, like); err != nil {
		return err
	}
	folders := map[string]bool{}
	for name, path := range staged {
		at := filepath.Join(dir, filepath.FromSlash(name))
		folders[filepath.Dir(at)] = true
		var err error
		if path == "" {
			err = os.Remove(at)
		} else {
			err = os.Rename(path, at)
		}
		if err != nil {
			return err
		}
	}
	for in := range folders {
		if err := atomicfile.SyncFolder(in); err != nil {
			return err
		}
	}
	return mark(dir, done, like)
}

// publisher returns the origin of the last publication to a folder; empty: files were edited since, or it
// names none.
func publisher(dir string, own rulefile.Files) string {
	text, _ := os.ReadFile(filepath.Join(dir, rulefile.PublishedFile))
	if mark := strings.Fields(string(text)); len(mark) == 3 && mark[1] == own.Version() {
		return mark[2]
	}
	return ""
}

// mark tells readers the state of the publication.
func mark(dir, text string, like *content) error {
	at := filepath.Join(dir, rulefile.PublishedFile)
	err := atomicfile.Write(at, []byte(text), like.folderMode()&0o666)
	if err == nil {
		like.chown(at, "")
	}
	return err
}

// makeFolder creates a folder of rules, or one inside, if it does not exist.
func makeFolder(dir string, like *content) (made bool, err error) {
	if like == nil {
		like = &content{}
	}
	err = os.Mkdir(dir, like.folderMode())
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil || like.info == nil {
		return err == nil, err
	}
	like.chown(dir, "")
	return true, os.Chmod(dir, like.folderMode()) // whatever the umask is
}

// lock waits up to a second until no other process publishes to a folder. File systems without locks give
// one at once.
func lock(dir string) (free func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if errors.Is(atomicfile.Lock(d, time.Second), atomicfile.ErrHeld) {
		return nil, errors.Join(errors.New("another process publishes there"), d.Close())
	}
	return func() { _ = d.Close() }, nil
}
