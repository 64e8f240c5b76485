//go:build unix

package service

import "syscall"

// OfFiles is how many files and connections this process may have open; 0: unknown.
func OfFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return uint64(limit.Cur)
}
