//go:build !unix

package experiment

import (
	"os"
	"path/filepath"
)

// hold cannot keep other processes away here.
func hold(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, fileMode)
}
