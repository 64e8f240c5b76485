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
	if s.Token, err = secret("token", s.Token); err != nil {
		return err
	}
	if s.AdminToken, err = secret("admin_token", s.AdminToken); err != nil {
		return err
	}
	s.UpstreamKey, err = secret("upstream_key", s.UpstreamKey)
	return err
}
