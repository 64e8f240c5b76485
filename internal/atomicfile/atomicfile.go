// Package atomicfile writes a file as a whole or not at all: first beside its place, then, once it is on
// disk, over the old one. It also locks files, so that one process alone writes to a folder.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Unfinished begins the name of a file that is being written.
const Unfinished = ".new-"

// ErrHeld is the error of a file that another process has locked.
var ErrHeld = errors.New("another process has locked it")

// Write writes a file and returns when it is on disk.
func Write(path string, text []byte, mode fs.FileMode) error {
	return write(path, text, mode, nil)
}

// Like writes a file with the mode of another one and, if this process may, its owner.
func Like(path string, text []byte, other fs.FileInfo) error {
	return write(path, text, other.Mode().Perm(), other)
}

// WriteFor writes a file for the owner of another one, if this process may give it away.
func WriteFor(path string, text []byte, mode fs.FileMode, other fs.FileInfo) error {
	return write(path, text, mode, other)
}

// write gives the file to the owner of another one, if there is one, before renaming it.
func write(path string, text []byte, mode fs.FileMode, other fs.FileInfo) error {
	tmp, err := Stage(path, text, mode)
	if err != nil {
		return err
	}
	if other != nil {
		Own(tmp, other)
	}
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return SyncFolder(filepath.Dir(path))
}

// Replace overwrites a file. Its mode and owner stay, and a link stays a link.
func Replace(path string, text []byte) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	return Like(target, text, info)
}

// Stage writes a file of a new name into the folder of path. The caller renames it to path, and then
// calls SyncFolder.
func Stage(path string, text []byte, mode fs.FileMode) (tmp string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), Unfinished+"*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// Sweep removes the unfinished files of a crash from a folder.
func Sweep(dir string) error {
	list, err := os.ReadDir(dir)
	for _, f := range list {
		if strings.HasPrefix(f.Name(), Unfinished) && f.Type().IsRegular() {
			err = errors.Join(err, os.Remove(filepath.Join(dir, f.Name())))
		}
	}
	return err
}

// SyncFolder makes the names in a folder durable, if the file system supports that and the folder is
// readable.
func SyncFolder(dir string) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) ||
		errors.Is(err, fs.ErrPermission) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
