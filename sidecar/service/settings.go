package service

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

// WorkspaceOf is the folder that the setting workspace names, absolute; empty: none.
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

// CheckFolders refuses folders that a later version of this program has written. It comes before all that
// writes there.
func CheckFolders(s config.Settings) error {
	for _, dir := range []string{s.State, DecisionsIn(s)} {
		if dir == "" {
			continue
		}
		if err := Check(dir); errors.Is(err, ErrLater) {
			return err
		} else if err != nil {
			return fmt.Errorf("%w"+ownFolder, err)
		}
	}
	return nil
}
