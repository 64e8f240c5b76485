// Package command is what a gateway starts in place of a command: it takes the ticket of the command, which
// says what the command may touch, and runs it confined; and it is ssh for git that runs so. Since each
// confined command starts it, it imports nothing of the server.
package command

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
)

// Program is the small program that does nothing else. It stands beside gpt-oss-executor, which does the
// same where there is none.
const Program = "gpt-oss-executor-confine"

// Run runs a command as its ticket says, and returns the exit code.
func Run(ctx context.Context, ticket string, words, environ []string, s walls.Streams) int {
	say := func(message any) { fmt.Fprintln(s.Err, "gpt-oss-executor confine:", message) }
	t, err := Take(ticket, words, time.Now())
	switch {
	case err != nil:
		say(err)
		return walls.ExitUnfit
	case t.Outside:
		say(t.runOutside(environ))
		return walls.ExitNotRun
	}
	t.Box.Env = t.Environ(environ)
	code, err := walls.Run(t.Box, s)
	if err != nil {
		say(err)
	}
	if t.Proxy == "" {
		return code
	}
	refused, err := Farewell(ctx, t.Proxy)
	if err != nil {
		return code // a proxy that is gone has refused nothing more
	}
	for _, sentence := range refused { // curl and git do not print it
		say("network: " + terminal.Printable(sentence))
	}
	return code
}

// RunSSH is ssh for git: it asks the transport at the proxy for what git asks of ssh, and returns the exit
// code.
func RunSSH(ctx context.Context, args, environ []string, in io.Reader, out, errs io.Writer) int {
	set := map[string]string{}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		set[name] = value
	}
	code := 255
	ask, err := ParseSSH(args, set["GIT_PROTOCOL"])
	if err == nil {
		code, err = ask.Run(ctx, set["http_proxy"], in, out, errs)
	}
	if err != nil {
		fmt.Fprintln(errs, "gpt-oss-executor "+SSH+":", terminal.Printable(err.Error()))
	}
	return code
}
