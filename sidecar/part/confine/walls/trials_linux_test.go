package walls

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// The commands of trials work bare and are stopped here, so on another system they show what
// is not.
func TestTrials(t *testing.T) {
	offer := Probe()
	if !offer.Has(PartFiles) || !offer.Has(PartBelow) {
		t.Skip("this machine cannot confine")
	}
	missing, err := runTrials(Run)
	if err != nil || len(missing) > 0 {
		t.Errorf("%v %q", err, missing)
	}
	let := func(b Box, std Streams) (int, error) {
		b.Write, b.Fixed, b.Deny = []string{"/"}, nil, nil
		return Run(b, std)
	}
	if missing, err = runTrials(let); err != nil || missing[PartFiles] == "" || missing[PartBelow] == "" ||
		missing[PartTCP] != "" {
		t.Errorf("with all files: %v %q", err, missing)
	}
}

// trials are commands that must work bare and fail confined, by the part that stops them. They run in
// bash with the variables of trialBox.
var trials = []struct {
	part   Part
	script string
}{
	{PartFiles, `cat "$OUT/file"`},
	{PartFiles, `echo x > "$OUT/new"`},
	{PartFiles, `mv "$IN/given" "$OUT/taken"`},
	{PartBelow, `cat "$IN/sub/hidden"`},
	{PartBelow, `echo x > "$IN/sub/fixed"`},
	{PartBelow, `mv "$IN/sub" "$IN/moved" && mv "$IN/moved" "$IN/sub"`},
	{partMetadata, `chmod 600 "$OUT/file"`},
	{partMetadata, `touch "$OUT/file"`},
	{PartTCP, `exec 3<>"/dev/tcp/$TCP"`},
	{PartUDP, `exec 3<>"/dev/udp/$UDP"`},
	{PartUnix, `perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un("$ENV{IN}/socket")) or exit 1'`},
	{PartSignals, `kill -0 "$OUTSIDER"`},
}

// runTrials runs the trials and says for each part that let one through which one. The error says that
// a command does not run, or cannot do what it may.
func runTrials(run func(Box, Streams) (int, error)) (map[Part]string, error) {
	b, end, err := trialBox()
	if err != nil {
		return nil, fmt.Errorf("prepare a trial: %w", err)
	}
	defer end()
	b.Command = []string{"/bin/bash", "-c",
		`cat "$IN/given" && echo x > "$IN/made" && exec 3<>"/dev/tcp/$PROXY"`}
	if code, err := run(b, Streams{}); err != nil || code != 0 {
		return nil, errors.Join(fmt.Errorf("a command cannot do what it may, and ended with exit code %d",
			code), err)
	}
	missing := map[Part]string{}
	for _, t := range trials {
		b.Command = []string{"/bin/bash", "-c", t.script}
		bare := exec.Command(b.Command[0], b.Command[1:]...)
		bare.Env = b.Env
		if code, err := run(b, Streams{}); err != nil || code == 0 {
			missing[t.part] = fmt.Sprintf("this was not stopped: %s", t.script)
		} else if err := bare.Run(); err != nil && missing[t.part] == "" {
			missing[t.part] = fmt.Sprintf("this could not be tried: %s", t.script)
		}
	}
	return missing, nil
}

// trialBox returns a box for trials, and makes what they must reach and not reach.
func trialBox() (b Box, end func(), err error) {
	dir, err := os.MkdirTemp("", "confine-")
	if err != nil {
		return b, nil, err
	}
	in, out := realPath(dir)+"/in", realPath(dir)+"/out"
	err = errors.Join(os.MkdirAll(in+"/sub", 0o700), os.Mkdir(out, 0o700))
	for _, file := range []string{in + "/given", in + "/sub/hidden", in + "/sub/fixed", out + "/file"} {
		err = errors.Join(err, os.WriteFile(file, []byte("x\n"), 0o600))
	}
	proxy, err1 := net.Listen("tcp", "127.0.0.1:0")
	tcp, err2 := net.Listen("tcp", "127.0.0.1:0")
	udp, err3 := net.ListenPacket("udp", "127.0.0.1:0")
	unix, err4 := net.Listen("unix", in+"/socket")
	if err := errors.Join(err, err1, err2, err3, err4); err != nil {
		return b, nil, errors.Join(err, os.RemoveAll(dir))
	}
	b = System()
	b.Dir, b.Write, b.Fixed, b.Deny = in, []string{in}, []string{in + "/sub/fixed"}, append(b.Deny,
		in+"/sub/hidden")
	b.Net, b.Proxy = NetProxy, proxy.Addr().String()
	b.Env = []string{"PATH=/usr/bin:/bin", "IN=" + in, "OUT=" + out, "OUTSIDER=" + strconv.Itoa(os.Getpid())}
	for name, address := range map[string]net.Addr{"PROXY": proxy.Addr(), "TCP": tcp.Addr(),
		"UDP": udp.LocalAddr()} {
		b.Env = append(b.Env, name+"="+strings.Replace(address.String(), ":", "/", 1))
	}
	return b, func() {
		for _, c := range []io.Closer{proxy, tcp, udp, unix} {
			_ = c.Close()
		}
		_ = os.RemoveAll(dir)
	}, nil
}
