//go:build !unix

package workspace

import (
	"errors"
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

func open(paths.Use) (*os.File, error) { return nil, errors.ErrUnsupported }

func replace(paths.Use, []byte) error { return errors.ErrUnsupported }

func remove(paths.Use) error { return errors.ErrUnsupported }
