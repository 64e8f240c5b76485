package publish

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// fill makes the folder to what old shall be: its other content, and the files.
func fill(to, old string, files ruleset.Files, s *survey) error {
	folders := []string{to}
	for _, name := range s.rest {
		at := filepath.Join(to, filepath.FromSlash(name))
		if err := carry(filepath.Join(old, filepath.FromSlash(name)), at); err != nil {
			return fmt.Errorf("carry over %s: %w", name, err)
		}
		if info, err := os.Lstat(at); err == nil && info.IsDir() {
			folders = append(folders, at)
		}
	}
	for name, text := range files {
		at := filepath.Join(to, filepath.FromSlash(name))
		if dir := filepath.Dir(at); dir != to {
			if err := makeFolder(dir, s); err != nil {
				return err
			}
			if err := ownLike(dir, filepath.Join(old, filepath.Dir(filepath.FromSlash(name))), s); err != nil {
				return err
			}
			folders = append(folders, dir)
		}
		if err := atomicfile.Write(at, []byte(text), s.mode(name)); err != nil {
			return err
		}
		if err := ownLike(at, filepath.Join(old, filepath.FromSlash(name)), s); err != nil {
			return err
		}
	}
	for _, dir := range folders {
		if err := atomicfile.SyncFolder(dir); err != nil {
			return err
		}
	}
	if s.folder != nil {
		if err := own(to, s.folder); err != nil {
			return err
		}
	}
	return os.Chmod(to, s.folderMode())
}

// makeFolder makes a folder inside one of rules, if it is not there.
func makeFolder(dir string, s *survey) error {
	err := os.Mkdir(dir, s.folderMode())
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil || s.folder == nil {
		return err
	}
	return os.Chmod(dir, s.folderMode()) // whatever the umask is
}

// ownLike gives a file or folder the owner of the one that it replaces, or of the
// folder around it.
func ownLike(path, old string, s *survey) error {
	if info, err := os.Lstat(old); err == nil {
		return own(path, info)
	}
	if s.folder != nil {
		return own(path, s.folder)
	}
	return nil
}

// carry copies one file, link or empty folder with its mode and owner.
func carry(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	mode := info.Mode().Perm() &^ 0o002
	switch {
	case info.IsDir():
		err = os.Mkdir(to, mode|0o700)
	case info.Mode()&fs.ModeSymlink != 0:
		var target string
		if target, err = os.Readlink(from); err == nil {
			err = os.Symlink(target, to)
		}
	default:
		err = copyFile(from, to, mode)
	}
	if err != nil {
		return err
	}
	return own(to, info)
}

func copyFile(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(mode), out.Sync(), out.Close())
}
