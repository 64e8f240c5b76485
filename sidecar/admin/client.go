package admin

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

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// Client uses the admin API of a running server. Its errors are what the server says, with its hint, or why
// it cannot be asked; problems of rules are rulefile.Problems.
type Client struct {
	base  *url.URL
	token string
	http  *http.Client
}

// NewClient takes a URL or an address as in the setting admin, and the token, if the server has one. Close
// must be called at the end.
func NewClient(at, token string) (*Client, error) {
	if !strings.Contains(at, "://") {
		at = "http://" + at
	}
	base, err := url.Parse(strings.TrimSuffix(at, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("--admin %s is not the address of an admin API; write it as http://127.0.0.1:8002", at)
	}
	// the server listens everywhere
	if host := base.Hostname(); host == "" || host == "0.0.0.0" || host == "::" {
		base.Host = net.JoinHostPort("127.0.0.1", base.Port())
	}
	return &Client{base: base, token: token, http: &http.Client{Timeout: 10 * time.Second}}, nil
}

// Close drops the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Local reports whether the server is on this machine.
func (c *Client) Local() bool {
	ip := net.ParseIP(c.base.Hostname())
	return c.base.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// Rules returns the rules in force.
func (c *Client) Rules(ctx context.Context) (r live.Report, err error) {
	return r, c.Ask(ctx, http.MethodGet, "/rules", nil, &r)
}

// History returns the rules that came into force, newest first.
func (c *Client) History(ctx context.Context) ([]live.Past, error) {
	var all struct {
		History []live.Past `json:"history"`
	}
	err := c.Ask(ctx, http.MethodGet, "/rules/history", nil, &all)
	return all.History, err
}

// Texts returns the files of a version in the history.
func (c *Client) Texts(ctx context.Context, version string) (rulefile.Files, error) {
	var past struct {
		Files rulefile.Files `json:"files"`
	}
	err := c.Ask(ctx, http.MethodGet, "/rules/history/"+url.PathEscape(version), nil, &past)
	return past.Files, err
}

// Hits returns how often each rule had a part in something.
func (c *Client) Hits(ctx context.Context) (h live.Hits, err error) {
	return h, c.Ask(ctx, http.MethodGet, "/rules/hits", nil, &h)
}

// Rollback restores a version, in the name of by, if seen is in force; "": the version before.
func (c *Client) Rollback(ctx context.Context, version, by, seen string) (e live.Edited, err error) {
	body, err := json.Marshal(map[string]string{"version": version, "by": by})
	if err != nil {
		return e, err
	}
	return e, c.Ask(ctx, http.MethodPost, "/rules/rollback", body, &e, "If-Match", `"`+seen+`"`)
}

// Check returns the version of files if the server would accept them.
func (c *Client) Check(ctx context.Context, files rulefile.Files) (version string, err error) {
	body, err := json.Marshal(map[string]any{"files": files})
	if err != nil {
		return "", err
	}
	var e live.Edited
	err = c.Ask(ctx, http.MethodPut, "/rules?dry=1", body, &e)
	return e.Version, err
}

// Approvals returns the list; query may wait for a change.
func (c *Client) Approvals(ctx context.Context, query string) (list Approvals, err error) {
	return list, c.Ask(ctx, http.MethodGet, "/approvals"+query, nil, &list)
}

// Approval gets an approval, or answers it.
func (c *Client) Approval(ctx context.Context, method, id, verb string,
	say map[string]string) (got Approval, err error) {
	var body []byte
	if say != nil {
		if body, err = json.Marshal(say); err != nil {
			return got, err
		}
	}
	return got, c.Ask(ctx, method, "/approvals/"+url.PathEscape(id)+verb, body, &got)
}

// Ask sends a request to a path of the API, with pairs of headers, and reads the answer.
func (c *Client) Ask(ctx context.Context, method, path string, body []byte, to any, header ...string) error {
	req, err := http.NewRequestWithContext(ctx, method, c.base.String()+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("no server answers at %s: %s", c.base.Host, upstream.Reason(err))
	}
	defer res.Body.Close()
	doc, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return responseError(res, doc)
	}
	if err := json.Unmarshal(doc, to); err != nil {
		return fmt.Errorf("ask the server: %s gave no answer of an admin API: %w", c.base, err)
	}
	return nil
}

// responseError returns the error in a response. The admin API has a hint for everything that it does not
// find; other servers have none.
func responseError(res *http.Response, doc []byte) error {
	var body struct {
		Error Error `json:"error"`
	}
	switch err := json.Unmarshal(doc, &body); {
	case err != nil || body.Error.Message == "", res.StatusCode == http.StatusNotFound &&
		body.Error.Hint == "":
		return fmt.Errorf("ask the server: %s answered %s; is this the address of its admin API?",
			res.Request.URL.Host, res.Status)
	case len(body.Error.Problems) > 0:
		return body.Error.Problems
	case res.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("ask the server: %s; set %sADMIN_TOKEN", body.Error.Message, config.Prefix)
	}
	return fmt.Errorf("the server says: %s; %s", body.Error.Message, body.Error.Hint)
}
