package walls

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	newest    = unix.SYS_FILE_SETATTR
)

// legacyRules are for calls that newer architectures lack.
func legacyRules(h landlockRights) []callRule {
	withID := func(nr int) callRule { return rule(nr, allow, when(eperm, hasBits(1, setID))) }
	return append(forAll(eperm, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB),
		openRule(unix.SYS_OPEN, 1, h), withID(unix.SYS_CREAT), withID(unix.SYS_MKNOD))
}
