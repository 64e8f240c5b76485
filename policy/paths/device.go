package paths

import "strings"

// device returns the class of /dev/NAME.
func device(name string, tool bool) string {
	first, _, _ := strings.Cut(name, "/")
	switch first {
	case "null":
		return Null
	case "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "fd", "tty":
		if tool {
			return Device // endless, or what the server has open
		}
		return Null
	case "tcp", "udp", "log":
		return Socket
	case "shm", "mqueue":
		return Outside
	case "disk", "mapper", "block", "md", "root":
		return BlockDevice
	}
	for _, disk := range lists.List("disks") {
		if strings.HasPrefix(first, disk) {
			return BlockDevice
		}
	}
	return Device
}

// harmless is what every user may read about the machine.
var harmless = lists.Set("harmless")

// proc returns the class of a path below /proc. Its links lead to what a process has open, and are not
// followed.
func proc(at *place) string {
	rest := at.path[len("/proc/"):]
	if at.op == Read && !at.tool && harmless()[rest] {
		return Readable
	}
	_, of, process := strings.Cut(rest, "/")
	if task, is := strings.CutPrefix(of, "task/"); is {
		_, of, _ = strings.Cut(task, "/")
	}
	file, more, _ := strings.Cut(of, "/")
	switch {
	case rest == "kcore", process && (file == "environ" || file == "mem" || file == "auxv"):
		return Secret
	case process && file == "fd" && !at.tool && strings.HasPrefix(rest, "self/"):
		return Null
	case process && file == "root" && at.op != Run:
		if entry, _ := absolute().find(fold(more)); entry != nil && entry.read == Secret {
			return Secret
		}
	}
	return Kernel
}
