package replicas

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// ErrForeign is that the server holds what was sealed with another secret, or by another version.
var ErrForeign = errors.New("it holds what cannot be opened here: another version of this program wrote it, or a replica with another admin_token")

// ConfigOf is what the settings say of the server, and what seals what is kept there. Replica,
// Now, Metrics and Log are for others to say.
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

// Probe finds out whether the server takes and gives what replicas keep there, and how long it takes to
// answer. What it writes it takes away again. The error may be ErrForeign.
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
