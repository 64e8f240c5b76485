package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/confine"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/tickets"
)

// The settings that say whether commands run confined; "" is auto.
const (
	confineAuto    = "auto"
	confineHere    = "here"
	confineUntried = "untried"
	confineOff     = "off"
)

// needed are the parts without which confining means little. Others may be missing, and are
// told of.
var needed = []confine.Part{confine.PartFiles, confine.PartTCP, confine.PartUDP, confine.PartUnix, confine.PartSignals}

// openDesk is where permits become tickets; nil: nothing is confined. Local says that the
// server is reached from this machine alone.
func openDesk(s ruleset.Settings, local bool, log *slog.Logger) (*tickets.Desk, error) {
	auto := s.Confine == "" || s.Confine == confineAuto
	switch {
	case s.Confine == confineOff:
		return nil, nil
	case auto:
		if why := notHere(local); why != "" {
			log.Info("commands are not confined: "+why, "event", "confine_off")
			return nil, nil
		}
	case s.Confine != confineHere && s.Confine != confineUntried:
		return nil, fmt.Errorf("confine is auto, here, untried or off, not %q", s.Confine)
	}
	missing, err := unconfined(confine.Probe(), s.Confine == confineUntried)
	if err != nil && auto { // it was once
		log.Warn("commands are not confined: "+err.Error(), "event", "confine_off")
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("start with --confine off: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program, which confines commands: %w", err)
	}
	state, err := stateOf(s)
	if err != nil {
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
	log.Info("commands run confined", "event", "confine_ready", "program", program, "tickets", filepath.Join(state, "tickets"), "not_enforced", missing)
	return &tickets.Desk{
		Folder: folder, Program: program, Records: filepath.Join(state, "running"), Missing: missing, Made: made, Untried: s.Confine == confineUntried, Now: time.Now,
	}, nil
}

// unconfined are the parts that this machine does not enforce. The error says which of those
// that must not be missing are, or that nobody has tried them.
func unconfined(offer confine.Offer, untried bool) (missing []confine.Part, err error) {
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
		return missing, fmt.Errorf("this machine cannot confine commands: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if offer.Untried != "" && !untried {
		return missing, fmt.Errorf("commands are confined here only with --confine %s: %s", confineUntried, offer.Untried)
	}
	return missing, nil
}

// stateOf is the folder for what outlives a run.
func stateOf(s ruleset.Settings) (string, error) {
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
