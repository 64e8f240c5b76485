package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// checkHealth asks the server at an address in the form of the setting listen whether it lives, or with ready
// whether it could serve a request. The error says why not.
func checkHealth(ctx context.Context, client *http.Client, listen string, ready bool) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("%s is no address to listen on; write it as 127.0.0.1:8001", listen)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() { // it listens on all addresses
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
		return fmt.Errorf("no server answers at %s: %s", at, upstream.Reason(err))
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	var health struct {
		OK      bool     `json:"ok"`
		Ready   bool     `json:"ready"`
		Failing []string `json:"failing"`
	}
	switch err := json.Unmarshal(text, &health); {
	case err != nil:
		return fmt.Errorf("%s answered %s, and not as this program does", at, res.Status)
	case ready && len(health.Failing) > 0:
		return errors.New("not ready: " + strings.Join(health.Failing, "; "))
	case res.StatusCode != http.StatusOK || ready && !health.Ready || !ready && !health.OK:
		return fmt.Errorf("%s answered %s", at, res.Status)
	}
	return nil
}
