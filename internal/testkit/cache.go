package testkit

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// CacheFolder is the folder of that name in the user's cache, for what tests fetch or build. What it holds is
// made once, also where several processes ask for it.
func CacheFolder(name string, fill func(dir string) error) (string, error) {
	dir, err := CachePath(name)
	if err != nil || HasFolder(dir) {
		return dir, err
	}
	cache := filepath.Dir(dir)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	if HasFolder(dir) {
		return dir, nil
	}
	// Beside it first, so that a folder with the final name is always complete.
	beside, err := os.MkdirTemp(cache, name+".")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(beside)
	if err := fill(beside); err != nil {
		return "", err
	}
	return dir, os.Rename(beside, dir)
}

// CachePath is where the folder of that name is, or would be.
func CachePath(name string) (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "gpt-oss-executor", name), err
}

// HasFolder reports whether a folder is there.
func HasFolder(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}

// Output runs a command in a folder, and gives what it prints.
func Output(dir string, env []string, command ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Hour)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, stderr.Bytes())
	}
	return out, nil
}
