// Package replicas keeps what several sidecars behind one address must share in a server of the Redis
// protocol: Valkey or Redis. No other package speaks to it. Its questions end within a bounded time, a
// server that is away costs a request nothing, and all values are sealed. It decides nothing: callers know
// what a missing value means.
package replicas

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// Config configures a Store. URL, Replica, Now, Metrics and Log must be set.
type Config struct {
	URL      string // redis://HOST:PORT/DB, rediss:// for TLS, unix:///PATH
	User     string
	Password string
	CA       string // file of certificates for the server's authority; empty: those of the system
	Prefix   string // of all keys; empty: gptoss
	// Secret is known to the replicas and not to the server; empty: values can be read and changed there.
	Secret   string
	Wait     time.Duration // longest wait for an answer; 0: DefaultWait
	Patience time.Duration // where no request waits; 0: some seconds
	Replica  string        // id of this one
	Now      func() time.Time
	Metrics  *telemetry.Metrics
	Log      *slog.Logger
}

// DefaultWait is the longest wait of a request for the server.
const DefaultWait = 50 * time.Millisecond

// patience is for questions without a waiting request; long ones get manyTimes as much.
const (
	patience  = 2 * time.Second
	manyTimes = 5
)

// Store is the shared server as this replica sees it. It is safe for concurrent use.
type Store struct {
	Config
	process string // id of this process among those of the replica
	seal    seal
	client  *redis.Client
	writes  writeQueue
	open    state.CircuitBounds

	mu      sync.Mutex
	health  state.Circuit
	away    bool
	since   time.Time // start of the current or last absence
	refuses bool      // it rejects what it gets
	foreign bool      // it holds values that cannot be opened here
	clock   clock
	peers   []Peer
}

// Open connects to nothing yet: the server may come later. The error is about the settings.
func Open(c Config) (*Store, error) {
	o, err := options(&c)
	if err != nil {
		return nil, err
	}
	redis.SetLogger(silent{}) // what it would say, the log says once
	s := &Store{Config: c, process: c.Replica + "." + rand.Text(), seal: newSeal(c.Secret),
		client: redis.NewClient(o), writes: newWriteQueue(),
		open: state.CircuitBounds{Failures: 3, Open: time.Second}}
	s.Metrics.SharedUp.WithLabelValues().Set(1)
	return s, nil
}

// silent is the library's log, since the log says once what it would.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// options returns the library's options.
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

// connections bounds those to the server.
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

// Run sends pending writes, exchanges peers and watches a server that is away, until ctx ends. rules
// returns the version in force.
func (s *Store) Run(ctx context.Context, rules func() string) {
	var all sync.WaitGroup
	all.Go(func() { s.sendWrites(ctx) })
	all.Go(func() { s.watchServer(ctx) })
	all.Go(func() { s.exchangePeers(ctx, rules) })
	all.Wait()
}

// Close sends what is left and closes the connections. Run must have ended.
func (s *Store) Close() error {
	s.flush()
	if err := s.client.Close(); err != nil {
		return fmt.Errorf("close the shared store: %w", err)
	}
	return nil
}

// ErrAway means that the server cannot be asked.
var ErrAway = errors.New("the server that replicas share cannot be asked")

// Kinds of questions, for metrics.
const (
	askTexts     = "texts"
	askApprovals = "approvals"
	askLeft      = "left"
	askRates     = "rates"
	askCounts    = "counts"
	askReplicas  = "replicas"
	askWrites    = "writes"
)

// Outcomes, for metrics.
const (
	answered = "ok"
	failed   = "failed"
	skipped  = "skipped" // the server was known to be away
)

// ask asks the server within a time, if it is reachable. A missing value is no error.
func (s *Store) ask(ctx context.Context, what string, most time.Duration,
	f func(context.Context) error) error {
	pass, ok := s.enter(false)
	if !ok {
		s.Metrics.Shared.WithLabelValues(what, skipped).Inc()
		return ErrAway
	}
	return s.askWith(ctx, pass, what, most, f)
}

func (s *Store) askWith(ctx context.Context, pass state.CircuitPass, what string, most time.Duration,
	f func(context.Context) error) error {
	bounded, done := context.WithTimeout(ctx, most)
	defer done()
	err := f(bounded)
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	if err != nil && ctx.Err() != nil { // the caller has left
		s.mu.Lock()
		defer s.mu.Unlock()
		s.health.Cancel(pass)
		return err
	}
	s.record(pass, err)
	outcome := answered
	if err != nil {
		outcome = failed
	}
	s.Metrics.Shared.WithLabelValues(what, outcome).Inc()
	return err
}

// enter admits questions while the server is reachable, and a trial when it may be back.
func (s *Store) enter(trial bool) (state.CircuitPass, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.Now(); trial || s.health.State(now, s.open) == state.CircuitClosed {
		return s.health.Enter(now, s.open)
	}
	return state.CircuitPass{}, false
}

// record records the outcome of a question and logs once that the server is away or back.
func (s *Store) record(pass state.CircuitPass, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	refused := err != nil && refusedByServer(err)
	if err == nil || refused {
		s.health.Succeeded(pass)
	} else {
		s.health.Failed(pass, now, s.open)
	}
	away := s.health.State(now, s.open) != state.CircuitClosed
	switch {
	case away && !s.away:
		s.Log.Warn("the server that replicas share is away: each goes by what it knows itself, and what a person allows passes nowhere until it is back",
			"event", "shared_lost", "detail", logText(err))
		s.since = now
		s.Metrics.SharedUp.WithLabelValues().Set(0)
	case !away && s.away:
		s.Log.Info("the server that replicas share is back", "event", "shared_back",
			"after", now.Sub(s.since).Round(time.Millisecond).String())
		s.Metrics.SharedUp.WithLabelValues().Set(1)
	case refused && !s.refuses:
		s.Log.Warn("the server that replicas share does not do what it is told", "event", "shared_refuses",
			"detail", logText(err))
	}
	s.away, s.refuses = away, refused || s.refuses && err != nil
}

// refusedByServer reports whether the server is reachable and rejects what it gets.
func refusedByServer(err error) bool {
	var reply redis.Error
	if !errors.As(err, &reply) {
		return false
	}
	if strings.HasPrefix(reply.Error(), "ERR AUTH") {
		return false
	}
	for _, code := range []string{"OOM ", "READONLY ", "MISCONF ", "NOPERM ", "ERR ", "WRONGTYPE "} {
		if strings.HasPrefix(reply.Error(), code) {
			return true
		}
	}
	return false
}

// logText returns an error for the log, as a server may say anything.
func logText(err error) string {
	return scan.Head(strings.ToValidUTF8(err.Error(), "?"), 200)
}

// watchServer checks from time to time whether a server that was away is back.
func (s *Store) watchServer(ctx context.Context) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s.Up() {
			continue
		}
		if pass, ok := s.enter(true); ok {
			// told there
			_ = s.askWith(ctx, pass, askReplicas, s.Patience,
				func(ctx context.Context) error { return s.client.Ping(ctx).Err() })
		}
	}
}

// Up reports whether the server is reachable, as far as is known.
func (s *Store) Up() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.away
}

// seal protects values in the server from being read, forged or moved to another key by others who can
// write there. Its zero value is unusable.
type seal struct{ aead cipher.AEAD }

// sealVersion begins every value. A later format begins with another one, and each version leaves unknown
// values alone.
const sealVersion = "1"

var errForeign = errors.New("the value was not written by a replica with the same secret and version")

func newSeal(secret string) seal {
	// never fails for 32 bytes
	key, _ := hkdf.Key(sha256.New, []byte(secret), nil, "gpt-oss-executor shared 1", 32)
	block, _ := aes.NewCipher(key)
	aead, _ := cipher.NewGCMWithRandomNonce(block)
	return seal{aead}
}

// close seals a value for a place.
func (s seal) close(place string, text []byte) string {
	return sealVersion + string(s.aead.Seal(nil, nil, text, []byte(place)))
}

// open opens the value of a place.
func (s seal) open(place, value string) ([]byte, error) {
	rest, ok := strings.CutPrefix(value, sealVersion)
	if !ok {
		return nil, errForeign
	}
	text, err := s.aead.Open(nil, nil, []byte(rest), []byte(place))
	if err != nil {
		return nil, errForeign
	}
	return text, nil
}

// openValue is open, and logs once that there are unreadable values.
func (s *Store) openValue(place, value string) ([]byte, bool) {
	text, err := s.seal.open(place, value)
	if err == nil {
		return text, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.foreign {
		s.foreign = true
		s.Log.Warn("the server that replicas share holds what cannot be read here: another version of this program wrote it, or a replica with another admin_token",
			"event", "shared_foreign", "key", place)
	}
	return nil, false
}

// key returns a key of the server. It contains only a hash of its subject: a session may name a person, for
// example.
func (s *Store) key(kind, about string) string {
	if about == "" {
		return s.Prefix + ":" + kind
	}
	sum := sha256.Sum256([]byte(about))
	return s.Prefix + ":" + kind + ":" + hex.EncodeToString(sum[:16])
}
