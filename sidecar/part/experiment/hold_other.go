//go:build !unix

package experiment

import (
	"os"
	"path/filepath"
)

// hold cannot lock a folder on this system.
func hold(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, fileMode)
}
