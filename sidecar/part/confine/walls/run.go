package walls

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
)

// Program is the small program that only confines. gpt-oss-executor does the same if it is not
// installed.
const Program = "gpt-oss-executor-confine"

// RunTicket runs a command as its ticket says and returns the exit code.
func RunTicket(ctx context.Context, ticket string, words, environ []string, s Streams) int {
	say := func(message any) { fmt.Fprintln(s.Err, "gpt-oss-executor confine:", message) }
	t, err := TakeTicket(ticket, words, time.Now())
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
	refused, err := ReportEnd(ctx, t.Proxy)
	if err != nil {
		return code // a proxy that is gone has refused nothing more
	}
	for _, sentence := range refused { // curl and git do not print it
		say("network: " + terminal.Printable(sentence))
	}
	return code
}

// RunSSH replaces ssh for git: it asks the transport at the proxy for what git asks of ssh, and
// returns the exit code.
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

// reportTimeout is how long a command that has ended is delayed.
const reportTimeout = 2 * time.Second

// ReportEnd tells the proxy of this URL that its command has ended, and returns what was refused to
// it, a sentence each. Programs such as curl and git do not print the reason.
func ReportEnd(ctx context.Context, proxy string) (refused []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	at, err := url.Parse(proxy)
	if err != nil {
		return nil, fmt.Errorf("the URL of the proxy: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, "http://"+at.Host+"/", nil)
	if err != nil {
		return nil, fmt.Errorf("the URL of the proxy: %w", err)
	}
	authorize(req, at)
	direct := &http.Transport{DisableKeepAlives: true}
	res, err := direct.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("tell the proxy that the command has ended: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("tell the proxy that the command has ended: it says %s", res.Status)
	}
	lines := bufio.NewScanner(io.LimitReader(res.Body, 64<<10))
	for lines.Scan() {
		refused = append(refused, lines.Text())
	}
	return refused, nil
}

// authorize adds the credentials in the URL of a proxy to a request to that proxy.
func authorize(req *http.Request, proxy *url.URL) {
	password, _ := proxy.User.Password()
	req.SetBasicAuth(proxy.User.Username(), password)
	req.Header["Proxy-Authorization"] = req.Header["Authorization"]
	req.Header.Del("Authorization")
}
