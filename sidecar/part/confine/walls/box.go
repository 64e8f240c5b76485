// Package walls runs a command that can touch what it was given and nothing else: the kernel refuses the
// rest. Landlock guards files, TCP and signals. A filter for system calls refuses what Landlock does not
// cover, and hands some calls to the supervisor, which does them itself on what it has checked. No root is
// needed. It knows no rule and no tool call. What a gateway starts in place of a command takes its ticket,
// which says what it may touch, and is ssh for git that runs so. Since each confined command starts it, it
// imports nothing of the server.
package walls

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Box says what a command may touch. Paths are absolute. The more specific path wins: a
// folder that may be read below one that is denied can be read.
type Box struct {
	Command []string
	Dir     string   // where it starts; empty: where the caller is
	Env     []string // all of it: NAME=value
	Read    []string // may be read and run, with all below
	List    []string // names in it may be listed, with all below; no file may be read
	Write   []string // may be read, run and changed, with all below
	Use     []string // devices and files that may be read and written, and not removed
	Deny    []string // cannot be read or changed, though it lies below one of those
	Fixed   []string // can be read and not changed, though it lies below one of Write
	Net     Net
	Proxy   string // host:port on loopback that may be connected to
	Ports   []int  // further ports on loopback that may be connected to
	Anyone  bool   // servers may listen for other machines; otherwise on loopback
	Limits  Limits
	Session string // commands of one session reach each other's servers, and may end each other
	Records string // folder where supervisors of this user know each other; empty: this one is alone
	Lenient []Part // what may be missing on this machine
	Untried bool   // it may run where what confines was never tried: see Offer
}

// Net is which network a command has.
type Net string

// What a command reaches. Servers of its own session on loopback are reached in any case.
const (
	NetNone  Net = "none"
	NetProxy Net = "proxy" // the proxy alone
	NetOpen  Net = "open"  // everything
)

// Limits bound a command and all that it starts. What is zero is not bound.
type Limits struct {
	Time      time.Duration
	Processes int   // of the tree, threads aside
	Memory    int64 // resident, of the tree
	File      int64 // of one file that is written
	Output    int64 // on standard output and standard error together
	Open      int   // files, of one process
}

// Streams are what a command reads and writes. Files are inherited, others fed by a pipe.
type Streams struct {
	In       *os.File
	Out, Err io.Writer
}

// Exit codes of a run that are not those of the command.
const (
	ExitUnfit    = 125 // this machine cannot confine
	exitNotRun   = 126 // the command is there and cannot be run
	exitNotFound = 127
)

// checked is the box with its paths absolute and without links, as the kernel sees them.
func (b Box) checked() (Box, error) {
	if len(b.Command) == 0 {
		return b, errors.New("no command to run")
	}
	if !slices.Contains([]Net{NetNone, NetProxy, NetOpen}, b.Net) {
		return b, fmt.Errorf("the network is none, proxy or open, not %q", b.Net)
	}
	if b.Net == NetProxy && len(proxyAddresses(b.Proxy)) == 0 {
		return b, fmt.Errorf("the network is proxy, and %q is no address on this machine such as 127.0.0.1:8080", b.Proxy)
	}
	for _, list := range []*[]string{&b.Read, &b.List, &b.Write, &b.Use, &b.Deny, &b.Fixed} {
		var out []string
		for _, path := range *list {
			if !filepath.IsAbs(path) {
				return b, fmt.Errorf("%s is no absolute path", path)
			}
			out = append(out, real(path))
		}
		slices.Sort(out)
		*list = slices.Compact(out)
	}
	b.Env = b.reachable(b.Env)
	for _, dir := range b.Write {
		if b.Session != "" && b.Records != "" && (under(real(b.Records), dir) ||
			under(dir, real(b.Records))) {
			return b, fmt.Errorf("%s may be written, and holds %s, by which supervisors know each other", dir,
				b.Records)
		}
	}
	return b, nil
}

// proxyAddresses are where a proxy on this machine can be reached.
func proxyAddresses(hostPort string) (out []netip.AddrPort) {
	if port, ok := strings.CutPrefix(hostPort, "localhost:"); ok {
		return append(proxyAddresses("127.0.0.1:"+port), proxyAddresses("[::1]:"+port)...)
	}
	if a, err := netip.ParseAddrPort(hostPort); err == nil && a.Addr().IsLoopback() && a.Port() > 0 {
		return []netip.AddrPort{netip.AddrPortFrom(a.Addr().Unmap(), a.Port())}
	}
	return nil
}

// reachable leaves folders out of PATH that cannot be read: a shell finds a program there,
// cannot run it, and looks no further.
func (b Box) reachable(env []string) (out []string) {
	for _, v := range env {
		if list, ok := strings.CutPrefix(v, "PATH="); ok {
			dirs := slices.DeleteFunc(strings.Split(list, ":"), func(dir string) bool {
				dir = real(dir)
				return !underAny(dir, b.Read) && !underAny(dir, b.Write)
			})
			v = "PATH=" + strings.Join(dirs, ":")
		}
		out = append(out, v)
	}
	return out
}

// program is the path of what is run, as a shell finds it.
func (b Box) program() (path string, code int, err error) {
	name := b.Command[0]
	if !strings.Contains(name, "/") {
		for dir := range strings.SplitSeq(b.variable("PATH"), ":") {
			if path, err := exec.LookPath(dir + "/" + name); err == nil && dir != "" {
				return path, 0, nil
			}
		}
		return "", exitNotFound, fmt.Errorf("%s: command not found", name)
	}
	return name, 0, nil
}

func (b Box) variable(name string) (value string) {
	for _, v := range b.Env {
		if rest, ok := strings.CutPrefix(v, name+"="); ok {
			value = rest
		}
	}
	return value
}

// real is a path without links; what does not exist keeps its name below what does.
func real(path string) string {
	path = filepath.Clean(path)
	if r, err := followed(path); err == nil {
		return r
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(real(dir), filepath.Base(path))
	}
	return path
}

// under says whether a path is a folder or lies below it.
func under(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// underAny says whether a path is one of the folders or lies below one.
func underAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return under(path, dir) })
}

// parents are the folders between those that may be written and a path in them, from the top.
func (b Box) parents(paths []string) (out []string) {
	for _, path := range paths {
		for dir := filepath.Dir(path); underAny(dir, b.Write) &&
			!slices.Contains(out, dir); dir = filepath.Dir(dir) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}
