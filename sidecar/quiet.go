package sidecar

import (
	"sync"
	"time"
)

// quiet lets one line of a kind into the log each minute.
type quiet struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// maxQuiet is how many kinds are remembered; beyond, all of them are forgotten.
const maxQuiet = 4096

func (q *quiet) allow(kind string, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if last, known := q.last[kind]; known && now.Sub(last) < time.Minute {
		return false
	}
	if q.last == nil || len(q.last) >= maxQuiet {
		q.last = make(map[string]time.Time)
	}
	q.last[kind] = now
	return true
}
