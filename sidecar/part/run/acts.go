package run

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// acts is what a run has done. Its calls may go on at the same time.
type acts struct {
	turns int // replies of the model

	mu    sync.Mutex
	known map[string]tools.Result // of the last reply, by the ids of its calls
	calls int
	ran   []string      // names of the tools, in order
	took  time.Duration // all of them together
	did   []string      // what may have changed something, in words
	edits []string      // ids of rules that changed what the model read
	times map[[sha256.Size]byte]int
	same  int // how often the same call came with the same result, at most
}

// knows notes what a call came to: it is not run again.
func (a *acts) knows(id string, res tools.Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[string]tools.Result{}
	}
	a.known[id] = res
}

// result is what a call came to, where that is known.
func (a *acts) result(id string) (res tools.Result, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	res, known = a.known[id]
	return res, known
}

// counts notes that a call ran.
func (a *acts) counts(tool string, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ran, a.took = append(a.ran, tool), a.took+took
}

// edited notes the rules that changed a result.
func (a *acts) edited(rules []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.edits = append(a.edits, rules...)
}

// add notes a call that may have changed something.
func (a *acts) add(what string, r *tools.Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.did = append(a.did, what+how(r))
}

// seen counts a call with its result, and gives how often it came. One that is in doubt has no
// result.
func (a *acts) seen(call string, res *tools.Result) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls++
	if res.Doubt {
		return 0
	}
	if a.times == nil {
		a.times = map[[sha256.Size]byte]int{}
	}
	key := sha256.Sum256([]byte(call + "\x00" + res.Text))
	a.times[key]++
	a.same = max(a.same, a.times[key])
	return a.times[key]
}

// maxListed is how many of them a user is told.
const maxListed = 20

// list is what was done, for the user.
func (a *acts) list() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.did) == 0 {
		return ""
	}
	from := max(0, len(a.did)-maxListed)
	var b strings.Builder
	b.WriteString("What was done:")
	if from > 0 {
		fmt.Fprintf(&b, "\n- %d more before", from)
	}
	for _, what := range a.did[from:] {
		b.WriteString("\n- " + what)
	}
	return b.String()
}
