//go:build !unix

package run

import "os/exec"

// setGroup has nothing to do: there are no process groups here.
func setGroup(*exec.Cmd) {}

// killGroup cannot end what a command has left behind.
func killGroup(*exec.Cmd) {}
