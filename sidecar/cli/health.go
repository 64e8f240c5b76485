package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

// ListenFlag is the flag that names a server by where it listens. Without it that is what serve would take.
func ListenFlag(c *cobra.Command, env Env, to *string) {
	here := env.DefaultSettings().Listen
	if set, ok := env.Lookup(config.Prefix + "LISTEN"); ok {
		here = set
	}
	c.Flags().StringVar(to, "at", here, "`ADDRESS` at which the server listens")
}

func healthCommand(env Env) *cobra.Command {
	var at string
	var ready bool
	c := &cobra.Command{
		Use:   "health",
		Short: "Ask a server whether it lives",
		Long: `Ask a server whether it lives, or with --ready whether it would serve a request. This is for
containers and supervisors. Exit code: 0 yes, 1 no.`,
		Example: `  gpt-oss-executor health
  gpt-oss-executor health --ready --at 127.0.0.1:8001`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := UntilStopped(c)
			defer stop()
			return ask(ctx, &http.Client{Timeout: 5 * time.Second}, at, ready)
		},
	}
	ListenFlag(c, env, &at)
	c.Flags().BoolVar(&ready, "ready", false, "also ask whether rules are loaded and a model server answers")
	return c
}

// ask asks the server that listens on an address, as the setting listen has it. ready: also whether it would
// serve a request. The error says why not.
func ask(ctx context.Context, client *http.Client, listen string, ready bool) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("%s is no address to listen on; write it as 127.0.0.1:8001", listen)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() { // it listens everywhere
		host = "127.0.0.1"
	}
	path := "/healthz"
	if ready {
		path = "/readyz"
	}
	at := net.JoinHostPort(host, port)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+path, nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", at, err)
	}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	var said struct {
		OK      bool     `json:"ok"`
		Ready   bool     `json:"ready"`
		Failing []string `json:"failing"`
	}
	switch err := json.Unmarshal(text, &said); {
	case err != nil:
		return fmt.Errorf("%s answered %s, and not as this program does", at, res.Status)
	case ready && len(said.Failing) > 0:
		return errors.New("not ready: " + strings.Join(said.Failing, "; "))
	case res.StatusCode != http.StatusOK || ready && !said.Ready || !ready && !said.OK:
		return fmt.Errorf("%s answered %s", at, res.Status)
	}
	return nil
}
