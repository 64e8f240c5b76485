//go:build unix

package service

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Role tells a copy of this test what to be: a line of words, the first for itself, the rest for those below
// it.
const Role = "TEST_PARENT_ROLE"

// Play is a copy of this test in its role.
func Play(words string) {
	switch is, below, _ := strings.Cut(words, " "); is {
	case "starts": // the next one, as the words say, and stays
		startRole(below).Run()
		select {}
	case "waits": // and says what it waits for and that it is gone
		p := Find()
		fmt.Println("waits for", p.ID(), p.Known())
		fmt.Println("gone", p.Gone(context.Background()))
	}
}

// startRole is a copy of this test in the role of the first word; "shell" and "script" stand in front of it.
func startRole(roles string) *exec.Cmd {
	is, below, _ := strings.Cut(roles, " ")
	cmd := exec.Command(os.Args[0])
	switch is {
	case "shell": // that has something left to do, and so does not become the program
		cmd, roles = exec.Command("/bin/sh", "-c", `"$0"; exit $?`, os.Args[0]), below
	case "nested":
		cmd, roles = exec.Command("/bin/sh", "-c", `/bin/sh -c '"$0"; exit $?' "$0"; exit $?`,
			os.Args[0]), below
	}
	cmd.Env = append(os.Environ(), Role+"="+roles)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd
}

// A process that is killed is missed, also by one that a shell stands between.
func TestGone(t *testing.T) {
	for _, roles := range []string{"starts waits", "starts shell waits", "starts nested waits"} {
		t.Run(roles, func(t *testing.T) {
			if roles != "starts waits" && runtime.GOOS != "linux" {
				t.Skip("only Linux says here which process has started another one")
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), Role+"="+roles)
			out, to, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			cmd.Stdout, cmd.Stderr = to, to
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			to.Close()
			lines := bufio.NewReader(out)
			if line, err := lines.ReadString('\n'); line != fmt.Sprintf("waits for %d true\n",
				cmd.Process.Pid) || err != nil {
				t.Errorf("%q, %v, and the one to be killed is %d", line, err, cmd.Process.Pid)
			}
			if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
			if rest, err := io.ReadAll(lines); string(rest) != "gone true\n" || err != nil {
				t.Errorf("%q, %v", rest, err)
			}
		})
	}
}

// As long as it lives, only ctx ends the waiting.
func TestStillThere(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	p := Find()
	if !p.Known() {
		t.Skip("this test was started by process 1")
	}
	ctx, stop := context.WithTimeout(t.Context(), 3*interval)
	defer stop()
	if p.Gone(ctx) {
		t.Error("the process that started this test is missed")
	}
}

func TestNone(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	if p := (Parent{}); p.Known() || p.Gone(ctx) {
		t.Error("nobody has gone")
	}
}
