package decisions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The files of a log beside its segments.
const (
	headFile  = "head.json"
	lockFile  = "lock"
	turnsFile = "turns"
	fileMode  = 0o600
	dirMode   = 0o700
)

// putBack is what helps where the head of a log is gone.
const putBack = "put it back, or begin a new log in another folder"

// readHead reads the head of a log, a place up to which the disk has everything; nil where
// there is none. It stands in a file of its own, so that a log that ends earlier shows.
func readHead(dir string) (*Checkpoint, error) {
	name := filepath.Join(dir, headFile)
	doc, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var h Checkpoint
	if err := json.Unmarshal(doc, &h); err != nil || h.Seq == 0 {
		return nil, fmt.Errorf("%s: this is not the head of a log; %s", name, putBack)
	}
	return &h, nil
}
