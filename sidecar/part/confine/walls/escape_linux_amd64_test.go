package walls

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// call32 asks for its pid as a program of 32 bits does.
func call32() error {
	code, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC,
		unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return err
	}
	// push rbx; mov eax, 20; int 0x80; pop rbx; ret
	copy(code, []byte{0x53, 0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0x5b, 0xc3})
	entry := unsafe.Pointer(&code[0])
	f := unsafe.Pointer(&entry)
	if pid := (*(*func() uint64)(unsafe.Pointer(&f)))(); int(pid) != os.Getpid() {
		return errors.New("no such calls")
	}
	return nil
}
