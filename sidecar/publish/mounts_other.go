//go:build !linux

package publish

// mounts are not known here; one shows when its folder cannot be renamed.
func mounts() []string { return nil }
