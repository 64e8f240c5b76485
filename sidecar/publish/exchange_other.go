//go:build !linux

package publish

import "errors"

// exchange in one step is not to be had here.
func exchange(string, string) error { return errors.ErrUnsupported }
