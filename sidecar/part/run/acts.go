package run

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// history counts and lists what a run has done. It is safe for concurrent use: calls may run in
// parallel.
type history struct {
	turns int // replies of the model

	mu         sync.Mutex
	results    map[string]tools.Result // results of the last reply's calls, by call id
	calls      int
	tools      []string      // names of the tools that ran, in order
	toolTime   time.Duration // total time of all calls
	changes    []string      // descriptions of calls that may have changed something
	editRules  []string      // ids of rules that changed what the model reads
	repeats    map[[sha256.Size]byte]int
	maxRepeats int // highest count of one call with one result
}

// setResult keeps the result of a call, so that it is not run again.
func (a *history) setResult(id string, res tools.Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.results == nil {
		a.results = map[string]tools.Result{}
	}
	a.results[id] = res
}

// result returns the result of a call, if it is known.
func (a *history) result(id string) (res tools.Result, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	res, known = a.results[id]
	return res, known
}

// countRun notes that a call ran.
func (a *history) countRun(tool string, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tools, a.toolTime = append(a.tools, tool), a.toolTime+took
}

func (a *history) addEdits(rules []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.editRules = append(a.editRules, rules...)
}

func (a *history) addChange(what string, r *tools.Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changes = append(a.changes, what+outcomeNote(r))
}

// countRepeat counts a call with its result and returns how often that pair came. A call in doubt has
// no result and counts as 0.
func (a *history) countRepeat(call string, res *tools.Result) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls++
	if res.Doubt {
		return 0
	}
	if a.repeats == nil {
		a.repeats = map[[sha256.Size]byte]int{}
	}
	key := sha256.Sum256([]byte(call + "\x00" + res.Text))
	a.repeats[key]++
	a.maxRepeats = max(a.maxRepeats, a.repeats[key])
	return a.repeats[key]
}

const maxListedChanges = 20

// summary lists for the user what was done; "" if nothing was changed.
func (a *history) summary() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.changes) == 0 {
		return ""
	}
	from := max(0, len(a.changes)-maxListedChanges)
	var b strings.Builder
	b.WriteString("What was done:")
	if from > 0 {
		fmt.Fprintf(&b, "\n- %d more before", from)
	}
	for _, what := range a.changes[from:] {
		b.WriteString("\n- " + what)
	}
	return b.String()
}
