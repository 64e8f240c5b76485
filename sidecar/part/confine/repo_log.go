package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
)

// RepoLog lists the workspaces in which a confined command, whose code was not read, may have made a
// repository: there was none when it began. Git runs what the settings of a repository say, so it does
// not run unconfined there. The file outlives the program, as the repositories do. Two processes may
// append to it during a handover. It is safe for concurrent use.
type RepoLog struct {
	path    string
	mu      sync.Mutex
	size    int64 // of the file when it was read
	folders map[string]bool
}

// OpenRepoLog reads the file, a folder per line. It need not exist.
func OpenRepoLog(path string) (*RepoLog, error) {
	m := &RepoLog{path: path}
	if err := m.read(); err != nil {
		return nil, fmt.Errorf("read where commands made repositories: %w", err)
	}
	return m, nil
}

func (m *RepoLog) read() error {
	doc, err := os.ReadFile(m.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	m.size, m.folders = int64(len(doc)), map[string]bool{}
	for line := range strings.Lines(string(doc)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			m.folders[line] = true
		}
	}
	return nil
}

// add notes the workspace of a command that begins. After an error it must not run.
func (m *RepoLog) add(p guard.Permit) error {
	work := p.Roots.Workspace()
	if p.Settings {
		return nil
	}
	if known, err := m.contains(work); known || err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(work, ".git")); err == nil {
		return nil // its settings are fixed
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := os.OpenFile(m.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		// the line before may have been torn by a crash or a full disk
		_, err = f.WriteString("\n" + work + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("note where a command may make a repository: %w", err)
	}
	m.folders[work] = true
	m.size += int64(len(work)) + 2
	return nil
}

// Contains reports whether a repository in a workspace may be the work of such a command. If that is
// unknown, it may.
func (m *RepoLog) Contains(work string) bool {
	known, err := m.contains(work)
	return known || err != nil
}

func (m *RepoLog) contains(work string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	info, err := os.Stat(m.path)
	if err == nil && info.Size() != m.size {
		err = m.read()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("read where commands made repositories: %w", err)
	}
	return m.folders[work], nil
}
