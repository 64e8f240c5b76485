//go:build !unix

package rulefile

// readOnly is unknown on this system.
func readOnly(string) bool { return false }
