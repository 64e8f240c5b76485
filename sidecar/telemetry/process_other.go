//go:build !linux

package telemetry

// ofProcess are the metrics of a process: none, as only Linux tells them in files.
func ofProcess() []*Vec { return nil }
