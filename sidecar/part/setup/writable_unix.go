//go:build unix

package setup

import "golang.org/x/sys/unix"

// writable reports whether this user may create files in a folder.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }
