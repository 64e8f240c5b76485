package rulefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

var errNoFolder = errors.New("there is no such folder; a new one is made with: gpt-oss-executor init DIR")

var errNoFiles = errors.New("it holds no *.yaml file; write some with: gpt-oss-executor init DIR")

// unread is why a folder cannot be read, with its name.
func unread(dir string, err error) error {
	var at *fs.PathError
	if !errors.As(err, &at) {
		return fmt.Errorf("%s: %w", dir, err)
	}
	itself, missing := os.Lstat(dir)
	if errors.Is(missing, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", dir, errNoFolder)
	}
	if missing != nil {
		return because(missing, dir, 0)
	}
	return because(err, dir, itself.Mode())
}

// because names what cannot be read once, and says what to do about it.
func because(err error, name string, kind fs.FileMode) error {
	var at *fs.PathError
	switch {
	case !errors.As(err, &at):
		return err
	case errors.Is(err, fs.ErrNotExist) && kind&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link that leads nowhere; mend or remove it", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w; let the user who runs this program read it", name, at.Err)
	}
	return fmt.Errorf("%s: %w", name, at.Err)
}
