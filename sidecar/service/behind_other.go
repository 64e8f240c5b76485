//go:build unix && !linux

package service

// behind never sees through a process.
func behind(int) (parent int, between bool) { return 0, false }

func parentOf(int) int { return 0 }
