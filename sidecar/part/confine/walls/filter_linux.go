package walls

import (
	"fmt"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// What the filter says of a call.
const (
	pass   = uint32(unix.SECCOMP_RET_ALLOW)
	ask    = uint32(unix.SECCOMP_RET_USER_NOTIF) // the supervisor does it, or says no
	refuse = uint32(unix.SECCOMP_RET_ERRNO) | uint32(unix.EPERM)
	// so that programs fall back on what is older
	absent = uint32(unix.SECCOMP_RET_ERRNO) | uint32(unix.ENOSYS)
	closed = uint32(unix.SECCOMP_RET_ERRNO) | uint32(unix.EACCES)
)

// call is a rule for one system call: the first choice that fits, else what is said otherwise.
type call struct {
	nr        int
	choices   []choice
	otherwise uint32
}

type choice struct {
	tests []test
	say   uint32
}

// test looks at the low half of an argument. The kernel takes no more of any that is tested.
type test struct {
	arg         int
	mask, value uint32
	differs     bool // the test is that it is not the value
}

// Where things stand in struct seccomp_data, on a machine with its low bytes first.
const (
	dataNr   = 0
	dataArch = 4
	dataArgs = 16
)

// filter is a program for seccomp. A call without a rule passes, one that is newer than this
// program does not exist.
func filter(calls []call) ([]unix.SockFilter, error) {
	code := []bpf.Instruction{
		bpf.LoadAbsolute{Off: dataArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: refuse},
		bpf.LoadAbsolute{Off: dataNr, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpGreaterThan, Val: newest, SkipFalse: 1}, // x32 calls are above it, too
		bpf.RetConstant{Val: absent},
	}
	for _, c := range calls {
		body := c.code()
		if len(body) > 255 {
			return nil, fmt.Errorf("the filter for call %d is too long", c.nr)
		}
		code = append(code, bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(c.nr), SkipFalse: uint8(len(body))})
		code = append(code, body...)
	}
	code = append(code, bpf.RetConstant{Val: pass})
	raw, err := bpf.Assemble(code)
	if err != nil {
		return nil, fmt.Errorf("assemble the filter: %w", err)
	}
	// Both types are struct sock_filter of the kernel.
	return unsafe.Slice((*unix.SockFilter)(unsafe.Pointer(&raw[0])), len(raw)), nil
}

func (c call) code() (out []bpf.Instruction) {
	for _, choice := range c.choices {
		n := len(choice.tests)
		for i, t := range choice.tests {
			over := uint8(3*(n-1-i) + 1) // what is left of this choice
			jump := bpf.JumpIf{Cond: bpf.JumpEqual, Val: t.value, SkipFalse: over}
			if t.differs {
				jump = bpf.JumpIf{Cond: bpf.JumpEqual, Val: t.value, SkipTrue: over}
			}
			out = append(out, bpf.LoadAbsolute{Off: uint32(dataArgs + 8*t.arg), Size: 4},
				bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: t.mask}, jump)
		}
		out = append(out, bpf.RetConstant{Val: choice.say})
	}
	return append(out, bpf.RetConstant{Val: c.otherwise})
}
