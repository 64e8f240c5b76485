package walls

import (
	"encoding/binary"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// What is denied is taken out of what may be read, and a more specific grant wins.
func TestGrants(t *testing.T) {
	root := realPath(t.TempDir())
	for _, dir := range []string{"home/.ssh", "home/project/src", "home/.config/git", "home/.config/gh",
		"tools"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(root+"/home/.netrc", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(root+"/home/.ssh", root+"/home/keys"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, read, deny, want string }{
		{"whole", "home", "", "home"},
		{"without a folder", "home", "home/.ssh", "home/.config home/.netrc home/project"},
		{"without a file", "home", "home/.netrc", "home/.config home/.ssh home/project"},
		{"without a folder deep below", "home", "home/.ssh home/.config/gh", "home/.config/git home/.netrc home/project"},
		{"without what is not there yet", "home", "home/.aws", "home/.config home/.netrc home/.ssh home/project"},
		{"denied itself", "home", "home", ""},
		{"more specific", "home/project", "home", "home/project"},
		{"not there", "nowhere", "nowhere/x", ""},
	} {
		paths := func(list string) (out []string) {
			for p := range strings.FieldsSeq(list) {
				out = append(out, filepath.Join(root, p))
			}
			return out
		}
		b := Box{Read: paths(c.read), Deny: paths(c.deny)}
		grants, err := b.grants()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, g := range grants {
			got = append(got, g.path)
			if g.access != readRights {
				t.Errorf("%s: %s is more than readable", c.name, g.path)
			}
		}
		if diff := cmp.Diff(paths(c.want), got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// The filter is run as the kernel does, by another machine.
func TestFilter(t *testing.T) {
	none, open := System(), System()
	open.Net = NetOpen
	full := landlockRights{fs: unix.LANDLOCK_ACCESS_FS_TRUNCATE, scoped: unix.LANDLOCK_SCOPE_SIGNAL}
	const cloexec = unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK
	for _, c := range []struct {
		name string
		box  Box
		h    landlockRights
		nr   int
		args []uint64
		want uint32
	}{
		{"read", none, full, unix.SYS_READ, nil, allow},
		{"connect", none, full, unix.SYS_CONNECT, nil, notify},
		{"TCP", none, full, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM | cloexec, 0}, allow},
		{"TCP by number", none, full, unix.SYS_SOCKET, []uint64{unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_TCP}, allow},
		{"TCP with rubbish above", none, full, unix.SYS_SOCKET, []uint64{unix.AF_INET | 1<<40, unix.SOCK_STREAM, 0}, allow},
		{"MPTCP", none, full, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, eacces},
		{"UDP", none, full, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_DGRAM | cloexec, 0}, eacces},
		{"UDP in an open network", open, full, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_DGRAM | cloexec, 0}, allow},
		{"MPTCP in an open network", open, full, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, eacces},
		{"raw", open, full, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}, eacces},
		{"Unix stream", none, full, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_STREAM, 0}, allow},
		{"Unix datagrams", open, full, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM, 0}, eacces},
		{"interfaces", none, full, unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, allow},
		{"audit", none, full, unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT}, eacces},
		{"sendto", none, full, unix.SYS_SENDTO, []uint64{3, 0, 0, unix.MSG_NOSIGNAL}, allow},
		{"fast open", none, full, unix.SYS_SENDTO, []uint64{3, 0, 0, unix.MSG_NOSIGNAL | unix.MSG_FASTOPEN}, eperm},
		{"thread", none, full, unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_THREAD}, allow},
		{"namespace", none, full, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, eperm},
		{"clone3", none, full, unix.SYS_CLONE3, nil, enosys},
		{"own limits", none, full, unix.SYS_PRLIMIT64, []uint64{0}, allow},
		{"limits of another", none, full, unix.SYS_PRLIMIT64, []uint64{77}, notify},
		{"own niceness", none, full, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_PROCESS, 0}, allow},
		{"niceness of a user", none, full, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_USER, 0}, eperm},
		{"terminal size", none, full, unix.SYS_IOCTL, []uint64{0, unix.TIOCGWINSZ}, allow},
		{"typing", none, full, unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, eperm},
		{"flags of a file", none, full, unix.SYS_IOCTL, []uint64{0, unix.FS_IOC_GETFLAGS}, allow},
		{"setting flags of a file", none, full, unix.SYS_IOCTL, []uint64{0, unix.FS_IOC_SETFLAGS}, eperm},
		{"sealing a file", none, full, unix.SYS_IOCTL, []uint64{0, unix.FS_IOC_ENABLE_VERITY}, eperm},
		{"a copy that shares blocks", none, full, unix.SYS_IOCTL, []uint64{0, unix.FICLONE}, allow},
		{"a btrfs subvolume", none, full, unix.SYS_IOCTL, []uint64{0, 0x5000940e}, eperm},
		{"typing with rubbish above", none, full, unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI | 1<<32}, eperm},
		{"open", none, full, unix.SYS_OPENAT, []uint64{0, 0, unix.O_RDONLY, 0o4755}, allow},
		{"create", none, full, unix.SYS_OPENAT, []uint64{0, 0, unix.O_CREAT, 0o755}, allow},
		{"create for all", none, full, unix.SYS_OPENAT, []uint64{0, 0, unix.O_CREAT | unix.O_WRONLY, 0o4755}, eperm},
		{"create for all without a name", none, full, unix.SYS_OPENAT, []uint64{0, 0, unix.O_TMPFILE | unix.O_RDWR, 0o2755}, eperm},
		{"create without a name", none, full, unix.SYS_OPENAT, []uint64{0, 0, unix.O_TMPFILE | unix.O_RDWR, 0o644}, allow},
		{"open a folder", none, full, unix.SYS_OPENAT, []uint64{0, 0, unix.O_DIRECTORY, 0o4755}, allow},
		{"empty", none, full, unix.SYS_OPENAT, []uint64{0, 0, unix.O_TRUNC}, allow},
		{"empty on an old kernel", none, landlockRights{}, unix.SYS_OPENAT, []uint64{0, 0, unix.O_TRUNC}, eperm},
		{"write anew on an old kernel", none, landlockRights{}, unix.SYS_OPENAT, []uint64{0, 0, unix.O_WRONLY | unix.O_CREAT | unix.O_TRUNC, 0o644}, allow},
		{"truncate", none, full, unix.SYS_TRUNCATE, nil, allow},
		{"truncate on an old kernel", none, landlockRights{}, unix.SYS_TRUNCATE, nil, eperm},
		{"tgkill", none, full, unix.SYS_TGKILL, nil, allow},
		{"tgkill without scopes", none, landlockRights{}, unix.SYS_TGKILL, nil, notify},
		{"newer than this", none, full, newest + 1, nil, enosys},
		{"x32", none, full, 0x40000000 | unix.SYS_READ, nil, enosys},
	} {
		if got := verdictOf(t, c.box, c.h, auditArch, c.nr, c.args); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
	if got := verdictOf(t, none, full, auditArch^1, unix.SYS_READ, nil); got != eperm {
		t.Errorf("another machine's call: %#x", got)
	}
}

func verdictOf(t *testing.T, b Box, h landlockRights, arch uint32, nr int, args []uint64) uint32 {
	t.Helper()
	code, err := filter(b.callRules(h, false))
	if err != nil {
		t.Fatal(err)
	}
	var raw []bpf.RawInstruction
	for _, c := range code {
		raw = append(raw, bpf.RawInstruction{Op: c.Code, Jt: c.Jt, Jf: c.Jf, K: c.K})
	}
	program, ok := bpf.Disassemble(raw)
	if !ok {
		t.Fatal("the filter is no program")
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	// This machine reads words with their high bytes first.
	data := binary.BigEndian.AppendUint32(nil, uint32(nr))
	data = binary.BigEndian.AppendUint32(data, arch)
	data = append(data, make([]byte, 8+6*8)...)
	for i, a := range args {
		binary.BigEndian.PutUint32(data[dataArgs+8*i:], uint32(a))
		binary.BigEndian.PutUint32(data[dataArgs+8*i+4:], uint32(a>>32))
	}
	got, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}

// Each call that the filter asks about has somebody who answers.
func TestEveryQuestionIsAnswered(t *testing.T) {
	answers := callHandlers()
	b := System()
	for _, c := range b.callRules(landlockRights{}, false) {
		asks := c.result == notify
		for _, choice := range c.choices {
			asks = asks || choice.result == notify
		}
		if asks && answers[c.nr] == nil {
			t.Errorf("nobody answers call %d", c.nr)
		}
	}
}

func TestOnLoopback(t *testing.T) {
	four := func(a, b, c, d byte) []byte {
		return append([]byte{unix.AF_INET, 0, 0, 80, a, b, c, d}, make([]byte, 8)...)
	}
	for _, c := range []struct {
		name      string
		from, to  []byte
		forbidden bool
	}{
		{"loopback", four(127, 0, 0, 1), four(127, 0, 0, 1), false},
		{"another loopback", four(127, 9, 9, 9), four(127, 9, 9, 9), false},
		{"any", four(0, 0, 0, 0), four(127, 0, 0, 1), false},
		{"another", four(10, 0, 0, 1), nil, true},
		{"short", four(0, 0, 0, 0)[:6], nil, true},
	} {
		got, err := onLoopback(-1, c.from)
		if (err != nil) != c.forbidden || err == nil && string(got) != string(c.to) {
			t.Errorf("%s: %v %v", c.name, got, err)
		}
	}
}

// What may be connected to, without a session that serves anything.
func TestMayReach(t *testing.T) {
	address := func(text string) []byte {
		a := netip.MustParseAddrPort(text)
		if a.Addr().Is4() {
			ip := a.Addr().As4()
			return append(binary.BigEndian.AppendUint16([]byte{unix.AF_INET, 0}, a.Port()),
				append(ip[:], make([]byte, 8)...)...)
		}
		ip := a.Addr().As16()
		return append(binary.BigEndian.AppendUint16([]byte{unix.AF_INET6, 0}, a.Port()),
			append(make([]byte, 4), append(ip[:], make([]byte, 4)...)...)...)
	}
	records, err := openRecords("", "")
	if err != nil {
		t.Fatal(err)
	}
	none, proxy, open := Box{Net: NetNone, Ports: []int{9}}, Box{Net: NetProxy,
		Proxy: "127.0.0.1:7"}, Box{Net: NetOpen}
	for _, c := range []struct {
		box  Box
		to   string
		want bool
	}{
		{none, "127.0.0.1:9", true},
		{none, "[::1]:9", true},
		{none, "[::ffff:127.0.0.1]:9", true},
		{none, "0.0.0.0:9", true},
		{none, "127.0.0.1:10", false},
		{none, "192.0.2.1:9", false},
		{none, "[2001:db8::1]:9", false},
		{none, "[::ffff:192.0.2.1]:9", false},
		{proxy, "127.0.0.1:7", true},
		{proxy, "[::ffff:127.0.0.1]:7", true},
		{proxy, "127.0.0.2:7", false},
		{proxy, "[::1]:7", false},
		{proxy, "0.0.0.0:7", false},
		{proxy, "192.0.2.1:7", false},
		{open, "192.0.2.1:443", true},
	} {
		caller := &caller{supervisor: &supervisor{box: c.box, records: records}}
		if got := caller.mayReach(address(c.to)); got != c.want {
			t.Errorf("%s %s: %t", c.box.Net, c.to, got)
		}
	}
	for _, bad := range [][]byte{{unix.AF_INET, 0}, {unix.AF_UNIX, 0, 'x'}, address("127.0.0.1:9")[:6]} {
		if (&caller{supervisor: &supervisor{box: open, records: records}}).mayReach(bad) {
			t.Errorf("%v may be reached", bad)
		}
	}
}

// What the child does is a list that can be read.
func TestPlanIsReadable(t *testing.T) {
	b := fit(t, "true")
	fixed := b.Dir + "/fixed"
	if err := os.Mkdir(fixed, 0o700); err != nil {
		t.Fatal(err)
	}
	b.Fixed = []string{fixed}
	b, err := b.normalize()
	if err != nil {
		t.Fatal(err)
	}
	offer, err := quickProbe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.plan(planInput{program: "/bin/true", streams: [3]int{0, 1, 2}, gate: 9, offer: offer})
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	var steps []string
	for _, o := range p.ops {
		steps = append(steps, o.what)
	}
	all := strings.Join(steps, "\n")
	after := -1
	for _, want := range []string{"end with the keeper", "mount " + realPath(fixed), "limit core dumps",
		"close what is open", "give up new privileges", "restrict files", stepListen,
		"wait for the supervisor", "let signals in", stepRun} {
		i := strings.Index(all, want)
		if i <= after {
			t.Errorf("%q is missing, or comes too early, in\n%s", want, all)
		}
		after = i
	}
}

// The kernel counts tasks only where it counts those of the command alone.
func TestTasksAreBound(t *testing.T) {
	refer := landlockRights{fs: unix.LANDLOCK_ACCESS_FS_REFER}
	for _, c := range []struct {
		name   string
		flags  uintptr
		kernel landlockRights
		limits Limits
		want   bool
	}{
		{"a user namespace", unix.CLONE_NEWUSER | unix.CLONE_NEWNS, refer, Limits{Processes: 4}, true},
		{"root", unix.CLONE_NEWNS, refer, Limits{Processes: 4}, false},
		{"no namespace", 0, refer, Limits{Processes: 4}, false},
		{"an old kernel", unix.CLONE_NEWUSER, landlockRights{}, Limits{Processes: 4}, false},
		{"no limit", unix.CLONE_NEWUSER, refer, Limits{}, false},
	} {
		p := &plan{flags: c.flags}
		c.limits.rlimits(p, c.kernel)
		if got := slices.ContainsFunc(p.ops,
			func(o op) bool {
				return o.what == "limit tasks" && o.args[1] == unix.RLIMIT_NPROC
			}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
