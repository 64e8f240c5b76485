package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"
)

// poster delivers messages to one address.
type poster struct {
	Target
	client *http.Client

	until  context.Context // nothing is delivered after its end
	cut    context.CancelFunc
	ending atomic.Bool // the program ends: what cannot be delivered at once is lost
}

func newPoster(to Target) (*poster, error) {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 1,
		IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true}
	if to.Certificate != "" || to.ClientCert != "" {
		var err error
		if t.TLSClientConfig, err = tlsOf(to); err != nil {
			return nil, err
		}
	}
	// headers may hold a key
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	until, cut := context.WithCancel(context.Background())
	return &poster{Target: to, client: &http.Client{Transport: t, CheckRedirect: noRedirect}, until: until,
		cut: cut}, nil
}

func tlsOf(to Target) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if to.Certificate != "" {
		doc, err := os.ReadFile(to.Certificate)
		if err != nil {
			return nil, fmt.Errorf("read the certificate of the collector: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(doc) {
			return nil, fmt.Errorf("read the certificate of the collector: %s holds none in PEM",
				to.Certificate)
		}
	}
	if to.ClientCert != "" {
		own, err := tls.LoadX509KeyPair(to.ClientCert, to.ClientKey)
		if err != nil {
			return nil, fmt.Errorf("read the certificate for the collector: %w", err)
		}
		c.Certificates = []tls.Certificate{own}
	}
	return c, nil
}

// last says that the program ends, and until when: what is not delivered by then is lost.
func (p *poster) last(ctx context.Context) (close func()) {
	p.ending.Store(true)
	stop := context.AfterFunc(ctx, p.cut)
	return func() {
		stop()
		p.cut()
		p.client.CloseIdleConnections()
	}
}

// waits between attempts.
const (
	firstWait = 500 * time.Millisecond
	longWait  = 5 * time.Second
	maxAnswer = 64 << 10
)

// send delivers a message, and reads what the collector says of it. It tries again while the collector
// asks for that, or cannot be reached, within the time of one delivery.
func (p *poster) send(ctx context.Context, m, answer proto.Message) error {
	body, err := p.body(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	defer context.AfterFunc(p.until, cancel)()
	for wait := firstWait; ; wait = min(2*wait, longWait) {
		asked, err := p.once(ctx, body, answer)
		if err == nil || asked < 0 || ctx.Err() != nil || p.ending.Load() {
			return err
		}
		t := time.NewTimer(max(asked, wait/2+rand.N(wait/2)))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return err
		}
	}
}

func (p *poster) body(m proto.Message) ([]byte, error) {
	doc, err := proto.Marshal(m)
	if err != nil || !p.Gzip {
		return doc, err
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err = z.Write(doc)
	err = errors.Join(err, z.Close())
	return out.Bytes(), err
}

// protobuf is the form of what is sent. A collector, or what stands before it, may answer in another one.
const protobuf = "application/x-protobuf"

// once tries once. again is how long the collector wants to be left alone; below 0: another attempt
// would not help.
func (p *poster) once(ctx context.Context, body []byte,
	answer proto.Message) (again time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL, bytes.NewReader(body))
	if err != nil {
		return -1, bare(err)
	}
	req.Header.Set("Content-Type", protobuf)
	req.Header.Set("User-Agent", Service)
	if p.Gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	for _, h := range p.Headers {
		req.Header.Set(h.Name, h.Value)
	}
	res, err := p.client.Do(req)
	if err != nil {
		return 0, bare(err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case res.StatusCode/100 == 2:
		if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); err != nil ||
			kind != protobuf || proto.Unmarshal(said, answer) != nil {
			proto.Reset(answer) // it says nothing of what it has taken
		}
		return -1, nil
	case res.StatusCode == http.StatusTooManyRequests, res.StatusCode == http.StatusBadGateway,
		res.StatusCode == http.StatusServiceUnavailable, res.StatusCode == http.StatusGatewayTimeout:
		if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
			again = time.Duration(min(seconds, 3600)) * time.Second
		}
		return again, fmt.Errorf("the collector answers %s", res.Status)
	}
	return -1, fmt.Errorf("the collector answers %s", res.Status)
}

// bare is an error without the address, which may hold a password.
func bare(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// teller tells the operator that data is lost, and that it is not any more: a line a minute at most.
type teller struct {
	log *slog.Logger
	now func() time.Time

	mu   sync.Mutex
	lost map[string]int // by what it is, since the last line
	last time.Time      // of a line; zero: all is well
}

const quiet = time.Minute

// went notes what became of n things of a kind.
func (t *teller) went(what string, n int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err == nil && t.last.IsZero():
		return
	case err == nil:
		if _, failed := t.lost[what]; failed {
			t.log.Info("the collector takes data again", "event", "telemetry_back", "what", what,
				"lost", t.lost[what])
			delete(t.lost, what)
		}
		if len(t.lost) == 0 {
			t.last = time.Time{}
		}
		return
	}
	if t.lost == nil {
		t.lost = map[string]int{}
	}
	t.lost[what] += n
	if now := t.now(); t.last.IsZero() || now.Sub(t.last) >= quiet {
		t.last = now
		t.log.Warn("the collector has not taken data, which is lost", "event", "telemetry_lost", "what", what,
			"lost", t.lost[what], "detail", err.Error())
	}
}
