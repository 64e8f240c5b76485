package confine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

// The values of the setting confine, besides auto.
const (
	Here = "here"
	Off  = "off"
)

// requiredParts must be enforced, or commands do not run confined. Other parts may be missing and are
// reported.
var requiredParts = []walls.Part{walls.PartFiles, walls.PartTCP, walls.PartUDP, walls.PartUnix,
	walls.PartSignals}

// issuers turn permits into tickets. A nil issuer means that these calls are not confined.
type issuers struct {
	gateway, runs *Issuer  // for calls that leave for a gateway
	clients       []string // agents whose calls use the issuer gateway; nil: all
}

func (d issuers) any() bool { return d.gateway != nil || d.runs != nil }

// configure gives the issuers, and the network of commands, to the guard.
func (d issuers) configure(g *guard.Config, passes *PassStore) {
	for _, issuer := range []*Issuer{d.gateway, d.runs} {
		if issuer != nil && passes != nil {
			issuer.Network = passes
		}
	}
	if d.gateway != nil {
		g.Confiner, g.Clients = d.gateway, d.clients
	}
	if d.runs != nil {
		g.Runs = d.runs
	}
}

// openIssuers opens the issuers. Writable lists where commands may write.
func openIssuers(c *service.Core, s *Settings, agents, writable []string) (d issuers, err error) {
	if d.gateway, d.clients, err = openAgentIssuer(c, s, agents, writable); err != nil {
		return d, err
	}
	if !c.RunsCommands || s.Confine == Off {
		return d, nil
	}
	if d.runs = d.gateway; d.runs == nil {
		if d.runs, err = newIssuer(c, s, writable); err != nil { // they run here, so nothing is to be guessed
			c.Log.Warn("commands of runs are not confined: "+err.Error(), "event", "confine_off")
			d.runs, err = nil, nil
		}
	}
	return d, err
}

// openAgentIssuer returns the issuer for calls that leave for agents, and the agents whose calls use
// it; nil: all. Without an issuer these calls are not confined.
func openAgentIssuer(c *service.Core, s *Settings, agents, writable []string) (d *Issuer,
	clients []string, err error) {
	auto := s.Confine != Here
	switch {
	case s.Confine == Off:
		return nil, nil, nil
	case auto:
		why := ""
		if clients, why = Agents(c.Local, agents); why != "" {
			c.Log.Info("commands that agents run are not confined: "+why, "event", "confine_off")
			return nil, nil, nil
		}
	}
	d, err = newIssuer(c, s, writable)
	switch {
	case errors.Is(err, errUnfit) && auto:
		c.Log.Warn("commands that agents run are not confined: "+err.Error(), "event", "confine_off")
		return nil, nil, nil
	case errors.Is(err, errUnfit):
		return nil, nil, fmt.Errorf("confine is %s: %w; or start with --confine off", s.Confine, err)
	case err != nil:
		return nil, nil, err
	}
	c.Log.Info("commands run confined", "event", "confine_ready", "clients", clients, "program", d.Program,
		"tickets", d.Folder.Dir(), "not_enforced", d.Missing)
	return d, clients, nil
}

// newIssuer opens an issuer. The error is errUnfit if commands cannot be confined.
func newIssuer(c *service.Core, s *Settings, writable []string) (*Issuer, error) {
	missing, err := missingParts(walls.Probe())
	if err != nil {
		return nil, err
	}
	program, err := confineProgram()
	if err != nil {
		return nil, err
	}
	state, err := service.StateOf(c.Settings)
	if err != nil {
		return nil, err
	}
	if err := checkState(state, writable); err != nil {
		return nil, err
	}
	folder, err := OpenFolder(filepath.Join(state, "tickets"))
	if err != nil {
		return nil, err
	}
	made, err := OpenRepoLog(filepath.Join(state, "repositories"))
	if err != nil {
		return nil, err
	}
	empty := filepath.Join(state, "empty")
	if err := os.MkdirAll(empty, 0o500); err != nil {
		return nil, fmt.Errorf("make the folder of commands that run outside of the walls: %w", err)
	}
	return &Issuer{
		Folder: folder, Program: program, Records: filepath.Join(state, "running"), Empty: empty,
		Missing: missing, Repos: made, Now: time.Now,
	}, nil
}

// confineProgram returns the program that a gateway starts for each command: the small one beside this
// program, or this one.
func confineProgram() (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program, which confines commands: %w", err)
	}
	if small, err := exec.LookPath(filepath.Join(filepath.Dir(program), walls.Program)); err == nil {
		return small, nil
	}
	return program, nil
}

// errUnfit is why commands are not confined.
var errUnfit = errors.New("commands cannot be confined here")

// missingParts returns the parts that this machine does not enforce. The error names required ones.
func missingParts(offer walls.Offer) (missing []walls.Part, err error) {
	for _, g := range offer.Parts {
		if g.Missing == "" {
			continue
		}
		missing = append(missing, g.Part)
		if slices.Contains(requiredParts, g.Part) {
			err = errors.Join(err, fmt.Errorf("%s: %s", g.About, g.Missing))
		}
	}
	if err != nil {
		return missing, fmt.Errorf("%w: %s", errUnfit, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return missing, nil
}

// checkState returns an error if confined commands could change the state folder.
func checkState(state string, writable []string) error {
	behind := func(path string) string { return paths.Behind(workspace.Links{}, path) }
	for _, dir := range writable {
		if filepath.IsAbs(dir) && (isBelow(behind(dir), behind(state)) ||
			isBelow(behind(state), behind(dir))) {
			return fmt.Errorf("%w: the state folder %s and %s, where they may write, lie one in the other; set --state to a folder elsewhere", errUnfit, state, dir)
		}
	}
	return nil
}
