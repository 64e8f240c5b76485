//go:build !unix

package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
)

// Look is os.Lstat. How many names a file has is not known.
func (Links) Look(path string) (paths.Entry, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return paths.Entry{}, err
	}
	return paths.Entry{Mode: info.Mode(), Names: 1}, nil
}

// List is os.File.ReadDir of a folder. There are no pipes in folders here.
func (Links) List(folder string, most int) ([]fs.DirEntry, error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(most)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

func open(paths.Use) (*os.File, error) { return nil, errors.ErrUnsupported }

func replace(paths.Use, []byte) error { return errors.ErrUnsupported }

func remove(paths.Use) error { return errors.ErrUnsupported }
