package walls

import (
	"fmt"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Results of the filter.
const (
	allow  = uint32(unix.SECCOMP_RET_ALLOW)
	notify = uint32(unix.SECCOMP_RET_USER_NOTIF) // the supervisor does it, or says no
	eperm  = uint32(unix.SECCOMP_RET_ERRNO) | uint32(unix.EPERM)
	enosys = uint32(unix.SECCOMP_RET_ERRNO) | uint32(unix.ENOSYS)
	eacces = uint32(unix.SECCOMP_RET_ERRNO) | uint32(unix.EACCES)
)

// callRule is a rule for one system call: the first choice whose tests hold, or the default.
type callRule struct {
	nr      int
	choices []choice
	result  uint32
}

type choice struct {
	tests  []test
	result uint32
}

// test compares the low half of an argument. The kernel uses no more of any that is tested.
type test struct {
	arg         int
	mask, value uint32
	negate      bool // it holds if the value differs
}

// Offsets in struct seccomp_data, on a little-endian machine.
const (
	dataNr   = 0
	dataArch = 4
	dataArgs = 16
)

// filter returns a program for seccomp. A call without a rule passes. One that is newer than this
// program returns ENOSYS.
func filter(calls []callRule) ([]unix.SockFilter, error) {
	code := []bpf.Instruction{
		bpf.LoadAbsolute{Off: dataArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: eperm},
		bpf.LoadAbsolute{Off: dataNr, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpGreaterThan, Val: newest, SkipFalse: 1}, // x32 calls are above it, too
		bpf.RetConstant{Val: enosys},
	}
	for _, c := range calls {
		body := c.code()
		if len(body) > 255 {
			return nil, fmt.Errorf("the filter for call %d is too long", c.nr)
		}
		code = append(code, bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(c.nr), SkipFalse: uint8(len(body))})
		code = append(code, body...)
	}
	code = append(code, bpf.RetConstant{Val: allow})
	raw, err := bpf.Assemble(code)
	if err != nil {
		return nil, fmt.Errorf("assemble the filter: %w", err)
	}
	// Both types are struct sock_filter of the kernel.
	return unsafe.Slice((*unix.SockFilter)(unsafe.Pointer(&raw[0])), len(raw)), nil
}

func (c callRule) code() (out []bpf.Instruction) {
	for _, choice := range c.choices {
		n := len(choice.tests)
		for i, t := range choice.tests {
			over := uint8(3*(n-1-i) + 1) // what is left of this choice
			jump := bpf.JumpIf{Cond: bpf.JumpEqual, Val: t.value, SkipFalse: over}
			if t.negate {
				jump = bpf.JumpIf{Cond: bpf.JumpEqual, Val: t.value, SkipTrue: over}
			}
			out = append(out, bpf.LoadAbsolute{Off: uint32(dataArgs + 8*t.arg), Size: 4},
				bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: t.mask}, jump)
		}
		out = append(out, bpf.RetConstant{Val: choice.result})
	}
	return append(out, bpf.RetConstant{Val: c.result})
}
