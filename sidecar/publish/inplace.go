package publish

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// inPlace replaces the rule files of a folder that keeps its place. All of them
// are written first and renamed then, within a few milliseconds, which is less
// than the time that a watcher waits for quiet. If that fails half-way, what was
// there is put back.
func inPlace(dir string, files ruleset.Files, s *survey) (*Change, error) {
	before := ruleset.Files{}
	for name := range s.modes {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		before[name] = string(text)
	}
	tmp, err := stage(dir, files, s)
	if err != nil {
		return nil, err
	}
	if err := put(dir, tmp, files, s); err != nil {
		if back := restore(dir, before); back != nil {
			return nil, fmt.Errorf("%w; and what was there could not be put back whole: %w", err, back)
		}
		return nil, err
	}
	return &Change{dir: dir, before: before, survey: s}, nil
}

// restore makes files the rule files of dir again.
func restore(dir string, files ruleset.Files) error {
	s, err := look(dir)
	if err != nil {
		return err
	}
	tmp, err := stage(dir, files, s)
	if err != nil {
		return err
	}
	return put(dir, tmp, files, s)
}

// stage writes each file beside where it belongs: name → temporary path. On an
// error nothing is left of them.
func stage(dir string, files ruleset.Files, s *survey) (tmp map[string]string, err error) {
	tmp = map[string]string{}
	defer func() {
		if err != nil {
			discard(tmp)
		}
	}()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if in := filepath.Dir(at); in != dir {
			if err := makeFolder(in, s); err != nil {
				return nil, err
			}
		}
		if tmp[name], err = atomicfile.Beside(at, []byte(text), s.mode(name)); err != nil {
			return nil, err
		}
		// Who may not give it away keeps it: the folder stays its owner's, who
		// can replace it.
		_ = ownLike(tmp[name], at, s)
	}
	return tmp, nil
}

func discard(tmp map[string]string) {
	for _, path := range tmp {
		_ = os.Remove(path) // what was renamed is not there any more
	}
}

// put renames what stage wrote, and removes the rule files that are not among it.
func put(dir string, tmp map[string]string, files ruleset.Files, s *survey) error {
	defer discard(tmp)
	folders := map[string]bool{}
	for name, path := range tmp {
		folders[filepath.Dir(path)] = true
		if err := os.Rename(path, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	for name := range s.modes {
		if _, stays := files[name]; stays {
			continue
		}
		at := filepath.Join(dir, filepath.FromSlash(name))
		folders[filepath.Dir(at)] = true
		if err := os.Remove(at); err != nil {
			return err
		}
	}
	for in := range folders {
		if err := atomicfile.SyncFolder(in); err != nil {
			return err
		}
	}
	return nil
}

// keepInside writes the previous files into a hidden folder, for whoever may read
// and replace those that took their place.
func keepInside(dir string, files ruleset.Files, s *survey) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := makeFolder(dir, s); err != nil {
		return err
	}
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if in := filepath.Dir(at); in != dir {
			if err := makeFolder(in, s); err != nil {
				return err
			}
		}
		if err := atomicfile.Write(at, []byte(text), s.mode(name)); err != nil {
			return err
		}
	}
	return nil
}
