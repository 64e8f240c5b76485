package telemetry

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ofProcess are the usual metrics of a process, as far as /proc tells them.
func ofProcess() (out []*Vec) {
	add := func(name, help, kind string, n float64) { out = append(out, fixed("process_"+name, help, kind, n)) }
	var open, space syscall.Rlimit
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &open)
	_ = syscall.Getrlimit(syscall.RLIMIT_AS, &space)
	add("max_fds", "Files that may be open.", kindGauge, float64(open.Cur))
	add("virtual_memory_max_bytes", "Bytes of memory that there may be.", kindGauge, float64(space.Cur))
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		add("open_fds", "Files that are open.", kindGauge, float64(len(files)-1)) // one is that folder
	}
	text, _ := os.ReadFile("/proc/self/stat")
	_, rest, _ := bytes.Cut(text, []byte(") ")) // the name before it may hold anything
	f := strings.Fields(string(rest))
	const utime, stime, start, size, resident, ticks = 11, 12, 19, 20, 21, 100
	if len(f) > resident {
		add("cpu_seconds_total", "Seconds of time on processors.", kindCounter, (decimal(f[utime])+decimal(f[stime]))/ticks)
		add("virtual_memory_bytes", "Bytes of memory, used or not.", kindGauge, decimal(f[size]))
		add("resident_memory_bytes", "Bytes of memory in use.", kindGauge, decimal(f[resident])*float64(os.Getpagesize()))
		if booted, ok := after("/proc/stat", "btime "); ok {
			add("start_time_seconds", "When the process began, as Unix time.", kindGauge, booted+decimal(f[start])/ticks)
		}
	}
	return append(out, ofNetwork()...)
}

// ofNetwork are the bytes of the network that the process is in.
func ofNetwork() (out []*Vec) {
	text, _ := os.ReadFile("/proc/self/net/netstat")
	var names []string
	for line := range strings.Lines(string(text)) { // a line of names, then one of numbers
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != "IpExt:" {
			continue
		}
		if names == nil {
			names = f
			continue
		}
		for i := 1; i < min(len(f), len(names)); i++ {
			switch names[i] {
			case "InOctets":
				out = append(out, fixed("process_network_receive_bytes_total", "Bytes that came over the network.", kindCounter, decimal(f[i])))
			case "OutOctets":
				out = append(out, fixed("process_network_transmit_bytes_total", "Bytes that left over the network.", kindCounter, decimal(f[i])))
			}
		}
	}
	return out
}

// after is the number that stands behind a word at the start of a line.
func after(path, word string) (n float64, ok bool) {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, word); found {
			return decimal(strings.TrimSpace(rest)), true
		}
	}
	return 0, false
}

func decimal(s string) float64 {
	n, _ := strconv.ParseFloat(s, 64)
	return n
}
