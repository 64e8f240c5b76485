package run

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine"
)

// Client fetches URLs. It keeps no connections, cookies or state, takes no proxy from the environment,
// and is safe for concurrent use.
type Client struct {
	// Judge returns nil for what may be fetched. It is asked before a name is looked up, and again for
	// its addresses.
	Judge    func(urls.Use) error
	Resolver confine.Resolver
	Limits   Limits
	TLS      *tls.Config     // nil: the system's roots
	Connect  confine.Connect // nil: dial directly
}

// Limits bound one fetch. Zero fields take the value of defaultLimits.
type Limits struct {
	Redirects int           // at most urls.MaxRedirects
	Body      int64         // bytes of the answer, decompressed
	Time      time.Duration // for the whole fetch, with redirects
}

var defaultLimits = Limits{Redirects: urls.MaxRedirects, Body: 8 << 20, Time: 30 * time.Second}

func (l Limits) orDefault() Limits {
	return Limits{
		Redirects: cmp.Or(l.Redirects, defaultLimits.Redirects),
		Body:      cmp.Or(l.Body, defaultLimits.Body),
		Time:      cmp.Or(l.Time, defaultLimits.Time),
	}
}

type Request struct {
	Method string // empty: GET
	URL    string
	Header http.Header
	Body   []byte
}

// Answer is a server's answer after all redirects.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Uses   []urls.Use // the URL and its redirects, as judged
}

// Do fetches a URL. The error is a *confine.Refused if the judge, or something on the way, forbids it.
func (c *Client) Do(ctx context.Context, in Request) (*Answer, error) {
	limits := c.Limits.orDefault()
	ctx, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	u := urls.Literal(in.URL, in.Method)
	in.Method = u.Method
	dialer := confine.Dialer{Judge: c.Judge, Resolver: c.Resolver, Connect: c.Connect}
	var uses []urls.Use
	for {
		server, err := dialer.Pin(ctx, u)
		if err != nil {
			return nil, err
		}
		u = server.Use
		uses = append(uses, u)
		answer, err := c.send(ctx, in, server, limits.Body)
		if err != nil {
			return nil, err
		}
		location := answer.Header.Get("Location")
		if !isRedirect(answer.Status) || location == "" {
			answer.Uses = uses
			return answer, nil
		}
		if u.Hop >= limits.Redirects {
			return nil, &confine.Refused{Use: u, Err: fmt.Errorf("it has more than %d redirects",
				limits.Redirects)}
		}
		u, in = redirected(u, in, location, answer.Status)
	}
}

// send sends one request. Of a redirect it reads only the header.
func (c *Client) send(ctx context.Context, in Request, at confine.Server, limit int64) (*Answer, error) {
	req, err := http.NewRequestWithContext(ctx, in.Method, at.Use.URL, bytes.NewReader(in.Body))
	if err != nil {
		// the error would show the URL
		return nil, &confine.Refused{Use: at.Use, Err: errors.New("it cannot be sent as it is")}
	}
	if in.Header != nil {
		req.Header = in.Header.Clone()
	}
	t := &http.Transport{
		DialContext: at.Dial, TLSClientConfig: c.TLS, DisableKeepAlives: true,
		TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
	res, err := t.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", confine.Place(at.Use), err)
	}
	defer res.Body.Close()
	answer := &Answer{Status: res.StatusCode, Header: res.Header}
	if isRedirect(res.StatusCode) && res.Header.Get("Location") != "" {
		return answer, nil
	}
	answer.Body, err = io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", confine.Place(at.Use), err)
	}
	if int64(len(answer.Body)) > limit {
		return nil, fmt.Errorf("fetch %s: the answer is longer than %d bytes", confine.Place(at.Use), limit)
	}
	return answer, nil
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return true
	}
	return false
}

// harmlessHeaders say nothing about who asks. All others stay with their origin: any of them may be a
// key.
var harmlessHeaders = []string{"Accept", "Accept-Encoding", "Accept-Language", "Content-Type", "User-Agent"}

// redirected returns the next URL and its request. Methods change as in net/http: only 307 and 308
// send a body again.
func redirected(u urls.Use, in Request, location string, status int) (urls.Use, Request) {
	next := u.Redirect(location)
	again := status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect
	if !again && in.Method != http.MethodHead {
		in.Method, in.Body = http.MethodGet, nil
	}
	next.Method = in.Method
	if next.SameOrigin(u) {
		return next, in
	}
	kept := http.Header{}
	for _, name := range harmlessHeaders {
		if v := in.Header.Values(name); len(v) > 0 {
			kept[name] = v
		}
	}
	in.Header = kept
	return next, in
}
