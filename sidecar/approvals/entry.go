package approvals

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// State is the state of a question.
type State string

// A question is pending until it is allowed, granted, denied or expired. An allowed call is used once,
// or expires. A grant covers more calls until it expires.
const (
	Pending State = "pending"
	Allowed State = "allowed"
	Granted State = "granted"
	Denied  State = "denied"
	Used    State = "used"
	Expired State = "expired"
	// Unknown means that the board cannot be reached: no person is asked, and nothing passes.
	Unknown State = "unknown"
)

// Entry is a question and its answer.
type Entry struct {
	ID     string    `json:"id"` // empty: a person cannot be asked, or not now
	State  State     `json:"state"`
	Call   Call      `json:"call"`
	Reason Reason    `json:"reason"`
	Asked  time.Time `json:"asked"` // first time
	Times  int       `json:"times"` // how often callers that are still there have sent the call
	Until  time.Time `json:"until"` // end of the state; a final one is forgotten then
	By     string    `json:"by,omitempty"`
	Note   string    `json:"note,omitempty"` // why it was denied or expired
	For    Span      `json:"for,omitempty"`  // of Granted: what it covers
	Task   string    `json:"task,omitempty"` // of Granted; empty: none yet

	binding Binding
}

// expires reports whether a state ends by expiring.
func (e *Entry) expires() bool { return e.State == Pending || e.State == Allowed || e.State == Granted }

// open reports whether an answer may still come or is valid.
func (e *Entry) open() bool {
	return e.State == Pending || e.State == Allowed || e.State == Denied
}

// ErrUnknown means that no entry has this id, or not any more.
var ErrUnknown = errors.New("there is no such approval")

// ErrAway means that the board cannot be reached.
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
