package service

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// WorkspaceOf returns the folder in the setting workspace, absolute; empty: none.
func WorkspaceOf(setting string) (string, error) {
	if setting == "" {
		return "", nil
	}
	dir, err := setting, error(nil)
	if dir[0] != '/' {
		dir, err = filepath.Abs(setting)
	}
	switch dir = path.Clean(dir); {
	case err == nil && dir == "/":
		err = errors.New("this is the whole machine; name the folder in which the agent works")
	case err == nil && dir[0] != '/': // on Windows
		err = errors.New("the rules know the paths of Linux and macOS; name the folder as the machine of the gateway has it, such as /home/sam/code")
	}
	if err != nil {
		return "", fmt.Errorf("workspace %s: %w", setting, err)
	}
	return dir, nil
}

const ownFolder = "; each server needs a folder of its own that it may write: --state DIR or --decisions DIR"

// CheckFolders rejects folders that a newer version of this program has written. It precedes all writes
// there.
func CheckFolders(s config.Settings) error {
	for _, dir := range []string{s.State, DecisionsIn(s)} {
		if dir == "" {
			continue
		}
		if err := CheckFormat(dir); errors.Is(err, ErrNewer) {
			return err
		} else if err != nil {
			return fmt.Errorf("%w"+ownFolder, err)
		}
	}
	return nil
}

// decisionsFolder is the default place of the decision log in the state folder.
const decisionsFolder = "decisions"

// DecisionsIn returns the folder of a server's decision log; empty: none.
func DecisionsIn(s config.Settings) string {
	switch {
	case s.Decisions == "off":
		return ""
	case s.Decisions == "" && s.State != "":
		return filepath.Join(s.State, decisionsFolder)
	}
	return s.Decisions
}

// openDecisions opens the decision log of a server; nil: it has none. lock comes from the previous process,
// if there is one.
func openDecisions(s config.Settings, lock *os.File, log *slog.Logger,
	m *telemetry.Metrics) (*decisions.Log, error) {
	dir := DecisionsIn(s)
	switch {
	case dir == "" && s.DecisionsMode == string(decisions.Required):
		return nil, errors.New("decisions mode required: there is no decision log; give its folder with --decisions DIR")
	case dir == "":
		return nil, nil
	}
	l, err := decisions.Open(decisions.Config{Dir: dir, Mode: decisions.Mode(s.DecisionsMode), Log: log,
		Lock: lock})
	if err != nil {
		return nil, fmt.Errorf("%w"+ownFolder, err)
	}
	m.DecisionLog(
		func() float64 { return float64(l.Stats().Written) },
		func() float64 { return float64(l.Stats().Lost) },
		func() float64 { return float64(l.Stats().Failed) },
		func() float64 { return time.Since(l.Stats().Head).Seconds() },
	)
	log.Info("decisions are logged", "event", "decisions_open", "folder", dir, "mode", s.DecisionsMode)
	return l, nil
}

// FormatFile holds the format number of a folder.
const FormatFile = "format"

// Format is the format that this version writes; it also reads the earlier ones. It increases with changes
// that an older version would misread or overwrite.
const Format = 1

// ErrNewer means that a newer version has written a folder.
var ErrNewer = errors.New("by a later version of this program")

// CheckFormat rejects a folder of a newer format without changing it. A folder without a number has the
// first format and gets one. A missing folder is created.
func CheckFormat(dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s: not a directory", dir)
	}
	file := filepath.Join(dir, FormatFile)
	doc, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(dir, 0o700); err == nil {
			err = atomicfile.Write(file, []byte(strconv.Itoa(Format)+"\n"), 0o600)
		}
		if err != nil {
			return fmt.Errorf("say in which form %s is kept: %w", dir, err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("read in which form a folder is kept: %w", err)
	}
	form, err := strconv.Atoi(strings.TrimSpace(string(doc)))
	switch {
	case err != nil || form < 1:
		return fmt.Errorf("%s does not hold a number; put it back, or give another folder", file)
	case form > Format:
		return fmt.Errorf("%s is kept in form %d, %w; this one knows %d. Nothing was changed: go back to that version, or give another folder", dir, form, ErrNewer, Format)
	}
	return nil
}

// BuiltinRules stands for the built-in rules where a folder is expected.
const BuiltinRules = "builtin"

// World returns the environment in which the calls of a server are judged.
func World(s config.Settings, folders ...string) guard.World {
	h := guard.Machine{Workspace: s.Workspace}
	if state, err := StateOf(config.Settings{}); err == nil { // tickets, and where agents are
		folders = append(folders, state)
	}
	for _, dir := range append(folders, s.Rules, s.Policy, s.State, DecisionsIn(s)) {
		if dir != BuiltinRules {
			h.Own = append(h.Own, dir)
		}
	}
	for _, setting := range s.All() {
		address := *setting.Text
		if setting.Is == "URL" {
			address = urls.AddressOf(address)
		} else if setting.Is != "HOST:PORT" {
			continue
		}
		if address != "" {
			h.Servers = append(h.Servers, address)
		}
	}
	return guard.NewWorld(h)
}

// StateOf returns the folder for what outlives a run.
func StateOf(s config.Settings) (string, error) {
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
