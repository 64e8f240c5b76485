package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// What is carried over is copied, so it has bounds.
const (
	maxCarried = 1000     // files and folders
	maxBytes   = 64 << 20 // of all of them together
)

// keptInside holds the previous files where they could not be kept beside the
// folder.
const keptInside = ".previous"

// survey is what stands in a folder that is about to be replaced.
type survey struct {
	folder fs.FileInfo            // nil: there is none
	modes  map[string]fs.FileMode // of the rule files
	rest   []string               // what is no rule file; folders before what is in them
	mount  bool                   // something is mounted here: the folder keeps its place
}

// look surveys a folder. The error says what stands there that neither can be
// carried over nor may get lost.
func look(dir string) (*survey, error) {
	s := &survey{modes: map[string]fs.FileMode{}}
	var err error
	if s.folder, err = os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if !s.folder.IsDir() {
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	for _, at := range mounts() {
		if at == dir {
			s.mount = true
		}
		if strings.HasPrefix(at, dir+string(filepath.Separator)) {
			return nil, fmt.Errorf("%s is mounted inside the folder and would get lost; mount the folder as a whole, or edit the files where they come from", at)
		}
	}
	bytes := int64(0)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if name == keptInside {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		bytes += info.Size()
		if err := s.take(filepath.ToSlash(name), info); err != nil {
			return err
		}
		if len(s.rest) > maxCarried || bytes > maxBytes {
			return errors.New("too much stands there that is no rule; keep a folder for the rules alone")
		}
		return nil
	})
	return s, err
}

// take notes one thing in the folder. Its name is relative, with slashes.
func (s *survey) take(name string, info fs.FileInfo) error {
	base := name[strings.LastIndexByte(name, '/')+1:]
	switch {
	case slices.Contains([]string{".git", ".hg", ".svn", ".jj"}, base):
		return fmt.Errorf("%s makes this a checkout, which is changed by a commit and a pull; or publish into a folder outside of it", name)
	case name == "..data":
		return errors.New("a ConfigMap is mounted here; change the ConfigMap instead")
	case strings.HasPrefix(base, atomicfile.Unfinished) && info.Mode().IsRegular():
		return nil // left by a crash
	case ruleset.Misnamed(name):
		return fmt.Errorf("%s is not read under this name; the ending is .yaml", name)
	case info.Mode().IsRegular() && ruleset.Counted(name):
		s.modes[name] = info.Mode().Perm()
		return nil
	case info.Mode()&fs.ModeSymlink != 0 && (ruleset.Counted(name) || ruleset.Counted(name+"/x.yaml") || ruleset.Counted(name+"/x.txt")):
		return fmt.Errorf("%s is a link, which a publication would replace; edit the file that it points to", name)
	case info.IsDir(), info.Mode().IsRegular(), info.Mode()&fs.ModeSymlink != 0:
		s.rest = append(s.rest, name)
		return nil
	}
	return fmt.Errorf("%s is neither file, folder nor link (%s) and would get lost", name, info.Mode().Type())
}

// mode is that of a rule file: the one that it had, or one that fits the folder.
// Never may everyone write to it.
func (s *survey) mode(name string) fs.FileMode {
	mode, ok := s.modes[name]
	if !ok {
		mode = s.folderMode() & 0o666
	}
	return mode &^ 0o002
}

// folderMode is that of the folder, for a new one the usual.
func (s *survey) folderMode() fs.FileMode {
	if s.folder == nil {
		return 0o755
	}
	return s.folder.Mode() & (fs.ModePerm | fs.ModeSetgid | fs.ModeSticky) &^ 0o002
}
