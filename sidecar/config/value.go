package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// secretFile begins a secret that stands in a file.
const secretFile = "file:"

// Set takes a value of the config file, the environment or a flag. An empty one is most often a variable that
// is not set, and must not open what the setting closes. A service unit and a config file replace no ~.
func (s Setting) Set(value string) (err error) {
	if strings.TrimSpace(value) == "" {
		return errors.New("is empty; give it a value, or leave it out")
	}
	if s.Is == "NAMES" && strings.HasPrefix(value, "[") && strings.Contains(value, ",") { // and no [::1]
		return errors.New("is a list in quotes; write names with blanks between them: " + s.Example)
	}
	if s.One != "" {
		if value = strings.ToLower(value); !slices.Contains(strings.Fields(s.One), value) {
			return fmt.Errorf("%q is not one of %s", value, strings.ReplaceAll(s.One, " ", ", "))
		}
	}
	*s.Text, err = s.path(value, Home)
	return err
}

// Whole is a value that means the same wherever the program starts: its paths are absolute.
func (s Setting) Whole(value string) (string, error) {
	return s.path(value, func(path string) (string, error) {
		path, err := Home(path)
		if err == nil {
			path, err = filepath.Abs(path)
		}
		return path, err
	})
}

// path is a value with the path in it, if there is one, as by has it.
func (s Setting) path(value string, by func(string) (string, error)) (string, error) {
	file, named := strings.CutPrefix(strings.TrimSpace(value), secretFile)
	switch {
	case s.Is == "" && named:
		path, err := by(file)
		return secretFile + path, err
	case s.Is == "DIR" && value != s.Word, s.Is == "FILE":
		return by(value)
	}
	return value, nil
}

// Home is a path with ~ replaced by the home folder.
func Home(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && rest[0] != '/' {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("%s: %w; write the folder out", path, err)
	}
	return home + rest, nil
}

// Secret is what a secret means, without blanks and line breaks around it: file:PATH is what stands
// in that file.
func Secret(setting, value string) (string, error) {
	value = strings.TrimSpace(value)
	path, ok := strings.CutPrefix(value, secretFile)
	if !ok {
		return value, nil
	}
	path, err := Home(path)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", setting, err)
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

// ReadSecrets reads those that stand in files. One that no header can hold would let no caller in, or
// fail at the first request.
func (s *Settings) ReadSecrets() (err error) {
	for _, f := range s.All() {
		if f.Is != "" {
			continue
		}
		if *f.Text, err = Secret(f.Key, *f.Text); err != nil {
			return err
		}
		if f.Token && strings.ContainsFunc(*f.Text, unicode.IsControl) {
			return fmt.Errorf("%s has a line break or another control character in it, which no header can hold; a token is one line", f.Key)
		}
	}
	return nil
}
