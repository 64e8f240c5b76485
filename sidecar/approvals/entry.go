package approvals

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// State is how far a question is.
type State string

// The states. A question is pending until it is allowed, granted, denied or expired; what is
// allowed is used once, or expires. What is granted covers more calls, until it expires.
const (
	Pending State = "pending"
	Allowed State = "allowed"
	Granted State = "granted"
	Denied  State = "denied"
	Used    State = "used"
	Expired State = "expired"
	// the board of several replicas cannot be reached: no person is asked, and nothing passes
	Unknown State = "unknown"
)

// Entry is a question, and the answer as far as there is one.
type Entry struct {
	ID     string    `json:"id"` // empty where a person cannot be asked at all, or not now
	State  State     `json:"state"`
	Call   Call      `json:"call"`
	Reason Reason    `json:"reason"`
	Asked  time.Time `json:"asked"` // the first time
	Times  int       `json:"times"` // how often the model has sent the call, without those that are gone
	Until  time.Time `json:"until"` // the state ends then: pending and allowed expire, others are forgotten
	By     string    `json:"by,omitempty"`
	Note   string    `json:"note,omitempty"` // why it was denied, or expired
	For    Span      `json:"for,omitempty"`  // of Granted: what it covers beside this call
	Task   string    `json:"task,omitempty"` // for which it is; empty: for none yet

	binding Binding
}

// lasts reports whether a state ends by expiring.
func (e *Entry) lasts() bool { return e.State == Pending || e.State == Allowed || e.State == Granted }

// open reports whether an answer may still come, or holds.
func (e *Entry) open() bool {
	return e.State == Pending || e.State == Allowed || e.State == Denied
}

// ErrUnknown is for an id that is none, or of an entry that is forgotten.
var ErrUnknown = errors.New("there is no such approval")

// ErrAway is that the questions of several replicas cannot be reached.
var ErrAway = errors.New("approvals are kept where the replicas share them, and that cannot be reached now")

// AnsweredError says why an answer comes too late.
type AnsweredError struct{ Entry Entry }

func (e *AnsweredError) Error() string {
	switch e.Entry.State {
	case Allowed:
		return fmt.Sprintf("%s has been allowed already, by %s", e.Entry.ID, e.Entry.By)
	case Granted:
		return fmt.Sprintf("%s has been allowed for %s already, by %s", e.Entry.ID,
			e.Entry.For.Words(), e.Entry.By)
	case Denied:
		return strings.TrimSuffix(fmt.Sprintf("%s has been denied already, by %s: %s", e.Entry.ID, e.Entry.By,
			e.Entry.Note), ": ")
	case Used:
		return fmt.Sprintf("%s has been used already; %s had allowed it", e.Entry.ID, e.Entry.By)
	}
	return fmt.Sprintf("%s has expired: %s", e.Entry.ID, e.Entry.Note)
}
