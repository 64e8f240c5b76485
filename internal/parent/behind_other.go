//go:build unix && !linux

package parent

// behind never sees through a process.
func behind(int) (parent int, between bool) { return 0, false }

func parentOf(int) int { return 0 }
