package service

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// decisionsFolder is where the log stands inside the state folder, unless a setting
// says otherwise.
const decisionsFolder = "decisions"

// DecisionsIn is the folder of the decision log of a server; empty: it has none.
func DecisionsIn(s config.Settings) string {
	switch {
	case s.Decisions == "off":
		return ""
	case s.Decisions == "" && s.State != "":
		return filepath.Join(s.State, decisionsFolder)
	}
	return s.Decisions
}

// openDecisions opens the decision log of a server; nil: it has none. The lock is that of the process
// before, if there is one.
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
