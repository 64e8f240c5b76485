package tickets

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

// Made remembers the workspaces in which a confined command, whose code nobody has read, may
// have made a repository: there were none when it began. Git runs what the settings of one
// say, so it does not run unconfined there. It outlives the program, as the repositories do.
// Safe for concurrent use.
type Made struct {
	path    string
	mu      sync.Mutex
	folders map[string]bool
}

// OpenMade reads what is remembered in a file, a folder on each line. There may be none yet.
func OpenMade(path string) (*Made, error) {
	doc, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read where commands made repositories: %w", err)
	}
	m := &Made{path: path, folders: map[string]bool{}}
	for line := range strings.Lines(string(doc)) {
		m.folders[strings.TrimSuffix(line, "\n")] = true
	}
	return m, nil
}

// begins notes that a command begins. The error means that it must not.
func (m *Made) begins(p guard.Permit) error {
	work := p.Roots.Workspace()
	if p.Understood || m.Holds(work) {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(work, ".git")); err == nil {
		return nil // its settings are fixed
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := os.OpenFile(m.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(work + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("note where a command may make a repository: %w", err)
	}
	m.folders[work] = true
	return nil
}

// Holds reports whether a repository in a workspace may be the work of such a command.
func (m *Made) Holds(work string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.folders[work]
}
