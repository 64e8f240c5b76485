package service

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/command"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/egress"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/tickets"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

// The settings that say whether commands run confined; "" is auto.
const (
	ConfineAuto    = "auto"
	ConfineHere    = "here"
	ConfineUntried = "untried"
	ConfineOff     = "off"
)

// needed are the parts without which confining means little. Others may be missing, and are
// told of.
var needed = []walls.Part{walls.PartFiles, walls.PartTCP, walls.PartUDP, walls.PartUnix,
	walls.PartSignals}

// desks are where permits become tickets: for calls that leave for a gateway, and for those of
// runs. Nil: these are not confined.
type desks struct {
	gateway, runs *tickets.Desk
	clients       []string // agents whose calls leave through the desk gateway; nil: all
}

func (d desks) any() bool { return d.gateway != nil || d.runs != nil }

// equip gives the desks, and the network of commands, to the guard.
func (d desks) equip(g *guard.Config, passes *egress.Book) {
	for _, desk := range []*tickets.Desk{d.gateway, d.runs} {
		if desk != nil && passes != nil {
			desk.Network = passes
		}
	}
	if d.gateway != nil {
		g.Confiner, g.Clients = d.gateway, d.clients
	}
	if d.runs != nil {
		g.Runs = d.runs
	}
}

// openDesks opens the desks. Local says that the server is reached from this machine alone, and writable is
// where commands may write.
func openDesks(s config.Settings, agents []string, local bool, writable []string,
	log *slog.Logger) (d desks, err error) {
	if d.gateway, d.clients, err = forAgents(s, agents, local, writable, log); err != nil {
		return d, err
	}
	runs, err := hasTools(s)
	if err != nil || !runs || s.Confine == ConfineOff {
		return d, err
	}
	if d.runs = d.gateway; d.runs == nil {
		if d.runs, err = newDesk(s, writable); err != nil { // they run here, so nothing is to be guessed
			log.Warn("commands of runs are not confined: "+err.Error(), "event", "confine_off")
			d.runs, err = nil, nil
		}
	}
	return d, err
}

// forAgents is the desk for calls that leave for agents, and those whose calls go through it; nil: all.
// Without a desk they are not confined.
func forAgents(s config.Settings, agents []string, local bool, writable []string,
	log *slog.Logger) (d *tickets.Desk, clients []string, err error) {
	auto := s.Confine == "" || s.Confine == ConfineAuto
	switch {
	case s.Confine == ConfineOff:
		return nil, nil, nil
	case auto:
		why := ""
		if clients, why = Here(local, agents); why != "" {
			log.Info("commands that agents run are not confined: "+why, "event", "confine_off")
			return nil, nil, nil
		}
	case s.Confine != ConfineHere && s.Confine != ConfineUntried:
		return nil, nil, fmt.Errorf("confine is auto, here, untried or off, not %q", s.Confine)
	}
	d, err = newDesk(s, writable)
	switch {
	case errors.Is(err, errUnfit) && auto:
		log.Warn("commands that agents run are not confined: "+err.Error(), "event", "confine_off")
		return nil, nil, nil
	case errors.Is(err, errUnfit):
		return nil, nil, fmt.Errorf("confine is %s: %w; or start with --confine off", s.Confine, err)
	case err != nil:
		return nil, nil, err
	}
	log.Info("commands run confined", "event", "confine_ready", "clients", clients, "program", d.Program,
		"tickets", d.Folder.Dir(), "not_enforced", d.Missing)
	return d, clients, nil
}

// newDesk opens a desk. The error is errUnfit where commands cannot be confined.
func newDesk(s config.Settings, writable []string) (*tickets.Desk, error) {
	missing, err := Unconfined(walls.Probe(), s.Confine == ConfineUntried)
	if err != nil {
		return nil, err
	}
	program, err := confiner()
	if err != nil {
		return nil, err
	}
	state, err := stateOf(s)
	if err != nil {
		return nil, err
	}
	if err := apart(state, writable); err != nil {
		return nil, err
	}
	folder, err := tickets.Open(filepath.Join(state, "tickets"))
	if err != nil {
		return nil, err
	}
	made, err := tickets.OpenMade(filepath.Join(state, "repositories"))
	if err != nil {
		return nil, err
	}
	empty := filepath.Join(state, "empty")
	if err := os.MkdirAll(empty, 0o500); err != nil {
		return nil, fmt.Errorf("make the folder of commands that run outside of the walls: %w", err)
	}
	return &tickets.Desk{
		Folder: folder, Program: program, Records: filepath.Join(state, "running"), Empty: empty,
		Missing: missing, Made: made, Untried: s.Confine == ConfineUntried, Now: time.Now,
	}, nil
}

// confiner is the program that a gateway starts for each command: the small one beside this program, or this
// one.
func confiner() (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program, which confines commands: %w", err)
	}
	if small, err := exec.LookPath(filepath.Join(filepath.Dir(program), command.Program)); err == nil {
		return small, nil
	}
	return program, nil
}

// errUnfit is why commands are not confined.
var errUnfit = errors.New("commands cannot be confined here")

// Unconfined are the parts that this machine does not enforce. The error names those that must not be
// missing, or says that confining is untried here.
func Unconfined(offer walls.Offer, untried bool) (missing []walls.Part, err error) {
	for _, g := range offer.Parts {
		if g.Missing == "" {
			continue
		}
		missing = append(missing, g.Part)
		for _, part := range needed {
			if part == g.Part {
				err = errors.Join(err, fmt.Errorf("%s: %s", g.About, g.Missing))
			}
		}
	}
	if err != nil {
		return missing, fmt.Errorf("%w: %s", errUnfit, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if offer.Untried != "" && !untried {
		return missing, fmt.Errorf("%w without --confine %s: %s", errUnfit, ConfineUntried, offer.Untried)
	}
	return missing, nil
}

// stateOf is the folder for what outlives a run.
func stateOf(s config.Settings) (string, error) {
	if s.State != "" {
		return filepath.Abs(s.State)
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "gpt-oss-executor"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("tickets of confined commands need a folder: set --state: %w", err)
	}
	return filepath.Join(home, ".local", "state", "gpt-oss-executor"), nil
}

// apart reports a state folder in which confined commands could change what is kept of others.
func apart(state string, writable []string) error {
	behind := func(path string) string { return paths.Behind(workspace.Links{}, path) }
	for _, dir := range writable {
		if filepath.IsAbs(dir) && (below(behind(dir), behind(state)) || below(behind(state), behind(dir))) {
			return fmt.Errorf("%w: the state folder %s and %s, where they may write, lie one in the other; set --state to a folder elsewhere", errUnfit, state, dir)
		}
	}
	return nil
}

// below reports whether a path is a folder or lies in it.
func below(dir, path string) bool {
	inside, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(inside)
}
