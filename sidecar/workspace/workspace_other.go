//go:build !unix

package workspace

import (
	"errors"
	"io/fs"
	"os"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
)

// Look finds nothing: paths are judged as Unix has them, so they are those of another machine.
func (Links) Look(string) (paths.Entry, error) { return paths.Entry{}, fs.ErrNotExist }

// List finds nothing, either.
func (Links) List(string, int) ([]fs.DirEntry, error) { return nil, fs.ErrNotExist }

func open(paths.Use) (*os.File, error) { return nil, errors.ErrUnsupported }

func replace(paths.Use, []byte) error { return errors.ErrUnsupported }

func remove(paths.Use) error { return errors.ErrUnsupported }
