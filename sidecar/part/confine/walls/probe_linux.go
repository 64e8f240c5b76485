package walls

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// kernel is what was learnt of this one.
type kernel struct {
	landlock     landlockRights
	waitKillable uintptr // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, if supported
	namespace    uintptr // flags to give a child its own mounts
}

// quickProbe finds out what costs little. The run itself tries the rest.
func quickProbe() (o Offer, err error) {
	if o.landlock, err = landlock(); err != nil {
		return o, fmt.Errorf("%w: %w", errUnfit, err)
	}
	// A filter that stands nowhere: flags are looked at first. Without this one a signal
	// would interrupt a call that the supervisor does, and it would be done twice.
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags,
		0); errno == unix.EFAULT {
		o.waitKillable = unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	}
	o.namespace = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWIPC
	if mayMount() {
		o.namespace &^= unix.CLONE_NEWUSER
	}
	return o, nil
}

func mayMount() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var own [2]unix.CapUserData
	return unix.Capget(&header, &own[0]) == nil && own[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0
}

// Probe tries what this machine enforces, in a scratch folder.
func Probe() Offer {
	o, err := quickProbe()
	o.Parts = Parts()
	missing := map[Part]string{}
	if err == nil {
		err = trial(nil)
	}
	if err != nil {
		for _, g := range o.Parts {
			missing[g.Part] = err.Error()
		}
	} else if err := trial(func(b *Box) { b.Fixed = []string{b.Write[0] + "/fixed"} }); err != nil {
		missing[PartBelow] = err.Error()
	}
	by := map[Part]string{
		PartFiles: "Landlock", PartBelow: "a namespace of mounts", partMetadata: "the supervisor",
		PartTCP: "the supervisor", PartUDP: "seccomp",
		PartUnix: "the supervisor", PartSignals: "the supervisor", partProc: "Landlock",
		partLimits: "the supervisor",
	}
	if o.landlock.net != 0 {
		by[PartTCP] = "Landlock, and the supervisor"
	}
	if o.landlock.scoped&unix.LANDLOCK_SCOPE_SIGNAL != 0 {
		by[PartSignals] = "Landlock"
	}
	for i, g := range o.Parts {
		if o.Parts[i].Missing = missing[g.Part]; missing[g.Part] == "" {
			o.Parts[i].By = by[g.Part]
		}
	}
	return o
}

// trial confines a program that does nothing.
func trial(change func(*Box)) error {
	dir, err := os.MkdirTemp("", "confine-")
	if err != nil {
		return fmt.Errorf("make a scratch folder: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(dir+"/fixed", 0o700); err != nil {
		return fmt.Errorf("make a scratch folder: %w", err)
	}
	b := System()
	b.Command, b.Dir, b.Write = []string{"true"}, dir, []string{realPath(dir)}
	b.Env = []string{"PATH=/usr/bin:/bin"}
	if change != nil {
		change(&b)
	}
	code, err := Run(b, Streams{})
	if err == nil && code != 0 {
		err = fmt.Errorf("a trial ended with exit code %d", code)
	}
	var step *stepError
	if errors.As(err, &step) {
		return step
	}
	return err
}
