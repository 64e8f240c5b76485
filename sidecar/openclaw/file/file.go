// Package file is an openclaw.json on disk: read once, replaced as a whole with a backup beside
// it, and put back. It never writes over what somebody else has written meanwhile, and loses
// nothing. It knows no setting.
package file

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
	Path string
	Text []byte
}

// Read reads a config.
func Read(path string) (File, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, fmt.Errorf("read %s: there is no such file; openclaw onboard makes one, and openclaw config file says where it is", path)
	}
	if err != nil {
		return File{}, fmt.Errorf("read the config: %w", err)
	}
	return File{path, text}, nil
}

// Write replaces the config, and returns where the old one is kept. A config that is another
// one by now stays.
func (f File) Write(text []byte, now time.Time) (backup string, err error) {
	info, err := os.Stat(f.Path)
	if err != nil {
		return "", fmt.Errorf("write the config: %w", err)
	}
	backup = fmt.Sprintf("%s%s%s-%s%s", f.Path, mark, now.UTC().Format(stamp), sum(text), suffix)
	if err := atomicfile.Like(backup, f.Text, info); err != nil {
		return "", fmt.Errorf("write the backup: %w", err)
	}
	if err = f.unchanged(); err == nil {
		err = atomicfile.Replace(f.Path, text)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("write the config: %w", err), os.Remove(backup))
	}
	return backup, nil
}

func (f File) unchanged() error {
	now, err := os.ReadFile(f.Path)
	if err == nil && !bytes.Equal(now, f.Text) {
		err = fmt.Errorf("%s has changed since it was read, and was left as it is; try again", f.Path)
	}
	return err
}

// The name of a backup is that of the config, when it was made, and the sum of what was written
// in its place.
const (
	mark   = ".gpt-oss-executor-"
	stamp  = "20060102T150405.000000"
	suffix = ".bak"
	aside  = ".undone"
)

func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:4])
}

// Undone is what came back.
type Undone struct {
	Backup        string // that was put back, and is gone from its place
	Before, After []byte // of the config
	Aside         string // where the config is kept that was there, if others had changed it; else empty
}

// Undo puts the newest backup back.
func Undo(path string, now time.Time) (Undone, error) {
	f, err := Read(path)
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
	if !strings.HasSuffix(u.Backup, "-"+sum(f.Text)+suffix) {
		info, err := os.Stat(path)
		if err != nil {
			return u, fmt.Errorf("keep the config: %w", err)
		}
		u.Aside = path + mark + now.UTC().Format(stamp) + aside
		if err := atomicfile.Like(u.Aside, f.Text, info); err != nil {
			return u, fmt.Errorf("keep the config: %w", err)
		}
	}
	if err = f.unchanged(); err == nil {
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

// newest is the newest backup of a config.
func newest(path string) (string, error) {
	list, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("look for a backup: %w", err)
	}
	var names []string
	for _, e := range list {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+mark) && strings.HasSuffix(e.Name(), suffix) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return "", fmt.Errorf("there is no backup of %s: gpt-oss-executor has not written it, or it was put back already", path)
	}
	return filepath.Join(filepath.Dir(path), slices.Max(names)), nil
}
