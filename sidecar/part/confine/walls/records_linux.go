package walls

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// records let the supervisors of a user find each other: a folder in which each has a locked file,
// named by its pid. The first line is its session, the others are the inodes of sockets at which its
// command listens. The lock ends with the supervisor.
type records struct {
	dir, session string
	file         *os.File

	mu  sync.Mutex
	own map[string]bool // inodes of sockets at which this command listens
}

func openRecords(dir, session string) (*records, error) {
	r := &records{session: session, own: map[string]bool{}}
	if dir == "" || session == "" {
		return r, nil
	}
	r.dir = dir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of records: %w", err)
	}
	// The name comes last: a file with a pid for its name and no lock is a dead one.
	pid := strconv.Itoa(os.Getpid())
	f, err := os.OpenFile(filepath.Join(dir, "new-"+pid), os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record this command: %w", err)
	}
	_, err = f.WriteString(session + "\n")
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, pid))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("record this command: %w", err)
	}
	r.file = f
	return r, nil
}

func (r *records) close() {
	if r.file != nil {
		_ = os.Remove(filepath.Join(r.dir, strconv.Itoa(os.Getpid())))
		_ = r.file.Close()
	}
}

// addListener records a socket at which this command listens.
func (r *records) addListener(inode string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.own[inode] && r.file != nil {
		_, _ = r.file.WriteString(inode + "\n") // who cannot read it refuses to connect
	}
	r.own[inode] = true
}

// isServed reports whether a command of this session listens at a socket.
func (r *records) isServed(inode string) bool {
	r.mu.Lock()
	own := r.own[inode]
	r.mu.Unlock()
	if own {
		return true
	}
	entries, _ := os.ReadDir(r.dir)
	for _, e := range entries {
		if lines := r.read(e.Name()); len(lines) > 0 && slices.Contains(lines[1:], inode) {
			return true
		}
	}
	return false
}

// isSupervisor reports whether a process is a live supervisor of this session.
func (r *records) isSupervisor(pid int) bool {
	return pid == os.Getpid() || r.read(strconv.Itoa(pid)) != nil
}

// read returns the lines of a live supervisor of this session. Files of dead ones are removed.
func (r *records) read(name string) []string {
	if r.dir == "" {
		return nil
	}
	path := filepath.Join(r.dir, name)
	if pid, err := strconv.Atoi(name); err != nil || pid <= 0 {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
		_ = os.Remove(path)
		return nil
	}
	text, err := os.ReadFile(path)
	if lines := strings.Split(string(text), "\n"); err == nil && lines[0] == r.session {
		return lines
	}
	return nil
}
