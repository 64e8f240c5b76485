package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
)

// File is a config as it was read.
type File struct {
	Path    string
	Text    []byte
	Missing bool // it did not exist
}

// Read reads a config. A missing one is empty.
func Read(path string) (File, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{Path: path, Missing: true}, nil
	}
	if err != nil {
		return File{}, fmt.Errorf("read the config: %w", err)
	}
	return File{Path: path, Text: text}, nil
}

// Write replaces the config, and returns the path of the backup. It fails if the config has changed since.
// A missing one is created with access for its owner alone.
func (f File) Write(text []byte, now time.Time) (backup string, err error) {
	info, err := f.info()
	if err != nil {
		return "", fmt.Errorf("write the config: %w", err)
	}
	mode, suffix := info.Mode().Perm(), replaced
	if f.Missing {
		mode, suffix = 0o600, created
	}
	backup = fmt.Sprintf("%s%s%s-%s%s", f.Path, mark, now.UTC().Format(stamp), sum(text), suffix)
	if err := atomicfile.WriteFor(backup, f.Text, mode, info); err != nil {
		return "", fmt.Errorf("write the backup: %w", err)
	}
	if err = f.unchanged(); err == nil && f.Missing {
		err = atomicfile.WriteFor(f.Path, text, mode, info)
	} else if err == nil {
		err = atomicfile.Replace(f.Path, text)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("write the config: %w", err), os.Remove(backup))
	}
	return backup, nil
}

// info returns the info of the config, or if it is missing that of its folder, which it creates like the
// one above.
func (f File) info() (fs.FileInfo, error) {
	if !f.Missing {
		return os.Stat(f.Path)
	}
	return folder(filepath.Dir(f.Path))
}

// folder creates a missing folder, owned like the one above.
func folder(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(path) == path {
		return info, err
	}
	above, err := folder(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, err
	}
	atomicfile.Own(path, above)
	return os.Stat(path)
}

func (f File) unchanged() error {
	now, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) && f.Missing {
		return nil
	}
	if err == nil && (f.Missing || !bytes.Equal(now, f.Text)) {
		err = fmt.Errorf("%s has changed since it was read, and was left as it is; try again", f.Path)
	}
	return err
}

// The name of a backup consists of the name of the config, the time, and the checksum of the new text.
const (
	mark     = ".gpt-oss-executor-"
	stamp    = "20060102T150405.000000"
	replaced = ".bak"
	created  = ".none" // there was no config
	aside    = ".undone"
)

func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:4])
}

// ErrNoBackup means that a config was not written, or was restored already.
var ErrNoBackup = errors.New("there is no backup")

// Undone is the result of Undo.
type Undone struct {
	Backup        string // the restored file, which no longer exists
	Before, After []byte // of the config
	Aside         string // copy of the config if others had changed it; else empty
	Removed       bool   // there was no config before, so it was removed
}

// Undo restores the newest backup.
func Undo(path string, now time.Time) (Undone, error) {
	f, err := Read(path)
	if err == nil && f.Missing {
		err = fmt.Errorf("%w of %s, nor the file itself", ErrNoBackup, path)
	}
	if err != nil {
		return Undone{}, err
	}
	u := Undone{Before: f.Text}
	if u.Backup, err = newest(path); err != nil {
		return u, err
	}
	if u.After, err = os.ReadFile(u.Backup); err != nil {
		return u, fmt.Errorf("read the backup: %w", err)
	}
	u.Removed = strings.HasSuffix(u.Backup, created)
	if name := strings.TrimSuffix(u.Backup, filepath.Ext(u.Backup)); !strings.HasSuffix(name,
		"-"+sum(f.Text)) {
		info, err := os.Stat(path)
		if err != nil {
			return u, fmt.Errorf("keep the config: %w", err)
		}
		u.Aside = path + mark + now.UTC().Format(stamp) + aside
		if err := atomicfile.Like(u.Aside, f.Text, info); err != nil {
			return u, fmt.Errorf("keep the config: %w", err)
		}
	}
	if err = f.unchanged(); err == nil && u.Removed {
		err = os.Remove(path)
	} else if err == nil {
		err = atomicfile.Replace(path, u.After)
	}
	if err == nil {
		err = os.Remove(u.Backup)
	}
	if err != nil {
		return u, fmt.Errorf("put the config back: %w", err)
	}
	return u, nil
}

// newest returns the newest backup of a config.
func newest(path string) (string, error) {
	list, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("look for a backup: %w", err)
	}
	var names []string
	for _, e := range list {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+mark) && (strings.HasSuffix(e.Name(), replaced) ||
			strings.HasSuffix(e.Name(), created)) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return "", fmt.Errorf("%w of %s: gpt-oss-executor has not written it, or it was put back already",
			ErrNoBackup, path)
	}
	return filepath.Join(filepath.Dir(path), slices.Max(names)), nil
}
