// Package tickets lets one command run confined: a ticket is a file that says what that
// command may touch. The server writes it before the call leaves, and confine --ticket takes
// it when the gateway runs the call, once. It never decides what may be touched.
package tickets

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
)

// Valid is how long a ticket can be taken. A gateway runs several calls of one reply one
// after the other, so it may be a while.
const Valid = 30 * time.Minute

// Ticket is what one command may touch. Its box holds the command.
type Ticket struct {
	Until time.Time `json:"until"`
	Proxy string    `json:"proxy,omitempty"` // URL with the credentials of this command; empty: no network
	Hide  []string  `json:"hide"`            // patterns of variables that it does not get
	Set   []string  `json:"set"`             // NAME=value, over those that it gets
	Box   walls.Box `json:"box"`

	Outside bool `json:"outside,omitempty"` // nothing confines it, and it runs in the folder of the box
}

// Folder is where tickets lie. Only its user may look into it. It is safe for concurrent use.
type Folder struct {
	dir   string
	mu    sync.Mutex
	swept time.Time // when old tickets were last removed
}

// Open makes the folder if it does not exist.
func Open(dir string) (*Folder, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = private(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("open the folder of tickets: %w", err)
	}
	return &Folder{dir: dir}, nil
}

// Dir is where the tickets lie: absolute.
func (f *Folder) Dir() string { return f.dir }

// private reports a folder into which others may write.
func private(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("others may use %s; run: chmod 700 %s", dir, dir)
	}
	return err
}

// Issue writes a ticket, and gives its path.
func (f *Folder) Issue(t Ticket, now time.Time) (path string, err error) {
	f.sweep(now)
	t.Until = now.Add(Valid)
	doc, err := json.Marshal(t)
	if err == nil {
		path = filepath.Join(f.dir, rand.Text())
		err = atomicfile.Write(path, doc, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("write a ticket: %w", err)
	}
	return path, nil
}

// spent is behind the name of a ticket that was taken.
const spent = ".spent"

// sweepEvery is how often old tickets are removed: each look at all of them takes time.
const sweepEvery = time.Minute

// sweep removes what cannot be taken any more. What cannot be removed is tried again.
func (f *Folder) sweep(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.swept).Abs() < sweepEvery {
		return
	}
	f.swept = now
	list, _ := os.ReadDir(f.dir) // if it cannot be read, a ticket cannot be written either
	for _, e := range list {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > 2*Valid {
			_ = os.Remove(filepath.Join(f.dir, e.Name()))
		}
	}
}

// Take takes a ticket for a command. It cannot be taken again.
func Take(path string, command []string, now time.Time) (*Ticket, error) {
	if info, err := os.Stat(filepath.Dir(path)); err != nil {
		return nil, missing(path, err)
	} else if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s is no ticket: others may use its folder", path)
	}
	// one that was taken, and may not be emptied yet, or is being written
	if strings.Contains(filepath.Base(path), ".") {
		return nil, fmt.Errorf("%s is no ticket", path)
	}
	if err := os.Rename(path, path+spent); err != nil {
		return nil, missing(path, err)
	}
	doc, err := os.ReadFile(path + spent)
	if err == nil {
		err = os.WriteFile(path+spent, nil, 0o600) // it holds credentials of the proxy
	}
	var t Ticket
	if err == nil {
		err = json.Unmarshal(doc, &t)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the ticket %s: %w", path, err)
	case now.After(t.Until):
		return nil, fmt.Errorf("the ticket of this command was good until %s; send the call again",
			t.Until.Format(time.RFC3339))
	case !slices.Equal(t.Box.Command, command):
		return nil, fmt.Errorf("the ticket is for %q, and not for %q", strings.Join(t.Box.Command, " "),
			strings.Join(command, " "))
	}
	return &t, nil
}

// missing is why a ticket cannot be taken.
func missing(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("take the ticket: %w", err)
	}
	if _, err := os.Stat(path + spent); err == nil {
		return errors.New("the ticket of this command was used before; send the call again")
	}
	return fmt.Errorf("there is no ticket %s here: the gateway runs commands on another machine than the guard, or as another user", path)
}

// Environ is the environment of the command, of that in which the ticket is taken.
func (t *Ticket) Environ(env []string) []string {
	env = walls.Environ(env, t.Hide)
	for _, v := range t.Set {
		name, _, _ := strings.Cut(v, "=")
		env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		env = append(env, v)
	}
	if t.Proxy != "" {
		env = walls.Proxied(env, t.Proxy)
	}
	return env
}
