package confine

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// ticketLifetime is how long a ticket can be used. A gateway runs the calls of one reply one after the
// other, so it may take a while.
const ticketLifetime = 30 * time.Minute

// ConfinedLimits bound one command. A command that exceeds one is ended.
type ConfinedLimits struct {
	Time      time.Duration `rule:"time" min:"1s" doc:"How long it may run. Servers run long (24h)." eg:"24h"`
	Processes int           `rule:"processes" min:"1" max:"100000" doc:"How many processes at once (512)." eg:"512"`
	Memory    rulefile.Size `rule:"memory" min:"16MiB" doc:"How much memory all of them use together (8GiB)." eg:"8GiB"`
	File      rulefile.Size `rule:"file" min:"1KiB" doc:"How long a file may be that it writes (8GiB)." eg:"8GiB"`
	Output    rulefile.Size `rule:"output" min:"1KiB" doc:"How much it may print (256MiB)." eg:"256MiB"`
}

// Section describes the section confined.
func Section() ruleset.Section {
	return ruleset.Section{Name: "confined",
		About: "Limits of one command that runs confined, with all that it starts. If left out, they are as shipped.",
		Holds: &ConfinedLimits{Time: 24 * time.Hour, Processes: 512, Memory: 8 << 30, File: 8 << 30,
			Output: 256 << 20}}
}

// PassLifetime is how long after its ticket was written a command may still run.
func PassLifetime(s *ruleset.Set) time.Duration {
	return ticketLifetime + ruleset.Of[ConfinedLimits](s).Time
}

// Folder is the folder of tickets. Only its user may look into it. It is safe for concurrent use.
type Folder struct {
	dir   string
	mu    sync.Mutex
	swept time.Time // when old tickets were last removed
}

// OpenFolder makes the folder if it does not exist.
func OpenFolder(dir string) (*Folder, error) {
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

// Dir returns the absolute path of the folder.
func (f *Folder) Dir() string { return f.dir }

// private returns an error if others may use the folder.
func private(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("others may use %s; run: chmod 700 %s", dir, dir)
	}
	return err
}

// Issue writes a ticket and returns its path.
func (f *Folder) Issue(t walls.Ticket, now time.Time) (path string, err error) {
	f.sweep(now)
	t.Until = now.Add(ticketLifetime)
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

// sweepEvery is how often old tickets are removed.
const sweepEvery = time.Minute

// sweep removes expired tickets.
func (f *Folder) sweep(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.swept).Abs() < sweepEvery {
		return
	}
	f.swept = now
	list, _ := os.ReadDir(f.dir) // if it cannot be read, a ticket cannot be written either
	for _, e := range list {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > 2*ticketLifetime {
			_ = os.Remove(filepath.Join(f.dir, e.Name()))
		}
	}
}
