package state

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
)

// Ports knows which ports of this machine were open when a session's first command left. A later
// listener at another port was started since, or there is none. It is safe for concurrent use.
type Ports struct {
	mu     sync.Mutex
	before *recent.Map[map[int]bool] // by session
}

// NewPorts remembers at most so many sessions.
func NewPorts(sessions int) *Ports {
	return &Ports{before: recent.New[map[int]bool](sessions, nil)}
}

// Begin notes the open ports when the first command of a session leaves. Nil means unknown.
func (p *Ports) Begin(session string, open func() map[int]bool) {
	if session == "" {
		return
	}
	p.mu.Lock()
	before, first := p.before.Use(session)
	p.mu.Unlock()
	if !first {
		return
	}
	found := open()
	p.mu.Lock()
	*before = found
	p.mu.Unlock()
}

// Opened reports whether a listener at a port, now or when the command runs, can only have been
// started since the session's first command left. Open returns the ports that are open now, and
// whether an agent can have opened them.
func (p *Ports) Opened(session string, port int, open func() map[int]bool) bool {
	p.mu.Lock()
	var before map[int]bool
	if known := p.before.Get(session); known != nil {
		before = *known
	}
	p.mu.Unlock()
	if _, was := before[port]; before == nil || was {
		return false
	}
	mine, is := open()[port]
	return mine || !is
}

// Listening returns the ports of this machine with a server, and whether it may be an agent's: root's
// are not, unless this program runs as root. Nil: unknown.
func Listening() map[int]bool { return listening("/proc/net/tcp", "/proc/net/tcp6") }

// listening reads the socket tables of Linux. The second one is missing if IPv6 is off.
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
