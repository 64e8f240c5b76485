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
	for _, disk := range disks {
		if strings.HasPrefix(first, disk) {
			return BlockDevice
		}
	}
	return Device
}

// disks are prefixes of the names of disks and partitions.
var disks = strings.Fields("sd hd vd xvd nvme mmcblk loop dm- md nbd zram ram sr fd rbd bcache pmem disk rdisk dasd mtdblock")

// harmless is what every user may read about the machine.
var harmless = set("cpuinfo meminfo loadavg uptime version stat vmstat filesystems self/status self/stat self/cgroup self/limits self/mountinfo")

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
