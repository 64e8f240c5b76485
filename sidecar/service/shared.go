package service

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
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/replicas"
)

// share opens what the replicas share, where there is such a server. It runs until ctx ends.
func (r *running) share(ctx context.Context) error {
	s := r.Settings
	if s.Shared == "" {
		return nil
	}
	c, err := replicas.ConfigOf(s)
	if err != nil {
		return err
	}
	id, err := replicaID(s.State, r.Log)
	if err != nil {
		return err
	}
	c.Replica, c.Now, c.Metrics, c.Log = id, time.Now, r.Metrics, r.Log
	if r.shared, err = replicas.Open(c); err != nil {
		return err
	}
	r.Log.Info("replicas share a server", "event", "shared_ready", "server", r.sharedAt(), "replica", id)
	r.background.Go(func() { r.shared.Run(ctx, func() string { return r.Rules.Set().Version }) })
	return nil
}

// sharedAt is where the server is that replicas share; "": there is none.
func (r *running) sharedAt() string {
	u, err := url.Parse(r.Settings.Shared)
	if err != nil || u.Host == "" && u.Path == "" {
		return ""
	}
	return cmp.Or(u.Host, u.Path)
}

// now is the time for what is counted, asked and tried: where replicas share it, the same for all of them.
func (r *running) now() time.Time {
	if r.shared != nil {
		return r.shared.Clock()
	}
	return time.Now()
}

// replicas are those that share the server.
func (r *running) replicas() sidecar.Replicas {
	out := sidecar.Replicas{This: r.shared.Replica, Away: !r.shared.Up(), List: []sidecar.Replica{}}
	for _, p := range r.shared.Peers() {
		out.List = append(out.List, sidecar.Replica(p))
	}
	return out
}

// unshare writes what is left for the other replicas.
func (r *running) unshare() error {
	if r.shared == nil {
		return nil
	}
	return r.shared.Close()
}

// replicaFile keeps the id of a replica in its state folder, where its counts go on, too.
const replicaFile = "replica"

var replicaText = lazyregexp.New(`^[A-Z2-7]{26}$`)

// replicaID is the name by which other replicas know this one.
func replicaID(state string, log *slog.Logger) (string, error) {
	id := rand.Text()
	if state == "" {
		return id, nil
	}
	file := filepath.Join(state, replicaFile)
	doc, err := os.ReadFile(file)
	switch text := strings.TrimSpace(string(doc)); {
	case err == nil && replicaText().MatchString(text):
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
