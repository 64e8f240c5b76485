package run

import (
	"sync"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
)

// news says which runs this process goes on with, and when one of them has changed.
type news struct {
	mu   sync.Mutex
	rev  uint64
	of   *recent.Map[uint64]
	open map[string]bool
}

// keptNews is for how many runs it is known when they last changed.
const keptNews = 256

func newNews() *news { return &news{of: recent.New[uint64](keptNews, nil), open: map[string]bool{}} }

// changed notes that a run has changed, and whether it goes on.
func (n *news) changed(id string, open bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rev++
	kept, _ := n.of.Use(id)
	*kept = n.rev
	if n.open[id] = open; !open {
		delete(n.open, id)
	}
}

// Rev is another number whenever a run has changed that this process goes on with: any, or the one of this
// id.
func (j *Journal) Rev(id string) uint64 {
	j.news.mu.Lock()
	defer j.news.mu.Unlock()
	if id == "" {
		return j.news.rev
	}
	if rev := j.news.of.Get(id); rev != nil {
		return *rev
	}
	return 0
}

// GoesOn reports whether this process goes on with a run. One without an end with which no process
// goes on was broken off.
func (j *Journal) GoesOn(id string) bool {
	j.news.mu.Lock()
	defer j.news.mu.Unlock()
	return j.news.open[id]
}
