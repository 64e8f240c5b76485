package walls

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
)

// Program is the small program that does nothing else. It stands beside gpt-oss-executor, which does the
// same where there is none.
const Program = "gpt-oss-executor-confine"

// RunTicket runs a command as its ticket says, and returns the exit code.
func RunTicket(ctx context.Context, ticket string, words, environ []string, s Streams) int {
	say := func(message any) { fmt.Fprintln(s.Err, "gpt-oss-executor confine:", message) }
	t, err := Take(ticket, words, time.Now())
	switch {
	case err != nil:
		say(err)
		return ExitUnfit
	case t.Outside:
		say(t.runOutside(environ))
		return exitNotRun
	}
	t.Box.Env = t.Environ(environ)
	code, err := Run(t.Box, s)
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
