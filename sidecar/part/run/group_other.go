//go:build !unix

package run

import "os/exec"

// group has nothing to do: there are no process groups here.
func group(*exec.Cmd) {}

// endGroup cannot end what a command has left behind.
func endGroup(*exec.Cmd) {}
