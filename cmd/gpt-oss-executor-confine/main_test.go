package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program takes a ticket, or git's words for ssh, and nothing else.
func TestProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, row := range []struct {
		words, want string
		code        int
	}{
		{"confine --ticket /nonexistent/T -- true", "there is no ticket /nonexistent/T here", 125},
		{"confine --write / -- true", "gpt-oss-executor confine takes more", 2},
		{"confine --ticket T true", "gpt-oss-executor confine takes more", 2},
		{"", "gpt-oss-executor confine takes more", 2},
		{"git-ssh h", "it takes a host and a service", 255},
	} {
		said, err := exec.Command(program, strings.Fields(row.words)...).CombinedOutput()
		var ended *exec.ExitError
		if !errors.As(err, &ended) || ended.ExitCode() != row.code || !strings.Contains(string(said), row.want) {
			t.Errorf("%q: %v, %s", row.words, err, said)
		}
	}
}
