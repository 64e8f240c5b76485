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

// confineHere is the setting by which commands run confined.
const confineHere = "here"

// needed are the parts without which confining means little. Others may be missing, and are
// told of.
var needed = []confine.Part{confine.PartFiles, confine.PartTCP, confine.PartUDP, confine.PartUnix, confine.PartSignals}

// openDesk is where permits become tickets; nil: the settings say that nothing is confined.
func openDesk(s ruleset.Settings, log *slog.Logger) (*tickets.Desk, error) {
	switch s.Confine {
	case "", "off":
		return nil, nil
	case confineHere:
	default:
		return nil, fmt.Errorf("confine is here or off, not %q", s.Confine)
	}
	missing, err := unconfined(confine.Probe())
	if err != nil {
		return nil, err
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
	log.Info("commands run confined", "event", "confine_ready", "program", program, "tickets", filepath.Join(state, "tickets"), "not_enforced", missing)
	return &tickets.Desk{Folder: folder, Program: program, Records: filepath.Join(state, "running"), Missing: missing, Now: time.Now}, nil
}

// unconfined are the parts that this machine does not enforce. The error says which of those
// that must not be missing are.
func unconfined(offer confine.Offer) (missing []confine.Part, err error) {
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
		err = fmt.Errorf("this machine cannot confine commands, so leave --confine out: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return missing, err
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
