package service

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// behind is the parent of a process, and whether the process only stands between it and us.
func behind(pid int) (parent int, between bool) {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || !standsBetween(strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")) {
		return 0, false
	}
	parent = parentOf(pid)
	return parent, parent > 1
}

var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh"}

// standsBetween reports whether a command line is a shell that a person does not type into, or npm.
func standsBetween(args []string) bool {
	name := filepath.Base(args[0])
	switch {
	case slices.Contains(shells, name):
		return slices.ContainsFunc(args[1:], func(a string) bool { return !strings.HasPrefix(a, "-") })
	case name == "npm", strings.HasPrefix(args[0], "npm "): // the title that npm and npx give themselves
		return true
	case name == "node" && len(args) > 1:
		script := strings.TrimSuffix(filepath.Base(args[1]), ".js")
		return slices.Contains([]string{"npm", "npm-cli", "npx", "npx-cli", "gpt-oss-executor"}, script)
	}
	return false
}

// parentOf is the pid of a process's parent; 0: it has gone.
func parentOf(pid int) int {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The name stands in brackets, and may hold any.
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return 0
	}
	return parent
}
