// Package replicas keeps what several sidecars behind one address must know together, in a server
// of the Redis protocol: Valkey or Redis. It is the only room that speaks to it. What it asks ends
// within a bounded time, a server that is away costs a request nothing, and what leaves for it is
// sealed. It decides nothing: what is missing, and what follows from that, its callers say.
package replicas

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// Config is where the server is, and how it is spoken to. URL, Replica, Now, Metrics and Log must
// be set.
type Config struct {
	URL      string // redis://HOST:PORT/DB, rediss:// for TLS, unix:///PATH
	User     string
	Password string
	CA       string // a file of certificates that may sign the server's; empty: those of the system
	Prefix   string // of all keys; empty: gptoss
	// that the replicas know and the server does not; empty: what is kept can be read and changed there
	Secret   string
	Wait     time.Duration // for an answer, at most; 0: DefaultWait
	Patience time.Duration // where no request waits; 0: some seconds
	Replica  string        // the id of this one
	Now      func() time.Time
	Metrics  *telemetry.Metrics
	Log      *slog.Logger
}

// DefaultWait is how long a request waits for the server, at most.
const DefaultWait = 50 * time.Millisecond

// patience is for what no request waits for, and manyTimes it for what is long.
const (
	patience  = 2 * time.Second
	manyTimes = 5
)

// Store is that server, as this replica sees it. It is safe for concurrent use.
type Store struct {
	Config
	process string // this one, of those that the replica had and has
	seal    seal
	client  *redis.Client
	behind  behind
	open    state.CircuitBounds

	mu      sync.Mutex
	health  state.Circuit
	away    bool
	since   time.Time // it is or was away
	refuses bool      // it answers, and does not do what it is told
	foreign bool      // values of it cannot be opened here
	clock   clock
	peers   []Peer
}

// Open opens nothing yet: a server that is away at the start may come later. The error says what is
// wrong with the settings.
func Open(c Config) (*Store, error) {
	o, err := options(&c)
	if err != nil {
		return nil, err
	}
	redis.SetLogger(silent{}) // what it would say, the log says once
	s := &Store{Config: c, process: c.Replica + "." + rand.Text(), seal: newSeal(c.Secret),
		client: redis.NewClient(o), behind: newBehind(),
		open: state.CircuitBounds{Failures: 3, Open: time.Second}}
	s.Metrics.SharedUp.WithLabelValues().Set(1)
	return s, nil
}

// silent is the log of the library.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// options are those of the library.
func options(c *Config) (*redis.Options, error) {
	const how = "write redis://HOST:PORT, rediss://HOST:PORT for TLS, or unix:///PATH"
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Scheme != "redis" && u.Scheme != "rediss" && u.Scheme != "unix":
		return nil, errors.New("shared is no address of a Valkey or Redis server; " + how)
	case u.User != nil:
		return nil, errors.New("shared holds a name or a password, which every user of this machine could read; put them into shared_user and shared_password")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("shared has something behind its address; " + how)
	case u.Scheme != "unix" && u.Hostname() == "":
		return nil, errors.New("shared names no host; " + how)
	}
	o, err := redis.ParseURL(c.URL)
	if err != nil {
		return nil, fmt.Errorf("shared: %w; %s", err, how)
	}
	if c.CA != "" {
		if o.TLSConfig == nil {
			return nil, errors.New("shared_ca is of use with rediss:// only")
		}
		if o.TLSConfig.RootCAs, err = authorities(c.CA); err != nil {
			return nil, err
		}
	}
	if o.TLSConfig != nil {
		o.TLSConfig.MinVersion = tls.VersionTLS12
	}
	if c.Wait < 0 || c.Wait > time.Second {
		return nil, fmt.Errorf("shared_wait is %s; requests wait for it, so it is 1s at most", c.Wait)
	}
	c.Wait, c.Patience, c.Prefix = cmp.Or(c.Wait, DefaultWait), cmp.Or(c.Patience, patience), cmp.Or(c.Prefix,
		"gptoss")
	o.Username, o.Password, o.Protocol = c.User, c.Password, 2
	// a dial goes on when its request has left
	o.MaxRetries, o.DialerRetries, o.DialTimeout = -1, 1, c.Patience
	o.ContextTimeoutEnabled, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = true, manyTimes*c.Patience,
		manyTimes*c.Patience, c.Patience
	o.Dialer = dialer(o.TLSConfig, c.Patience)
	o.PoolSize, o.DisableIdentity = connections, true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return o, nil
}

// connections are those to the server, at most.
const connections = 16

func authorities(file string) (*x509.CertPool, error) {
	doc, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read shared_ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(doc) {
		return nil, fmt.Errorf("read shared_ca: %s holds no certificate in PEM", file)
	}
	return pool, nil
}

// Run writes what is to be written, tells the other replicas of this one, and finds out whether a
// server that was away is back, until ctx ends. rules is the version in force.
func (s *Store) Run(ctx context.Context, rules func() string) {
	var all sync.WaitGroup
	all.Go(func() { s.write(ctx) })
	all.Go(func() { s.look(ctx) })
	all.Go(func() { s.meet(ctx, rules) })
	all.Wait()
}

// Close writes what is left, and drops the connections. Run must have ended.
func (s *Store) Close() error {
	s.flush()
	if err := s.client.Close(); err != nil {
		return fmt.Errorf("close the shared store: %w", err)
	}
	return nil
}
