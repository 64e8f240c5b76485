package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// noVersion is replaced with the version of a release in the plugin's files.
const noVersion = `"version": "0.0.0"`

// npmPlugin writes the package of the plugin for OpenClaw, with the version of the program.
func (r *release) npmPlugin(out string) error {
	text, err := os.ReadFile("plugin/package.json")
	if err != nil {
		return err
	}
	var m struct {
		Name  string   `json:"name"`
		Files []string `json:"files"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return fmt.Errorf("plugin/package.json: %w", err)
	}
	files := []file{r.licence()}
	for _, name := range append([]string{"package.json", "README.md"}, m.Files...) {
		text, err := os.ReadFile(filepath.Join("plugin", name))
		if err != nil {
			return err
		}
		if name == "package.json" || name == "openclaw.plugin.json" {
			if bytes.Count(text, []byte(noVersion)) != 1 {
				return fmt.Errorf("plugin/%s: %s must stand in it once", name, noVersion)
			}
			text = bytes.Replace(text, []byte(noVersion), []byte(`"version": "`+r.version+`"`), 1)
		}
		files = append(files, file{name: name, text: text, mode: 0o644})
	}
	packed, err := tarball("package", files, r.at)
	if err != nil {
		return err
	}
	return writeAll(out, file{name: fmt.Sprintf("npm/%s-%s.tgz", m.Name, r.version), text: packed})
}
