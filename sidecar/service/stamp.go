package service

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
)

// File is where the number stands in a folder.
const File = "format"

// Form is the one that this version writes. It reads all before it. It goes up with a change that an older
// version would misread or write over.
const Form = 1

// ErrLater says that a later version has written a folder.
var ErrLater = errors.New("by a later version of this program")

// Check refuses a folder of a later form, and changes nothing then. A folder without a number is of the first
// form, and gets one. One that is not there is made.
func Check(dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s: not a directory", dir)
	}
	file := filepath.Join(dir, File)
	doc, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(dir, 0o700); err == nil {
			err = atomicfile.Write(file, []byte(strconv.Itoa(Form)+"\n"), 0o600)
		}
		if err != nil {
			return fmt.Errorf("say in which form %s is kept: %w", dir, err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("read in which form a folder is kept: %w", err)
	}
	form, err := strconv.Atoi(strings.TrimSpace(string(doc)))
	switch {
	case err != nil || form < 1:
		return fmt.Errorf("%s does not hold a number; put it back, or give another folder", file)
	case form > Form:
		return fmt.Errorf("%s is kept in form %d, %w; this one knows %d. Nothing was changed: go back to that version, or give another folder", dir, form, ErrLater, Form)
	}
	return nil
}
