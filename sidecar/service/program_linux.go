package service

import (
	"os"
	"regexp"
	"strconv"

	"golang.org/x/sys/unix"
)

// clean are read-only mappings of files, none of whose pages was changed before: what is dropped of them
// can be read again.
const clean = `(?m)^([0-9a-f]+)-([0-9a-f]+) r-[-x]p .* /.*\n(?:[A-Z]\w+:.*\n)*?Anonymous: +0 kB\n(?:[A-Z]\w+:.*\n)*?Swap: +0 kB$`

// dropProgram lets go of the pages of the program's own file. A start touches nearly all
// of them, as it reads YAML and compiles conditions; serving needs half. The system maps
// a page again when it is needed.
func dropProgram() error {
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return err
	}
	for _, m := range regexp.MustCompile(clean).FindAllSubmatch(maps, -1) {
		from, err := strconv.ParseUint(string(m[1]), 16, 64)
		if err != nil {
			return err
		}
		to, err := strconv.ParseUint(string(m[2]), 16, 64)
		if err != nil {
			return err
		}
		if _, _, failed := unix.Syscall(unix.SYS_MADVISE, uintptr(from), uintptr(to-from),
			unix.MADV_DONTNEED); failed != 0 {
			return failed
		}
	}
	return nil
}
