package state

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Listening are the ports of this machine at which a server listens, and whether it may be one of an agent:
// those of root are not, unless this program runs as root itself. Nil: unknown.
func Listening() map[int]bool { return listening("/proc/net/tcp", "/proc/net/tcp6") }

// listening reads the tables of Linux. There is no second one where IPv6 is switched off.
func listening(v4, v6 string) map[int]bool {
	open := map[int]bool{}
	for _, name := range []string{v4, v6} {
		table, err := os.ReadFile(name)
		if name == v6 && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil
		}
		for line := range strings.Lines(string(table)) {
			if port, uid, ok := listener(line); ok {
				mine, known := open[port]
				open[port] = (mine || !known) && (uid != "0" || os.Getuid() == 0)
			}
		}
	}
	return open
}

// listener takes a line of a socket table apart, as proc_net_tcp(5) describes it:
//
//	sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid …
//
// It is not ok for the heading, and for sockets that do not listen.
func listener(line string) (port int, uid string, ok bool) {
	const address, state, user, listens = 1, 3, 7, "0A"
	fields := strings.Fields(line)
	if len(fields) <= user || fields[state] != listens {
		return 0, "", false
	}
	n, err := strconv.ParseUint(fields[address][strings.LastIndexByte(fields[address], ':')+1:], 16, 16)
	return int(n), fields[user], err == nil
}
