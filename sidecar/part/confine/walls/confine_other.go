//go:build !linux || !(amd64 || arm64)

package walls

import (
	"fmt"
	"path/filepath"
	"runtime"
)

// kernel is what a system says of itself.
type kernel struct{}

// Run says that this system cannot confine.
func Run(Box, Streams) (int, error) {
	return ExitUnfit, fmt.Errorf("%w: nothing confines on %s/%s yet", errUnfit, runtime.GOOS, runtime.GOARCH)
}

// Probe says that this system gives nothing.
func Probe() Offer {
	o := Offer{Parts: Parts()}
	for i := range o.Parts {
		o.Parts[i].Missing = "nothing confines on " + runtime.GOOS + "/" + runtime.GOARCH + " yet"
	}
	return o
}

// resolve returns a path without links, as the kernel names it: ten times faster than looking at each
// part.
func resolve(path string) (string, error) { return filepath.EvalSymlinks(path) }
