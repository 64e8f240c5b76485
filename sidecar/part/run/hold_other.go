//go:build !unix

package run

import "os"

// hold cannot keep other processes away here.
func hold(*os.File) error { return nil }
