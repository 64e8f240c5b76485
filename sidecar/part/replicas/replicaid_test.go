package replicas

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

// A replica keeps its id. One that is damaged stops nothing: it is set aside, and the replica has another.
func TestReplicaID(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	id := func() string {
		id, err := replicaID(dir, slog.New(slog.NewTextHandler(&log, nil)))
		ruletest.Must(t, err)
		return id
	}
	first := id()
	if id() != first || log.Len() > 0 {
		t.Errorf("it has another id, or says something: %s", log.String())
	}
	ruletest.Must(t, os.WriteFile(filepath.Join(dir, replicaFile), []byte("\x00\x00"), 0o600))
	second := id()
	aside, err := filepath.Glob(filepath.Join(dir, replicaFile+".damaged-*"))
	if err != nil || len(aside) != 1 || second == first || id() != second ||
		!strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), aside[0]) {
		t.Errorf("%s and then %s, %v set aside, %v: %s", first, second, aside, err, log.String())
	}
}
