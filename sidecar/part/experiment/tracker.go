package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// Limits of what is remembered.
const (
	maxUnits    = 20_000 // of one experiment
	maxCalls    = 20_000 // without results so far
	maxRequests = 10_000 // that feedback may name
	maxSessions = 4_096
)

// TrackerConfig configures a Tracker. Metrics and Log must be set.
type TrackerConfig struct {
	Path    string // of the file of counts; empty: memory only
	Now     func() time.Time
	Store   *captureStore // of recorded replies; nil: no recording
	Metrics *telemetry.Metrics
	Log     *slog.Logger
	// closed when the previous process, which writes the same file, has ended; nil: none
	Before <-chan struct{}
	Peers  peerCounts // counts of other replicas; nil: none
}

// Tracker assigns requests to arms and counts the outcomes. It is safe for concurrent use.
type Tracker struct {
	TrackerConfig
	shadows chan job
	waits   atomic.Int64 // bytes in the queue of shadows
	crashed time.Time    // when the log last reported a crashed shadow
	ended   sync.WaitGroup
	wrong   troubles

	mu        sync.Mutex
	dirty     bool
	before    *File          // counts of the previous process, to which this one adds; nil: it has ended
	peers     []*File        // of other replicas, as last read
	arms      map[string]int // of units there, by trial and unit
	published bool           // the local counts are published
	unshared  bool           // the log has reported a failure
	past      []*trial       // ended or changed trials; the newest last
	trials    map[string]*trial
	calls     *recent.Map[[]place] // without results so far
	requests  *recent.Map[rated]
	sessions  *recent.Map[habits]
}

// place is a unit in its arm.
type place struct {
	of   *trial
	unit string
	arm  int
}

// rated is a request with the last score of its answer.
type rated struct {
	places []place
	last   Unit // empty: nothing was
}

// habits are the recent calls of a session.
type habits struct {
	calls   map[string]int // number per hash of tool and arguments
	counted int            // messages that were examined for a correction
}

// OpenTracker reads earlier counts. A damaged file is moved aside; a file that cannot be read is an error.
func OpenTracker(c TrackerConfig) (*Tracker, error) {
	l := &Tracker{TrackerConfig: c, trials: map[string]*trial{}, calls: recent.New[[]place](maxCalls, nil),
		requests: recent.New[rated](maxRequests, nil), sessions: recent.New[habits](maxSessions, nil),
		shadows: make(chan job, maxJobs)}
	if err := l.load(); err != nil {
		return nil, fmt.Errorf("read what experiments have counted: %w", err)
	}
	return l, nil
}

// Assignment is a request with its arms. It watches its turns.
type Assignment struct {
	Set *ruleset.Set // that serves the request

	tracker *Tracker
	base    *ruleset.Set
	id      string
	who     Asking
	places  []place
	shadows []shadowed

	user, workspace string // to be recorded
	messages        json.RawMessage
	replies         int // replies so far
	kept            []captureReply
}

// Watch assigns a request, as a turn.Watch.
func (tr *Tracker) Watch(_ context.Context, r *turn.Request) turn.Watcher {
	if r.Body == nil || Of(r.Set).Idle() { // usual: it costs nothing
		return nil
	}
	user := ""
	if at, ok := r.Body.Field("user"); ok {
		user, _ = openai.Text(r.Body.Body, at)
	}
	assignment := tr.Assign(r.Set, r.ID, Asking{Model: r.Who.Model, Agent: r.Who.Agent,
		Session: r.Who.Session, Channel: r.Who.Channel, User: user, Tools: len(r.Body.Tools)})
	if assignment == nil {
		return nil
	}
	r.Set = assignment.Set
	return assignment
}

// Assign assigns a request to arms. set is the one in force. It returns nil if no experiment and no
// recording concerns the request.
func (tr *Tracker) Assign(set *ruleset.Set, id string, who Asking) *Assignment {
	x := Of(set)
	if x.Idle() {
		return nil
	}
	s := &Assignment{Set: set, tracker: tr, base: set, id: id, who: who}
	records := s.recording() != nil
	tr.mu.Lock()
	defer tr.mu.Unlock()
	var arms []string
	for i := range x.List {
		e := &x.List[i]
		if e.Status != Running {
			continue
		}
		t := tr.trial(set, e)
		if t.Stopped != "" {
			continue
		}
		unit, err := e.UnitOf(who)
		if err != nil && tr.wrong.failed(e.ID, set.Version, err, tr.Now()) {
			tr.Log.Warn("the condition of an experiment failed, so a request is not in it",
				"event", "experiment_failed", "experiment", e.ID, "detail", err.Error())
		}
		if unit == "" {
			continue
		}
		if arm, is := e.Pinned(unit); is {
			if !e.Shadow {
				arms = append(arms, e.ID+"/"+e.Arms[arm].Name)
			}
			continue
		}
		p := t.assign(e, unit, tr.arms)
		if s.places = append(s.places, p); e.Shadow {
			s.shadows = append(s.shadows, shadowed{t, e})
		} else {
			arms = append(arms, e.ID+"/"+e.Arms[p.arm].Name)
		}
	}
	if len(s.places)+len(arms) == 0 && !records {
		return nil
	}
	s.Set = set.Under(arms)
	if id != "" && len(s.places) > 0 {
		at, _ := tr.requests.Use(id)
		*at = rated{places: s.places}
	}
	tr.dirty, tr.published = true, false
	return s
}

// key identifies a unit without revealing its name.
func key(experiment, unit string) string {
	sum := sha256.Sum256([]byte(experiment + "\x00" + unit))
	return hex.EncodeToString(sum[:8])
}

// Arms returns the arms for the header of the answer; empty for none.
func (s *Assignment) Arms() string {
	if s == nil {
		return ""
	}
	return strings.Join(s.Set.Arms, " ")
}

// Ended counts the outcome of a request. An excuse instead of an answer is a failure, whatever its status.
// Requests whose caller left, or that were refused before the model was asked, do not count.
func (s *Assignment) Ended(o *turn.Outcome) {
	a := &o.Account
	if o.Status == upstream.StatusClosed || a.Model == "" {
		return
	}
	fault, failed := "", o.Status != http.StatusOK
	if failed {
		fault = "failed"
	}
	s.put(a, o.Took, fault)
	failed = failed || a.Excused()
	s.tracker.mu.Lock()
	defer s.tracker.mu.Unlock()
	s.rate(Failed, failed)
	if failed {
		return
	}
	s.count(Turns, float64(a.Turns))
	s.count(Tokens, float64(a.Completion))
	s.count(answer, float64(o.Took.Milliseconds()))
	if a.First > 0 {
		s.count(First, float64(a.First.Milliseconds()))
	}
	s.rate(askedAgain, a.Again > 0)
	s.rate(Empty, a.Empty)
	if a.Offered {
		s.rate(callFound, a.Calls > 0)
	}
}

// rate counts one event of a measure.
func (s *Assignment) rate(measure string, yes bool) { s.count(measure, number(yes)) }

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func (s *Assignment) count(measure string, x float64) {
	for _, p := range s.places {
		p.count(measure, x)
	}
	s.tracker.dirty, s.tracker.published = true, false
}

// Feedback counts the caller's score of an answer: 0 is bad, 1 is good. A later score replaces an earlier
// one.
func (tr *Tracker) Feedback(request string, score float64) error {
	if !(score >= 0 && score <= 1) {
		return errors.New("score must be a number from 0 to 1")
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	r := tr.requests.Get(request)
	if r == nil {
		return errUnknown
	}
	now := Unit{X: score, N: 1}
	for _, p := range r.places {
		p.add(liked, now.X-r.last.X, now.N-r.last.N)
	}
	r.last = now
	tr.dirty, tr.published = true, false
	return nil
}

// errUnknown is the error for a request that was in no arm, or too long ago.
var errUnknown = errors.New("no request of this id is known: it was in no experiment, or too long ago")

// Asked examines the results of earlier calls, and what a user says about an earlier answer.
func (s *Assignment) Asked(req *openai.Request, _ string) {
	x := Of(s.base)
	s.note(req)
	s.tracker.mu.Lock()
	defer s.tracker.mu.Unlock()
	answered := true // the message before the user's is an answer
	for i := range req.Messages {
		m := &req.Messages[i]
		if m.Role != "tool" {
			continue
		}
		if call := s.tracker.calls.Get(s.call(m.CallID)); call != nil {
			ok := !x.Failed(req.Text(m, maxResult))
			for _, p := range *call {
				p.count(toolOK, number(ok))
			}
			s.tracker.calls.Drop(s.call(m.CallID))
		}
	}
	for i := len(req.Messages) - 1; i >= 0 && req.Messages[i].Role != "assistant"; i-- {
		answered = answered && req.Messages[i].Role == "user" && i > 0
	}
	if s.who.Session == "" {
		return // the earlier messages are unknown
	}
	h, _ := s.tracker.sessions.Use(s.who.Session)
	if answered && len(req.Messages) > max(h.counted, 1) && req.LastUser != "" {
		s.rate(Corrected, x.Corrected(req.LastUser))
		h.counted = len(req.Messages)
	}
}

// maxResult is how much of a result is examined, in bytes: failures are short.
const maxResult = 4 << 10

// While one process takes over from another, the first still counts its open requests and alone writes the
// file. The second counts separately, adds the first one's file for decisions, and merges both when the
// first has ended.

// take continues from a file, and keeps what was counted meanwhile. l.mu is held, or no other goroutine has
// l yet.
func (tr *Tracker) take(f *File) {
	var past []*trial
	for _, s := range f.Past {
		past = append(past, loaded(s))
	}
	tr.past = append(past, tr.past...)
	for _, s := range f.Trials {
		switch now := tr.trials[s.ID]; {
		case now == nil:
			tr.trials[s.ID] = loaded(s)
		case !samePrint(now.Print, s.Print): // the rules have changed since
			tr.past = append(tr.past, loaded(s))
		default:
			now.join(loaded(s))
			now.Series, now.Step, now.Shares = s.Series, s.Step, s.Shares
		}
	}
	tr.past = slices.Delete(tr.past, 0, max(0, len(tr.past)-maxPast))
}

// inherit takes over the file once the previous process has ended.
func (tr *Tracker) inherit() {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.before == nil {
		return
	}
	select {
	case <-tr.Before:
	default:
		return
	}
	tr.look()
	tr.take(tr.before)
	tr.before, tr.peers, tr.arms = nil, nil, nil
	tr.dirty, tr.published = true, false
}

// look reads the counts of the previous process. l.mu is held.
func (tr *Tracker) look() {
	switch f, err := ReadCounts(tr.Path); {
	case err == nil:
		tr.before = f
	case !errors.Is(err, fs.ErrNotExist):
		tr.Log.Error("what the process before has counted at last is missing",
			"event", "experiments_not_saved", "detail", err.Error())
	}
}

// begun continues a trial of the previous process, with its stop and its adapted shares.
func (tr *Tracker) begun(t *trial) {
	if tr.before == nil {
		return
	}
	for _, s := range tr.before.Trials {
		if s.ID == t.ID && samePrint(s.Print, t.Print) {
			t.Began, t.Stopped, t.By, t.Ended, t.Shares = s.Began, s.Stopped, s.By, s.Ended, s.Shares
		}
	}
}
