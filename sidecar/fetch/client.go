// Package fetch gets URLs for an agent, and only those that a judge lets it. It looks
// a name up once, judges every address that it has, and connects to one of these and
// to nothing else; so a name that changes its address afterwards changes nothing. Every
// redirect is judged like a URL of its own.
package fetch

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// Resolver looks names up; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Client fetches. It keeps no connections, no cookies and no state, takes no proxy
// from the environment, and can be used by many at once.
type Client struct {
	Judge    func(urls.Use) error // nil error: it may be fetched. Asked before a name is looked up, and again for its addresses
	Resolver Resolver
	Limits   Limits
	TLS      *tls.Config // nil: the roots of the system
	// Dial connects; nil: as d does. Whatever it does must end in d.
	Dial func(ctx context.Context, d *net.Dialer, network, address string) (net.Conn, error)
}

// Limits bound one fetch. What is zero has the value of DefaultLimits.
type Limits struct {
	Redirects int           // at most urls.MaxRedirects
	Body      int64         // bytes of the answer, after decompression
	Time      time.Duration // for all of it, redirects included
}

// DefaultLimits suit pages and API answers.
var DefaultLimits = Limits{Redirects: urls.MaxRedirects, Body: 8 << 20, Time: 30 * time.Second}

func (l Limits) orDefault() Limits {
	return Limits{
		Redirects: cmp.Or(l.Redirects, DefaultLimits.Redirects),
		Body:      cmp.Or(l.Body, DefaultLimits.Body),
		Time:      cmp.Or(l.Time, DefaultLimits.Time),
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

// Refused is the error of a URL, or of a redirect, that may not be fetched. Err is what
// the judge said.
type Refused struct {
	Use urls.Use
	Err error
}

// Error names the host and no more of the URL, which may hold secrets.
func (r *Refused) Error() string {
	what := strings.Join(append([]string{r.Use.Class}, r.Use.Marks...), ", ")
	if r.Use.Address != "" {
		what += ", " + r.Use.Address
	}
	return fmt.Sprintf("%s is not fetched (%s): %v", place(r.Use), what, r.Err)
}

func (r *Refused) Unwrap() error { return r.Err }

// place is the server of a use, and which redirect led there.
func place(u urls.Use) string {
	at := "this URL"
	if u.Host != "" {
		at = fmt.Sprintf("%s://%s", u.Scheme, net.JoinHostPort(u.Host, fmt.Sprint(u.Port)))
	}
	if u.Hop > 0 {
		at = fmt.Sprintf("redirect %d to %s", u.Hop, at)
	}
	return at
}

// Do fetches. The error is a *Refused where the judge, or what was found on the way,
// forbids it.
func (c *Client) Do(ctx context.Context, in Request) (*Answer, error) {
	limits := c.Limits.orDefault()
	ctx, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	u := urls.Literal(in.URL, in.Method)
	in.Method = u.Method
	var uses []urls.Use
	for {
		pinned, err := c.judged(ctx, u)
		if err != nil {
			return nil, err
		}
		u = pinned.use
		uses = append(uses, u)
		answer, err := c.ask(ctx, in, pinned, limits.Body)
		if err != nil {
			return nil, err
		}
		location := answer.Header.Get("Location")
		if !isRedirect(answer.Status) || location == "" {
			answer.Uses = uses
			return answer, nil
		}
		if u.Hop >= limits.Redirects {
			return nil, &Refused{u, fmt.Errorf("it has more than %d redirects", limits.Redirects)}
		}
		u, in = redirected(u, in, location, answer.Status)
	}
}

// ask sends one request to a server that was judged. Of a redirect only the header is
// read.
func (c *Client) ask(ctx context.Context, in Request, at pinned, limit int64) (*Answer, error) {
	req, err := http.NewRequestWithContext(ctx, in.Method, at.use.URL, bytes.NewReader(in.Body))
	if err != nil {
		return nil, &Refused{at.use, errors.New("it cannot be sent as it is")} // the error would show the URL
	}
	if in.Header != nil {
		req.Header = in.Header.Clone()
	}
	t := &http.Transport{
		DialContext: c.dial(at), TLSClientConfig: c.TLS, DisableKeepAlives: true,
		TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
	res, err := t.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", place(at.use), err)
	}
	defer res.Body.Close()
	answer := &Answer{Status: res.StatusCode, Header: res.Header}
	if isRedirect(res.StatusCode) && res.Header.Get("Location") != "" {
		return answer, nil
	}
	answer.Body, err = io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", place(at.use), err)
	}
	if int64(len(answer.Body)) > limit {
		return nil, fmt.Errorf("fetch %s: the answer is longer than %d bytes", place(at.use), limit)
	}
	return answer, nil
}
