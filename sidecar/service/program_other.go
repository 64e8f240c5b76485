//go:build !linux

package service

// dropProgram does nothing where the system has no /proc.
func dropProgram() error { return nil }
