// Package publish puts files on disk whole or not at all: one file, or a whole
// folder of rules, so that whoever reads them never sees half of a change.
package publish

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// unfinished begins the name of what is being written. Rule files of such a name
// do not count.
const unfinished = ".new-"

// File writes a file through a temporary one beside it, and returns when the disk
// has it.
func File(path string, text []byte, mode fs.FileMode) error {
	tmp, err := temporary(filepath.Dir(path), text, mode)
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return flush(filepath.Dir(path))
}

// Sweep removes from a folder what a crash has left of files that File wrote.
func Sweep(dir string) error {
	list, err := os.ReadDir(dir)
	for _, f := range list {
		if strings.HasPrefix(f.Name(), unfinished) && f.Type().IsRegular() {
			err = errors.Join(err, os.Remove(filepath.Join(dir, f.Name())))
		}
	}
	return err
}

// temporary writes a file of a new name into dir.
func temporary(dir string, text []byte, mode fs.FileMode) (path string, err error) {
	f, err := os.CreateTemp(dir, unfinished+"*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// flush makes the names inside a folder safe against a power cut, where the file
// system knows how to, and where we may read the folder.
func flush(dir string) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
