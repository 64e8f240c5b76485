// Package workspace opens, replaces and removes files for tools. It opens exactly what was judged: it
// follows a judged path from the root, part by part, without links, so that a process that swaps a
// folder for a link gains nothing. Then it checks what it has opened, never a name.
package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
)

// Why a judged path is not opened or removed.
var (
	ErrNotJudged = errors.New("it is not known what is behind this path")
	ErrChanged   = errors.New("it is no longer what was judged: a link is in the way")
	ErrNoFile    = errors.New("it is neither a file nor a folder")
	ErrHardLink  = errors.New("it has a second name, which may be outside the workspace")
)

// Links gives a paths.Guard the disk of this machine.
type Links struct{}

// Readlink is os.Readlink.
func (Links) Readlink(path string) (string, error) { return os.Readlink(path) }

// Open opens what a use was judged for: a file or folder to read, or a file to write, which is made
// with its folders if missing, and is not truncated. The use must come from a guard that follows links
// and from rules that allowed it. A hard link is opened only for reading, and only if the use is
// marked as one.
func Open(use paths.Use) (*os.File, error) {
	f, err := open(use)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", use.Op, use.Path, err)
	}
	return f, nil
}

// maxSum is the largest file with a hash, in bytes.
const maxSum = 256 << 20

// Sum returns the SHA-256 of a file in hex; "" if it is unreadable, too long or no file. It follows
// links, as starting a program of this name does.
func Sum(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // no waiting at a pipe
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxSum {
		return ""
	}
	h := sha256.New()
	if n, err := io.Copy(h, io.LimitReader(f, maxSum+1)); err != nil || n > maxSum {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Replace writes a file completely or not at all: first to a new file beside it, which is synced and
// renamed. Missing folders are made. An existing file keeps its mode but not its other names: a hard
// link elsewhere keeps the old content.
func Replace(use paths.Use, text []byte) error {
	if err := replace(use, text); err != nil {
		return fmt.Errorf("%s %s: %w", use.Op, use.Path, err)
	}
	return nil
}

// Remove removes the file, link or empty folder that a use was judged for.
func Remove(use paths.Use) error {
	if err := remove(use); err != nil {
		return fmt.Errorf("%s %s: %w", use.Op, use.Path, err)
	}
	return nil
}
