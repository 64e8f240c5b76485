package replicas

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// Part is the part replicas.
type Part struct{}

// Settings are about the server that replicas share.
type Settings struct {
	Shared         string `rule:"shared" is:"URL" doc:"A Valkey or Redis server in which several replicas keep what they must know together: redis://HOST:PORT/DB, rediss:// for TLS, or unix:///PATH. If left out, each server is by itself." eg:"rediss://valkey.example.com:6379"`
	SharedUser     string `rule:"shared_user" is:"NAME" only:"serve" with:"shared" doc:"The user at that server. If left out, it is the default one." eg:"gptoss"`
	SharedPassword string `rule:"shared_password" is:"secret" only:"serve" with:"shared" doc:"The password at that server." eg:"file:/run/secrets/shared_password"`
	SharedCA       string `rule:"shared_ca" is:"FILE" only:"serve" with:"shared" doc:"Certificates in PEM that may sign that of the server. If left out, they are those of the system." eg:"/etc/gpt-oss-executor/valkey_ca.pem"`
	SharedPrefix   string `rule:"shared_prefix" is:"TEXT" only:"serve" with:"shared" doc:"What all keys begin with. Replicas of one group have the same. If left out, it is gptoss." eg:"gptoss"`
	SharedWait     string `rule:"shared_wait" is:"TIME" only:"serve" with:"shared" doc:"How long a request waits for that server, at most 1s. If left out, it is 50ms." eg:"50ms"`
}

// Name returns the name of the part.
func (Part) Name() string { return "replicas" }

// Settings returns the defaults.
func (Part) Settings() any { return &Settings{} }

// Commands returns none.
func (Part) Commands(cli.Env) []*cobra.Command { return nil }

// Open opens the shared server, if there is one. stop writes what is left for the others.
func (Part) Open(_ context.Context, c *service.Core) (stop func() error, err error) {
	s := config.Of[Settings](&c.Settings)
	if c.Offline || s.Shared == "" {
		return nil, nil
	}
	to, err := ConfigOf(*s, c.Settings.AdminToken)
	if err != nil {
		return nil, err
	}
	id, err := replicaID(c.Settings.State, c.Log)
	if err != nil {
		return nil, err
	}
	to.Replica, to.Now, to.Metrics, to.Log = id, time.Now, c.Metrics, c.Log
	store, err := Open(to)
	if err != nil {
		return nil, err
	}
	c.Shared, c.Now = sharedAt(s), store.Clock // the same for all of them
	c.Elsewhere, c.Board, c.Guard.PeerRates = store.Texts(), store.Board(), store.Rates()
	if c.Settings.AdminToken != "" { // it seals departures: others cannot forge one
		c.Guard.Departures = store.Departures()
	}
	c.Offer(store.Counts())
	c.Replicas = store.replicas
	c.Log.Info("replicas share a server", "event", "shared_ready", "server", c.Shared, "replica", id)
	c.Background(func(ctx context.Context) { store.Run(ctx, func() string { return c.Rules.Set().Version }) })
	return store.Close, nil
}

// sharedAt returns where the shared server is.
func sharedAt(s *Settings) string {
	u, err := url.Parse(s.Shared)
	if err != nil || u.Host == "" && u.Path == "" {
		return ""
	}
	return cmp.Or(u.Host, u.Path)
}

// replicas returns those that share the server.
func (s *Store) replicas() sidecar.Replicas {
	out := sidecar.Replicas{This: s.Replica, Away: !s.Up(), List: []sidecar.Replica{}}
	for _, p := range s.Peers() {
		out.List = append(out.List, sidecar.Replica(p))
	}
	return out
}

// replicaFile holds the id of a replica in its state folder, next to its counts.
const replicaFile = "replica"

var replicaText = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// replicaID returns the id by which other replicas know this one.
func replicaID(state string, log *slog.Logger) (string, error) {
	id := rand.Text()
	if state == "" {
		return id, nil
	}
	file := filepath.Join(state, replicaFile)
	doc, err := os.ReadFile(file)
	switch text := strings.TrimSpace(string(doc)); {
	case err == nil && replicaText.MatchString(text):
		return text, nil
	case err == nil:
		to, err := atomicfile.Aside(file, time.Now())
		if err != nil {
			return "", err
		}
		log.Error("the id of this replica is damaged, so it has a new one: others still count what it told them under the old one", "event", "replica_damaged", "file", file, "kept_as", to, "replica", id)
	case !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("read the id of this replica: %w", err)
	}
	if err = os.MkdirAll(state, 0o700); err == nil {
		err = atomicfile.Write(file, []byte(id+"\n"), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("keep the id of this replica: %w", err)
	}
	return id, nil
}

// ErrForeign means that the server holds values sealed with another secret or by another version.
var ErrForeign = errors.New("it holds what cannot be opened here: another version of this program wrote it, or a replica with another admin_token")

// ConfigOf returns the configuration from the settings. Replica, Now, Metrics and Log are left to others.
func ConfigOf(s Settings, adminToken string) (Config, error) {
	c := Config{URL: s.Shared, User: s.SharedUser, Password: s.SharedPassword, CA: s.SharedCA,
		Prefix: s.SharedPrefix, Secret: adminToken}
	if c.Secret == "" {
		c.Secret = s.SharedPassword
	}
	if s.SharedWait != "" {
		var err error
		if c.Wait, err = time.ParseDuration(s.SharedWait); err != nil || c.Wait <= 0 {
			return c, fmt.Errorf("shared_wait is a time such as 50ms, not %q", s.SharedWait)
		}
	}
	return c, nil
}

// Probe checks whether the server stores what replicas keep there, and measures its answer. It removes what
// it writes. The error may be ErrForeign.
func Probe(ctx context.Context, c Config) (took time.Duration, err error) {
	c.Replica, c.Now, c.Metrics, c.Log = rand.Text(), time.Now, telemetry.New(), slog.New(slog.DiscardHandler)
	s, err := Open(c)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	s.Wait = s.Patience // no request waits: how slow it is, is what is asked
	ctx, done := context.WithTimeout(ctx, s.Patience)
	defer done()
	if err := s.client.Time(ctx).Err(); err != nil { // it connects, too
		return 0, err
	}
	key := s.key("probe", s.Replica)
	if err := s.client.Set(ctx, key, s.seal.close(key, []byte(s.Replica)), 10*time.Second).Err(); err != nil {
		return 0, err
	}
	began := time.Now()
	value, err := s.client.GetDel(ctx, key).Result()
	if err != nil {
		return 0, err
	}
	took = time.Since(began)
	if text, err := s.seal.open(key, value); err != nil || string(text) != s.Replica {
		return 0, errors.New("it does not give back what it was given")
	}
	if _, _, err := s.Board().Read(); err != nil {
		return 0, err
	}
	if s.foreign {
		return took, ErrForeign
	}
	return took, nil
}
