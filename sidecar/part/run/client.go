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

// Client fetches. It keeps no connections, no cookies and no state, takes no proxy
// from the environment, and can be used by many at once.
type Client struct {
	// nil error: it may be fetched. Asked before a name is looked up, and again for its addresses
	Judge    func(urls.Use) error
	Resolver confine.Resolver
	Limits   Limits
	TLS      *tls.Config     // nil: the roots of the system
	Connect  confine.Connect // nil: as the system does
}

// Limits bound one fetch. What is zero has the value of DefaultLimits.
type Limits struct {
	Redirects int           // at most urls.MaxRedirects
	Body      int64         // bytes of the answer, after decompression
	Time      time.Duration // for all of it, redirects included
}

// defaultLimits suit pages and API answers.
var defaultLimits = Limits{Redirects: urls.MaxRedirects, Body: 8 << 20, Time: 30 * time.Second}

func (l Limits) orDefault() Limits {
	return Limits{
		Redirects: cmp.Or(l.Redirects, defaultLimits.Redirects),
		Body:      cmp.Or(l.Body, defaultLimits.Body),
		Time:      cmp.Or(l.Time, defaultLimits.Time),
	}
}

// Request is what an agent wants.
type Request struct {
	Method string // empty: GET
	URL    string
	Header http.Header
	Body   []byte
}

// Answer is what a server said, after all redirects.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Uses   []urls.Use // the URL and its redirects, as they were judged
}

// Do fetches. The error is a *pin.Refused where the judge, or what was found on the way,
// forbids it.
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
		answer, err := c.ask(ctx, in, server, limits.Body)
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

// ask sends one request to a server that was judged. Of a redirect only the header is
// read.
func (c *Client) ask(ctx context.Context, in Request, at confine.Server, limit int64) (*Answer, error) {
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
