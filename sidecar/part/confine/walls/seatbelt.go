package walls

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Seatbelt is how macOS confines: sandbox-exec runs a program under a profile, which all that
// it starts inherits. Of the rules for a path the last one holds. This file only writes
// profiles, so it is tested on every system.

// seatbeltBase is what every command may do. It asks few services of the system: trustd and
// mDNSResponder would carry data out, launchd and the window server would run programs.
const seatbeltBase = `(version 1)
(deny default)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read
  (sysctl-name-prefix "hw.") (sysctl-name-prefix "machdep.") (sysctl-name-prefix "vm.") (sysctl-name-prefix "kern.os")
  (sysctl-name-prefix "kern.max") (sysctl-name-prefix "kern.proc.p") (sysctl-name "kern.argmax") (sysctl-name "kern.boottime")
  (sysctl-name "kern.hostname") (sysctl-name "kern.ngroups") (sysctl-name "kern.secure_kernel") (sysctl-name "kern.usrstack64")
  (sysctl-name "kern.version") (sysctl-name "sysctl.proc_cputype"))
(allow mach-lookup
  (global-name "com.apple.bsd.dirhelper") (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership"))
(allow ipc-posix-sem)
(allow pseudo-tty)
(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))
(allow file-read* file-write* file-ioctl (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
(allow file-read-metadata)
(allow file-read-data (literal "/"))
(allow file-read* file-write-data (subpath "/dev/fd"))
`

// The rules for paths. A listed folder shows its own names and no more: a rule for the kind
// of a file is said to outlast a later one without it.
const (
	seatbeltRead  = "(allow file-read* file-map-executable process-exec* (subpath %s))"
	seatbeltList  = "(allow file-read-data (literal %s))"
	seatbeltUse   = "(allow file-read* file-write-data (literal %s))"
	seatbeltWrite = "(allow file-read* file-write* file-map-executable process-exec* (subpath %s))"
	seatbeltStay  = "(deny file-write-unlink (literal %s))"
	seatbeltFixed = "(deny file-write* (subpath %s))"
	seatbeltDeny  = "(deny file* process-exec* (subpath %s))"
)

// seatbelt returns the profile of a normalized box. What is denied or fixed below a writable folder
// comes last, so that no rule gives it back. The folders that lead there cannot be moved, or it would
// move to where no rule holds.
func (b Box) seatbelt() (profile string, err error) {
	p := &seatbelt{}
	p.WriteString(seatbeltBase)
	below := func(paths []string, yes bool) []string {
		return slices.DeleteFunc(slices.Clone(paths),
			func(path string) bool { return isUnderAny(path, b.Write) != yes })
	}
	hidden, fixed := below(b.Deny, true), below(b.Fixed, true)
	p.add(b.Read, seatbeltRead).add(b.List, seatbeltList).add(below(b.Deny, false), seatbeltDeny).flush()
	p.add(b.Use, seatbeltUse).add(b.Write, seatbeltWrite).flush()
	p.add(b.parents(slices.Concat(hidden, fixed)), seatbeltStay).add(fixed, seatbeltFixed).flush()
	p.add(hidden, seatbeltDeny).flush()
	p.WriteString("(deny file-write-setugid)\n")
	b.seatbeltNet(p)
	return p.String(), p.err
}

// seatbeltNet writes the rules of the network. Socket files are refused, since their owner is unknown,
// and so are names, since looking one up tells it to others.
func (b Box) seatbeltNet(p *seatbelt) {
	listen := "localhost:*"
	if b.Anyone {
		listen = "*:*"
	}
	fmt.Fprintf(p, "(allow network-bind (local tcp %q))\n(allow network-inbound (local tcp %[1]q))\n", listen)
	if b.Net == NetOpen {
		p.WriteString("(allow network-outbound (remote tcp \"*:*\") (remote udp \"*:*\") (literal \"/private/var/run/mDNSResponder\"))\n")
		return
	}
	ports := slices.Clone(b.Ports)
	if b.Net == NetProxy {
		for _, a := range proxyAddresses(b.Proxy) {
			ports = append(ports, int(a.Port()))
		}
	}
	slices.Sort(ports)
	for _, port := range slices.Compact(ports) {
		fmt.Fprintf(p, "(allow network-outbound (remote tcp \"localhost:%d\"))\n", port)
	}
}

// seatbelt is a profile that is being written.
type seatbelt struct {
	strings.Builder
	rules []seatbeltRule // to be sorted by flush
	err   error
}

type seatbeltRule struct {
	depth int
	text  string
}

// add adds a rule for each path.
func (p *seatbelt) add(paths []string, rule string) *seatbelt {
	for _, path := range paths {
		quoted, err := seatbeltText(path)
		p.err = cmp.Or(p.err, err)
		p.rules = append(p.rules, seatbeltRule{strings.Count(strings.TrimRight(path, "/"), "/"),
			fmt.Sprintf(rule, quoted)})
	}
	return p
}

// flush writes the added rules, more specific paths later; at one path in the order of add.
func (p *seatbelt) flush() {
	slices.SortStableFunc(p.rules, func(a, b seatbeltRule) int { return a.depth - b.depth })
	for _, r := range p.rules {
		p.WriteString(r.text + "\n")
	}
	p.rules = nil
}

// seatbeltText quotes a path for a profile.
func seatbeltText(path string) (string, error) {
	if !utf8.ValidString(path) ||
		strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", fmt.Errorf("%w: a profile can hold no name with a line break or the like: %q", errUnfit,
			path)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`, nil
}

// onDisk returns a path as its folders spell it. On macOS .ENV is also found as .env, and a rule is
// for one spelling.
func onDisk(path string) string {
	dir, name := filepath.Dir(path), filepath.Base(path)
	if dir == path {
		return path
	}
	dir = onDisk(dir)
	meant, err := os.Lstat(filepath.Join(dir, name))
	entries, _ := os.ReadDir(dir)
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == name }) {
		return filepath.Join(dir, name)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && os.SameFile(info, meant) {
			name = e.Name()
		}
	}
	return filepath.Join(dir, name)
}
