// Package decisions is the log of what the policy decided: one JSON record a line, each
// bound to the one before by a hash, so that an operator who kept one hash elsewhere can show a
// change of what was written. It decides nothing, and never keeps a secret in clear.
package decisions

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
)

// Record is one line of a log. It holds one of Decision, Answer, Connection, Start, Gap and
// Removed, or the signature of an earlier version of this program.
type Record struct {
	Seq        uint64          `json:"seq"` // 1, 2, 3 …, over all segments
	Time       time.Time       `json:"time"`
	Prev       Sum             `json:"prev"` // Hash of the record before; zero of the first
	Decision   *Decision       `json:"decision,omitempty"`
	Answer     *Answer         `json:"answer,omitempty"`
	Connection *Connection     `json:"connection,omitempty"`
	Start      *Start          `json:"start,omitempty"`
	Gap        *Gap            `json:"gap,omitempty"`
	Removed    *Checkpoint     `json:"removed,omitempty"`
	Signature  json.RawMessage `json:"checkpoint,omitempty"` // not checked any more
	Hash       Sum             `json:"-"`                    // it ends the line
}

// Outcome is what became of a call.
type Outcome string

// The outcomes.
const (
	Passed   Outcome = "left"     // the caller got it
	Refused  Outcome = "refused"  // the caller did not; the model was told
	Asked    Outcome = "asked"    // the caller got it with the wish that a person is asked
	Confined Outcome = "confined" // the caller got it in the wrapper that confines it

	Connected Outcome = "connected" // a running command got its connection
)

// Decision is what was decided about one call. Texts and arguments are given in clear
// and written with their secrets masked.
type Decision struct {
	Call     string `json:"call,omitempty"` // ids, as far as they are known
	Request  string `json:"request,omitempty"`
	Approval string `json:"approval,omitempty"` // that a person was asked for
	Grant    string `json:"grant,omitempty"`    // why it let more calls pass: task, session, hour
	Session  string `json:"session,omitempty"`
	Client   string `json:"client,omitempty"` // the program, by its file in rules/agents
	Agent    string `json:"agent,omitempty"`
	Channel  string `json:"channel,omitempty"`
	Model    string `json:"model,omitempty"`
	// as the gateway named it, with other folders of the agent; nil: as paths.yaml has it
	Workspace []string `json:"workspace,omitempty"`
	// where the gateway's tools work; empty: as paths.yaml has it
	Cwd         string  `json:"cwd,omitempty"`
	Run         bool    `json:"run,omitempty"`         // it was a call of a run
	Interactive bool    `json:"interactive,omitempty"` // a person could answer a question
	Tool        string  `json:"tool"`
	Class       string  `json:"class,omitempty"`
	Strategy    string  `json:"strategy,omitempty"`
	Confidence  float64 `json:"confidence,omitempty"`
	// a text where they are no JSON object, or too long
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Masked    int             `json:"masked,omitempty"` // secrets in Arguments
	// length of arguments that were too long to keep
	Bytes    int              `json:"bytes,omitempty"`
	Effect   policy.Effect    `json:"effect"`
	Enforced bool             `json:"enforced"`
	Outcome  Outcome          `json:"outcome"`
	Rule     string           `json:"rule,omitempty"` // empty: the default
	Place    string           `json:"place,omitempty"`
	Why      string           `json:"why,omitempty"`
	Instead  string           `json:"instead,omitempty"`
	Findings []policy.Finding `json:"findings,omitempty"` // of dry runs
	Rules    string           `json:"rules,omitempty"`    // version of the rules
	Arms     []string         `json:"arms,omitempty"`     // of experiments, EXPERIMENT/ARM each
	Took     time.Duration    `json:"took_ns,omitempty"`
}

// Answer is what a person said of a call that waited for an approval.
type Answer struct {
	ID    string `json:"id"`    // of the approval
	State string `json:"state"` // allowed, granted, denied, or expired: a grant that a person has ended
	By    string `json:"by,omitempty"`
	Note  string `json:"note,omitempty"`
	// of one that covers more calls: for what, until when, and which reasons to ask
	For    string          `json:"for,omitempty"`
	Until  time.Time       `json:"until,omitzero"`
	Covers []policy.Reason `json:"covers,omitempty"`
}

// Connection is what was decided about the first connection of a running command to a
// server, and, in a record at the end of the command, how many there were.
type Connection struct {
	Ticket  string `json:"ticket"` // of the command
	Session string `json:"session,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Tool    string `json:"tool"`
	// HOST:PORT; what could not be read, as it was written
	Server   string           `json:"server"`
	Address  string           `json:"address,omitempty"` // that the host has
	Method   string           `json:"method"`            // CONNECT where nothing more is seen
	Effect   policy.Effect    `json:"effect"`
	Outcome  Outcome          `json:"outcome"` // Connected or Refused
	Rule     string           `json:"rule,omitempty"`
	Place    string           `json:"place,omitempty"`
	Why      string           `json:"why,omitempty"`
	Findings []policy.Finding `json:"findings,omitempty"` // of dry runs
	Rules    string           `json:"rules,omitempty"`    // version of the rules that decided
	Judged   string           `json:"judged,omitempty"`   // version under which the command was let through
	Times    int              `json:"times,omitempty"`    // at the end: how often
	Sent     int64            `json:"sent,omitempty"`     // bytes, at the end
	Received int64            `json:"received,omitempty"`
}

// Start says that a process began to write.
type Start struct {
	AfterHead uint64 `json:"after_head,omitempty"` // records that the process before left after the head
	Aside     *Aside `json:"aside,omitempty"`
}

// Aside says where the end of a log went that a crash left unfinished.
type Aside struct {
	File  string `json:"file"`
	Bytes int    `json:"bytes"`
	Sum   Sum    `json:"sha256"`
}

// Gap says that records are missing which could not be written.
type Gap struct {
	Lost uint64 `json:"lost"`
	Why  string `json:"why"`
}

// Checkpoint names a place in the chain: the record Seq, whose hash is Hash, and with
// it everything before.
type Checkpoint struct {
	Seq  uint64 `json:"seq"`
	Hash Sum    `json:"hash"`
}

// ParseCheckpoint reads SEQ:HASH, as decisions head prints it.
func ParseCheckpoint(s string) (at Checkpoint, err error) {
	seq, hash, _ := strings.Cut(strings.TrimSpace(s), ":")
	if at.Seq, err = strconv.ParseUint(seq, 10, 64); err == nil {
		err = at.Hash.UnmarshalText([]byte(hash))
	}
	if err != nil {
		err = fmt.Errorf("--head: %q is not SEQ:HASH, as decisions head prints it", s)
	}
	return at, err
}
