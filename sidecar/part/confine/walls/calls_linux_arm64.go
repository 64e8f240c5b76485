package walls

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	newest    = unix.SYS_FILE_SETATTR
)

// oldCalls is empty: this machine has none of the calls that were replaced long ago.
func oldCalls(handled) []call { return nil }
