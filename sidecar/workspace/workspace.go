// Package workspace opens and removes files for tools. What was judged is what is
// opened: it takes a judged path and follows it from the top, part by part, through no
// link at all, so that a process that swaps a folder for a link meanwhile gains nothing.
// Then it looks at what it has opened, never at a name.
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

// Links is the disk of this machine for a paths.Guard.
type Links struct{}

// Readlink is os.Readlink.
func (Links) Readlink(path string) (string, error) { return os.Readlink(path) }

// Open opens what a use was judged for: to read a file or list a folder, or to write a
// file, which is made if it is missing, with its folders, and is not cut short. The use
// comes from a guard that follows links and from rules that allowed it; a hard link is
// opened only to be read, and only if the use says that it is one.
func Open(use paths.Use) (*os.File, error) {
	f, err := open(use)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", use.Op, use.Path, err)
	}
	return f, nil
}

// maxSum is how long a file may be to have a sum.
const maxSum = 256 << 20

// Sum is the SHA-256 of a file, in hexadecimal; empty where it cannot be read, is too long, or is no file.
// Links are followed, as a program that is started by this name follows them.
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

// Replace writes a file whole or not at all: beside its place first, then, when the disk has
// it, over what stood there. What is missing on the way is made. A file that was there keeps
// its mode, but no second name: a hard link elsewhere keeps what it had.
func Replace(use paths.Use, text []byte) error {
	if err := replace(use, text); err != nil {
		return fmt.Errorf("%s %s: %w", use.Op, use.Path, err)
	}
	return nil
}

// Remove removes the file, the link or the empty folder that a use was judged for.
func Remove(use paths.Use) error {
	if err := remove(use); err != nil {
		return fmt.Errorf("%s %s: %w", use.Op, use.Path, err)
	}
	return nil
}
