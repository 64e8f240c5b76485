package walls

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	newest    = unix.SYS_FILE_SETATTR
)

func oldCalls(h handled) []call {
	withID := func(nr int) call {
		return call{nr: nr, choices: []choice{{[]test{has(1, setID)}, refuse}}, otherwise: pass}
	}
	return append(always(refuse, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB),
		opens(unix.SYS_OPEN, 1, h), withID(unix.SYS_CREAT), withID(unix.SYS_MKNOD))
}
