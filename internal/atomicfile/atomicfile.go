// Package atomicfile writes a file whole or not at all: beside its place first, then,
// when the disk has it, over what stood there. It never looks at what it writes.
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

// Write writes a file and returns when the disk has it.
func Write(path string, text []byte, mode fs.FileMode) error {
	return write(path, text, mode, nil)
}

// Like writes a file that has the mode of another one and, where this process may give it away, its owner.
func Like(path string, text []byte, other fs.FileInfo) error {
	return write(path, text, other.Mode().Perm(), other)
}

// WriteFor writes a file for the owner of another one, where this process may give it away.
func WriteFor(path string, text []byte, mode fs.FileMode, other fs.FileInfo) error {
	return write(path, text, mode, other)
}

// write gives the file to the owner of another one, if there is one, before it stands at its place.
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

// Replace writes a file that is there already. It keeps its mode and its owner, and a link to it
// stays a link.
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

// Stage writes a file of a new name into the folder of path. Its caller renames it to
// path, and then calls SyncFolder.
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

// Sweep removes from a folder the unfinished files that a crash has left.
func Sweep(dir string) error {
	list, err := os.ReadDir(dir)
	for _, f := range list {
		if strings.HasPrefix(f.Name(), Unfinished) && f.Type().IsRegular() {
			err = errors.Join(err, os.Remove(filepath.Join(dir, f.Name())))
		}
	}
	return err
}

// SyncFolder makes the names inside a folder safe against a power cut, where the file
// system can do that and the folder may be read.
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
