// Package decisions is the log of the policy's decisions: a JSON record per line, chained by hashes,
// so that an operator who keeps one hash elsewhere can prove a change. It decides nothing and never
// stores a secret in clear.
package decisions

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

// Record is one line of a log. It has one of Decision, Answer, Connection, Start, Gap and Removed, or
// the signature of an earlier version of this program.
type Record struct {
	Seq        uint64          `json:"seq"` // from 1, over all segments
	Time       time.Time       `json:"time"`
	Prev       Sum             `json:"prev"` // Hash of the record before; zero for the first
	Decision   *Decision       `json:"decision,omitempty"`
	Answer     *Answer         `json:"answer,omitempty"`
	Connection *Connection     `json:"connection,omitempty"`
	Start      *Start          `json:"start,omitempty"`
	Gap        *Gap            `json:"gap,omitempty"`
	Removed    *Checkpoint     `json:"removed,omitempty"`
	Signature  json.RawMessage `json:"checkpoint,omitempty"` // not checked any more
	Hash       Sum             `json:"-"`                    // last member of the line
}

// Outcome is what became of a call.
type Outcome string

// The outcomes.
const (
	Passed   Outcome = "left"     // the caller got it
	Refused  Outcome = "refused"  // the caller did not; the model was told
	Asked    Outcome = "asked"    // the caller got it, and the gateway must ask a person
	Confined Outcome = "confined" // the caller got it, wrapped to run confined

	Connected Outcome = "connected" // a running command got its connection
)

// Decision is a decision about one call. Texts and arguments are passed in clear and written with
// secrets masked.
type Decision struct {
	Call     string `json:"call,omitempty"` // ids, as far as known
	Request  string `json:"request,omitempty"`
	Approval string `json:"approval,omitempty"` // that a person was asked for
	Grant    string `json:"grant,omitempty"`    // span of the grant that let it pass: task, session, hour
	Session  string `json:"session,omitempty"`
	Client   string `json:"client,omitempty"` // file name in rules/agents
	Agent    string `json:"agent,omitempty"`
	Channel  string `json:"channel,omitempty"`
	Model    string `json:"model,omitempty"`
	// Workspace are the agent's folders, as the gateway named them; nil: those of paths.yaml.
	Workspace []string `json:"workspace,omitempty"`
	// Cwd is where the gateway's tools work; empty: as in paths.yaml.
	Cwd         string  `json:"cwd,omitempty"`
	Run         bool    `json:"run,omitempty"`         // of a run
	Interactive bool    `json:"interactive,omitempty"` // a person could answer a question
	Tool        string  `json:"tool"`
	Class       string  `json:"class,omitempty"`
	Strategy    string  `json:"strategy,omitempty"`
	Confidence  float64 `json:"confidence,omitempty"`
	// Arguments is a string if they are no JSON object, or too long.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Masked    int             `json:"masked,omitempty"` // secrets in Arguments
	// Bytes is the length of arguments that were too long to keep.
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

// Answer is a person's answer about a call that waited for an approval.
type Answer struct {
	ID    string `json:"id"`    // of the approval
	State string `json:"state"` // allowed, granted, denied, or expired: a grant that a person has ended
	By    string `json:"by,omitempty"`
	Note  string `json:"note,omitempty"`
	// For, Until and Covers describe an answer that covers more calls.
	For    string          `json:"for,omitempty"`
	Until  time.Time       `json:"until,omitzero"`
	Covers []policy.Reason `json:"covers,omitempty"`
}

// Connection is the decision about the first connection of a running command to a server, and, in a
// record at the end of the command, the totals.
type Connection struct {
	Ticket  string `json:"ticket"` // of the command
	Session string `json:"session,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Tool    string `json:"tool"`
	// Server is HOST:PORT, or the text if that is invalid.
	Server   string           `json:"server"`
	Address  string           `json:"address,omitempty"` // of the host
	Method   string           `json:"method"`            // CONNECT for a tunnel
	Effect   policy.Effect    `json:"effect"`
	Outcome  Outcome          `json:"outcome"` // Connected or Refused
	Rule     string           `json:"rule,omitempty"`
	Place    string           `json:"place,omitempty"`
	Why      string           `json:"why,omitempty"`
	Findings []policy.Finding `json:"findings,omitempty"` // of dry runs
	Rules    string           `json:"rules,omitempty"`    // version of the rules that decided
	Judged   string           `json:"judged,omitempty"`   // version of the rules that let the command pass
	Times    int              `json:"times,omitempty"`    // total, at the end
	Sent     int64            `json:"sent,omitempty"`     // total bytes, at the end
	Received int64            `json:"received,omitempty"`
}

// Start means that a process began to write.
type Start struct {
	AfterHead uint64 `json:"after_head,omitempty"` // records of the previous process after the head
	Aside     *Aside `json:"aside,omitempty"`
}

// Aside is the incomplete end of a log that was set aside after a crash.
type Aside struct {
	File  string `json:"file"`
	Bytes int    `json:"bytes"`
	Sum   Sum    `json:"sha256"`
}

// Gap means that records could not be written.
type Gap struct {
	Lost uint64 `json:"lost"`
	Why  string `json:"why"`
}

// Checkpoint identifies a record, and with it everything before.
type Checkpoint struct {
	Seq  uint64 `json:"seq"`
	Hash Sum    `json:"hash"`
}

// ParseCheckpoint reads SEQ:HASH, as printed by decisions head.
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

// How much of a call is kept, in bytes. A record stays far below maxLine, even if every byte is
// escaped.
const (
	maxArguments = 64 << 10
	maxText      = 4 << 10
	maxFindings  = 20
)

// masked returns the decision as it is written.
func (d Decision) masked() *Decision {
	if len(d.Arguments) > 0 {
		d.Bytes, d.Masked = 0, 0
		d.Arguments = d.maskArguments(d.Arguments)
	}
	maskTexts(&d.Tool, &d.Why, &d.Instead, &d.Call, &d.Request, &d.Session, &d.Agent, &d.Channel, &d.Model)
	d.Findings = maskedFindings(d.Findings)
	return &d
}

// masked returns the answer as it is written.
func (a Answer) masked() *Answer {
	maskTexts(&a.ID, &a.State, &a.By, &a.Note)
	a.Covers = slices.Clone(a.Covers)
	for i := range a.Covers {
		maskTexts(&a.Covers[i].Why, &a.Covers[i].Covers)
	}
	return &a
}

// masked returns the connection as it is written.
func (c Connection) masked() *Connection {
	maskTexts(&c.Ticket, &c.Session, &c.Agent, &c.Tool, &c.Server, &c.Method, &c.Why)
	c.Findings = maskedFindings(c.Findings)
	return &c
}

func maskTexts(texts ...*string) {
	for _, text := range texts {
		*text, _ = secrets.Mask(truncate(*text, maxText))
	}
}

func maskedFindings(list []policy.Finding) []policy.Finding {
	list = slices.Clone(list[:min(len(list), maxFindings)])
	for i := range list {
		maskTexts(&list[i].Why)
	}
	return list
}

// maskArguments keeps a JSON object as such, and anything else as a string.
func (d *Decision) maskArguments(args []byte) json.RawMessage {
	if len(args) <= maxArguments && utf8.Valid(args) && json.Valid(args) {
		if out, n, err := secrets.MaskJSON(args); err == nil && out[0] == '{' {
			d.Masked = n
			return out
		}
	}
	if len(args) > maxArguments {
		d.Bytes = len(args)
	}
	text, n := secrets.Mask(truncate(string(args), maxArguments))
	d.Masked = n
	out, err := json.Marshal(text)
	if err != nil {
		return nil // no text has one
	}
	return out
}

// truncate returns the beginning of a text, cut between characters.
func truncate(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(scan.Head(s, most), "\uFFFD") + "…"
}
