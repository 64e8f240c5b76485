package walls

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	newest    = unix.SYS_FILE_SETATTR
)

// legacyRules are for calls that newer architectures lack.
func legacyRules(landlockRights) []callRule { return nil }
