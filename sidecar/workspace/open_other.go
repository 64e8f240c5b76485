//go:build !unix

package workspace

import (
	"errors"
	"os"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
)

func open(paths.Use) (*os.File, error) { return nil, errors.ErrUnsupported }

func remove(paths.Use) error { return errors.ErrUnsupported }
