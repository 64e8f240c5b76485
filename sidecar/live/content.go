package live

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// content is what stands in a folder of rules.
type content struct {
	info  fs.FileInfo // of the folder; nil: there is none
	files map[string]file
}

// file is a rule file.
type file struct {
	text string
	info fs.FileInfo
}

// look reads the rule files of a folder. The error names what speaks against a
// publication there.
func look(dir string) (*content, error) {
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
			if err := c.take(dir, filepath.ToSlash(filepath.Join(folder, f.Name())), f); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// take reads one thing in the folder, if it is a rule file. Its name has slashes.
func (c *content) take(dir, name string, f fs.DirEntry) error {
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

// mode is that of a rule file: the one that it has, or one that fits the folder. Never
// may everyone write to it.
func (c *content) mode(name string) fs.FileMode {
	if f, ok := c.files[name]; ok {
		return f.info.Mode().Perm() &^ 0o002
	}
	return c.folderMode() & 0o666
}

// folderMode is that of the folder, for a new one the usual.
func (c *content) folderMode() fs.FileMode {
	if c.info == nil {
		return 0o755
	}
	return c.info.Mode() & (fs.ModePerm | fs.ModeSetgid | fs.ModeSticky) &^ 0o002
}

// own gives what was made in the place of a rule file the owner of that file, or of the folder. If this
// process may not give it away, it keeps it: the owner of the folder can replace it.
func (c *content) own(path, name string) {
	like := c.info
	if f, ok := c.files[name]; ok {
		like = f.info
	}
	if like != nil {
		_ = chown(path, like)
	}
}
