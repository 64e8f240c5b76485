package walls

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Ticket is what one command may touch. Its box holds the command.
type Ticket struct {
	Until time.Time `json:"until"`
	Proxy string    `json:"proxy,omitempty"` // URL with the command's credentials; empty: no network
	Hide  []string  `json:"hide"`            // patterns of variables that are removed
	Set   []string  `json:"set"`             // NAME=value, added or replaced
	Box   Box       `json:"box"`

	Outside bool `json:"outside,omitempty"` // nothing confines it, and it runs in the folder of the box
}

// spent is the suffix of a ticket that was used.
const spent = ".spent"

// TakeTicket uses a ticket for a command. It works once.
func TakeTicket(path string, command []string, now time.Time) (*Ticket, error) {
	if info, err := os.Stat(filepath.Dir(path)); err != nil {
		return nil, ticketError(path, err)
	} else if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s is no ticket: others may use its folder", path)
	}
	// one that was taken, and may not be emptied yet, or is being written
	if strings.Contains(filepath.Base(path), ".") {
		return nil, fmt.Errorf("%s is no ticket", path)
	}
	if err := os.Rename(path, path+spent); err != nil {
		return nil, ticketError(path, err)
	}
	doc, err := os.ReadFile(path + spent)
	if err == nil {
		err = os.WriteFile(path+spent, nil, 0o600) // it holds credentials of the proxy
	}
	var t Ticket
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(doc))
		d.DisallowUnknownFields() // of a newer server, which may say what must not be touched
		err = d.Decode(&t)
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

// ticketError says why a ticket cannot be used.
func ticketError(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("take the ticket: %w", err)
	}
	if _, err := os.Stat(path + spent); err == nil {
		return errors.New("the ticket of this command was used before; send the call again")
	}
	return fmt.Errorf("there is no ticket %s here: the gateway runs commands on another machine than the guard, or as another user", path)
}

// Environ returns the environment of the command.
func (t *Ticket) Environ(env []string) []string {
	env = Environ(env, t.Hide)
	for _, v := range t.Set {
		name, _, _ := strings.Cut(v, "=")
		env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		env = append(env, v)
	}
	if t.Proxy != "" {
		env = WithProxy(env, t.Proxy)
	}
	return env
}

// runOutside replaces this process by the command of a ticket that runs unconfined: in an empty
// folder, without programs and settings of folders that confined commands may change. It returns only
// if it fails.
func (t *Ticket) runOutside(environ []string) error {
	env := append(CleanEnviron(environ, t.Box.Write), t.Set...)
	shell, err := Lookup(env, t.Box.Command[0])
	if err == nil {
		err = checkEmpty(t.Box.Dir)
	}
	if err == nil {
		err = os.Chdir(t.Box.Dir)
	}
	if err == nil {
		err = syscall.Exec(shell, t.Box.Command, env)
	}
	return fmt.Errorf("run the command in an empty folder: %w", err)
}

// checkEmpty returns an error if a folder is not empty.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = errors.New(dir + " is not empty; remove what lies in it")
	}
	return err
}
