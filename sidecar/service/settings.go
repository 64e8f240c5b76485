package service

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/stamp"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

// WorkspaceOf is the folder that the setting workspace names, absolute; empty: none. A service
// unit and a config file replace no ~.
func WorkspaceOf(setting string) (string, error) {
	if setting == "" {
		return "", nil
	}
	if rest, ok := strings.CutPrefix(setting, "~"); ok && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("workspace %s: %w; write the folder out", setting, err)
		}
		setting = home + rest
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

// CheckFolders refuses folders that a later version of this program has written. It comes before all that
// writes there.
func CheckFolders(s config.Settings) error {
	for _, dir := range []string{s.State, DecisionsIn(s)} {
		if dir == "" {
			continue
		}
		if err := stamp.Check(dir); errors.Is(err, stamp.ErrLater) {
			return err
		} else if err != nil {
			return fmt.Errorf("%w; each server needs a folder of its own that it may write: --state DIR or --decisions DIR", err)
		}
	}
	return nil
}

// Secret is what a setting means: file:PATH is what stands in that file.
func Secret(setting, value string) (string, error) {
	path, ok := strings.CutPrefix(value, "file:")
	if !ok {
		return value, nil
	}
	doc, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", setting, err)
	}
	if value = strings.TrimSpace(string(doc)); value == "" {
		return "", fmt.Errorf("read %s: %s is empty", setting, path)
	}
	return value, nil
}

// ReadSecrets reads those that stand in files.
func ReadSecrets(s *config.Settings) (err error) {
	for _, f := range s.All() {
		if f.Flag() == "" && err == nil {
			*f.Text, err = Secret(f.Key, *f.Text)
		}
	}
	return err
}
