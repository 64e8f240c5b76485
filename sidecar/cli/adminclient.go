package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// adminClient asks the admin API of a running server.
type adminClient struct {
	base  *url.URL
	token string
	http  *http.Client
}

// adminFrom is the client for what the flag admin says, or the environment; nil where
// neither does. The token comes from the environment.
func adminFrom(flag string, c *cobra.Command, env Env) (*adminClient, error) {
	if !c.Flags().Changed("admin") {
		flag, _ = env.lookup(ruleset.SettingPrefix + "ADMIN")
	}
	if flag == "" {
		return nil, nil
	}
	token, _ := env.lookup(ruleset.SettingPrefix + "ADMIN_TOKEN")
	return newAdminClient(flag, token)
}

// newAdminClient takes a URL, or an address as the setting admin has it.
func newAdminClient(at, token string) (*adminClient, error) {
	if !strings.Contains(at, "://") {
		at = "http://" + at
	}
	base, err := url.Parse(strings.TrimSuffix(at, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("--admin %s: want the address of the admin API, such as http://127.0.0.1:8002", at)
	}
	if host := base.Hostname(); host == "" || host == "0.0.0.0" || host == "::" { // the server listens everywhere
		base.Host = net.JoinHostPort("127.0.0.1", base.Port())
	}
	if token, err = secret(ruleset.SettingPrefix+"ADMIN_TOKEN", token); err != nil {
		return nil, err
	}
	return &adminClient{base: base, token: token, http: &http.Client{Timeout: 10 * time.Second}}, nil
}

// local reports whether the server is on this machine.
func (c *adminClient) local() bool {
	ip := net.ParseIP(c.base.Hostname())
	return c.base.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// rules asks what is in force.
func (c *adminClient) rules(ctx context.Context) (r sidecar.Report, err error) {
	return r, c.ask(ctx, http.MethodGet, "/rules", nil, &r)
}

// check asks what version files would be, and whether the server would take them.
// What is wrong with them is an error of the type rulefile.Problems.
func (c *adminClient) check(ctx context.Context, files rulefile.Files) (version string, err error) {
	body, err := json.Marshal(map[string]any{"files": files})
	if err != nil {
		return "", err
	}
	var e sidecar.Edited
	err = c.ask(ctx, http.MethodPut, "/rules?dry=1", body, &e)
	return e.Version, err
}

func (c *adminClient) ask(ctx context.Context, method, path string, body []byte, to any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.base.String()+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	defer res.Body.Close()
	doc, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return said(res, doc)
	}
	if err := json.Unmarshal(doc, to); err != nil {
		return fmt.Errorf("ask the server: %s gave no answer of an admin API: %w", c.base, err)
	}
	return nil
}

// said is the error in an answer. The admin API has a hint for everything that it does
// not find; another server has none.
func said(res *http.Response, doc []byte) error {
	var body struct {
		Error sidecar.AdminError `json:"error"`
	}
	switch err := json.Unmarshal(doc, &body); {
	case err != nil || body.Error.Message == "", res.StatusCode == http.StatusNotFound && body.Error.Hint == "":
		return fmt.Errorf("ask the server: %s answered %s; is this the address of its admin API?", res.Request.URL.Host, res.Status)
	case len(body.Error.Problems) > 0:
		return body.Error.Problems
	case res.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("ask the server: %s; set %sADMIN_TOKEN", body.Error.Message, ruleset.SettingPrefix)
	}
	return fmt.Errorf("the server says: %s; %s", body.Error.Message, body.Error.Hint)
}
