package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// secret is what a setting means: file:PATH is what stands in that file.
func secret(setting, value string) (string, error) {
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

// readSecrets reads those that stand in files.
func readSecrets(s *ruleset.Settings) (err error) {
	for _, f := range s.All() {
		if f.Flag() == "" && err == nil {
			*f.Text, err = secret(f.Key, *f.Text)
		}
	}
	return err
}
