// Package walls runs a command that can touch only what it was given: the kernel refuses the rest.
// Landlock guards files, TCP and signals. A seccomp filter refuses what Landlock does not cover and
// passes some calls to the supervisor, which does them itself with checked arguments. It needs no
// root. A gateway starts it in place of a command with a ticket that says what the command may touch;
// for confined git it also replaces ssh. It knows no rules and no tool calls, and imports nothing of
// the server, since it starts with each confined command.
package walls

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Box says what a command may touch. Paths are absolute. The more specific path wins: a readable
// folder below a denied one can be read.
type Box struct {
	Command []string
	Dir     string   // where it starts; empty: the caller's
	Env     []string // NAME=value; nothing is inherited
	Read    []string // may be read and run, with all below
	List    []string // folders whose names may be listed, with all below; files cannot be read
	Write   []string // may be read, run and changed, with all below
	Use     []string // devices and files that may be read and written, and not removed
	Deny    []string // cannot be read or changed, even below one of those
	Fixed   []string // cannot be changed, even below one of Write
	Net     Net
	Proxy   string // host:port on loopback
	Ports   []int  // further ports on loopback
	Limits  Limits
	Session string // commands of one session reach each other's servers and may signal each other
	Records string // folder where supervisors of this user find each other; empty: this one has no others
	Lenient []Part // parts that may be missing on this machine
}

// Net is the network that a command has.
type Net string

// Servers of a command's own session on loopback are reached in any case.
const (
	NetNone  Net = "none"
	NetProxy Net = "proxy" // only the proxy
	NetOpen  Net = "open"  // everything
)

// Limits bound a command and all that it starts. Zero means no limit.
type Limits struct {
	Time      time.Duration
	Processes int   // of the tree, without threads
	Memory    int64 // resident, of the tree
	File      int64 // of one file that is written
	Output    int64 // on standard output and standard error together
	Open      int   // open files of one process
}

// Streams are the standard streams of a command. Files are inherited, others fed by a pipe.
type Streams struct {
	In       *os.File
	Out, Err io.Writer
}

// Exit codes of a run that are not the command's.
const (
	ExitUnfit    = 125 // this machine cannot confine
	exitNotRun   = 126 // the command exists and cannot be run
	exitNotFound = 127
)

// normalize checks the box and returns it with paths as the kernel sees them, without links.
func (b Box) normalize() (Box, error) {
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
			out = append(out, realPath(path))
		}
		slices.Sort(out)
		*list = slices.Compact(out)
	}
	b.Env = b.readablePATH(b.Env)
	for _, dir := range b.Write {
		if b.Session != "" && b.Records != "" && (isUnder(realPath(b.Records), dir) ||
			isUnder(dir, realPath(b.Records))) {
			return b, fmt.Errorf("%s may be written, and holds %s, by which supervisors know each other", dir,
				b.Records)
		}
	}
	return b, nil
}

// proxyAddresses returns the addresses of a proxy on this machine; none if it is elsewhere.
func proxyAddresses(hostPort string) (out []netip.AddrPort) {
	if port, ok := strings.CutPrefix(hostPort, "localhost:"); ok {
		return append(proxyAddresses("127.0.0.1:"+port), proxyAddresses("[::1]:"+port)...)
	}
	if a, err := netip.ParseAddrPort(hostPort); err == nil && a.Addr().IsLoopback() && a.Port() > 0 {
		return []netip.AddrPort{netip.AddrPortFrom(a.Addr().Unmap(), a.Port())}
	}
	return nil
}

// readablePATH removes unreadable folders from PATH: a shell would find a program there, could not run
// it, and would stop searching.
func (b Box) readablePATH(env []string) (out []string) {
	for _, v := range env {
		if list, ok := strings.CutPrefix(v, "PATH="); ok {
			dirs := slices.DeleteFunc(strings.Split(list, ":"), func(dir string) bool {
				dir = realPath(dir)
				return !isUnderAny(dir, b.Read) && !isUnderAny(dir, b.Write)
			})
			v = "PATH=" + strings.Join(dirs, ":")
		}
		out = append(out, v)
	}
	return out
}

// program returns the path of the command, as a shell finds it.
func (b Box) program() (path string, code int, err error) {
	name := b.Command[0]
	if !strings.Contains(name, "/") {
		if path, err = Lookup(b.Env, name); err != nil {
			return "", exitNotFound, fmt.Errorf("%s: command not found", name)
		}
		return path, 0, nil
	}
	return name, 0, nil
}

// realPath returns a path without links. What does not exist keeps its name below what does.
func realPath(path string) string {
	path = filepath.Clean(path)
	if r, err := resolve(path); err == nil {
		return r
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(realPath(dir), filepath.Base(path))
	}
	return path
}

// isUnder reports whether a path is a folder or lies below it.
func isUnder(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// isUnderAny reports whether a path is one of the folders or lies below one.
func isUnderAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return isUnder(path, dir) })
}

// parents returns the folders between the writable ones and paths in them, from the top.
func (b Box) parents(paths []string) (out []string) {
	for _, path := range paths {
		for dir := filepath.Dir(path); isUnderAny(dir, b.Write) &&
			!slices.Contains(out, dir); dir = filepath.Dir(dir) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}
