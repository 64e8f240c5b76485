package admin

import (
	"net/http"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

const (
	maxMisses  = 10 // wrong tokens of an address within missTime
	missTime   = time.Minute
	maxMissers = 1024 // addresses that are remembered
)

// Misses are the wrong tokens that were shown, by address. They keep no right one out: others of its
// address could then lock its owner out. It is safe for concurrent use.
type Misses struct {
	now func() time.Time

	mu sync.Mutex
	by *recent.Map[misses]
}

// misses are those of an address.
type misses struct {
	since time.Time
	n     int
}

// NewMisses has seen none.
func NewMisses(now func() time.Time) *Misses {
	return &Misses{now: now, by: recent.New[misses](maxMissers, nil)}
}

// add counts one of an address, and gives how many there were lately.
func (m *Misses) add(address string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	of, _ := m.by.Use(address)
	if m.now().Sub(of.since) > missTime {
		*of = misses{since: m.now()}
	}
	of.n++
	return of.n
}

// Missed counts a wrong token, and reports whether its address has shown too many. The log says so once a
// minute.
func (a *API) Missed(r *http.Request) (tired bool) {
	n := a.Misses.add(web.Address(r))
	if n == maxMisses+1 {
		a.Log.Warn("an address shows one wrong token after another", "event", "tokens_guessed",
			"from", r.RemoteAddr, "path", r.URL.Path)
	}
	return n > maxMisses
}
