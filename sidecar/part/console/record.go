package console

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

const (
	fixedBytes   = 2 << 10   // of a request or a reply without its texts, estimated
	bareBytes    = 2 << 20   // of the replies of one request without words
	maxReplies   = 64        // of one request; a run may have many
	maxGivenName = 256       // of a name that a caller gives, in bytes
	maxWhy       = 4 << 10   // of a reason
	maxOffered   = 256 << 10 // of a list of tools
)

// Asking identifies the sender and the kind of a request.
type Asking struct {
	ID, Model, Session, Client, Agent, Channel, Run string
	Arms                                            []string // EXPERIMENT/ARM
	Rules                                           string   // version
	Stream, Responses                               bool
}

// detached returns a copy that keeps no request in memory.
func (a Asking) detached() Asking {
	for _, text := range []*string{&a.ID, &a.Model, &a.Session, &a.Client, &a.Agent, &a.Channel, &a.Run} {
		*text = strings.Clone(scan.Head(*text, maxGivenName))
	}
	return a
}

// Turn is one request and its progress.
type Turn struct {
	Asking
	Rev     uint64 // of the store, when it last changed
	Began   time.Time
	Done    bool
	Took    time.Duration
	Status  int    // of the answer
	Why     string // it is an error; empty: it is none
	Account turn.Account
	Replies []Reply // of the model server, in order
	Omitted int     // so many replies more were too many to keep
}

// Reply is a choice of a reply of the model server, and its reading.
type Reply struct {
	At             time.Time
	Server, Style  string
	Profile        string
	IDs            []string // under which its calls left
	Reading        parse.Reading
	Words          bool // what follows was kept
	Whole          parse.Delta
	Thought        []byte // reasoning as JSON, not decoded
	Finish         string
	User           string // as conditions see it
	Workspace      string
	Intact, Asked  bool // see parse.Facts, and for the next
	Formatted      bool
	Offered        []tools.Tool
	OfferedUnknown bool // they were too many to keep

	rules string // names the rule set
}

// Record records a request in progress. It is the watcher of its turns.
type Record struct {
	store *Store
	turn  Turn // under the lock of the store, as is what follows
	bytes int64
	gone  bool  // it was dropped to make room
	most  int64 // maximal bytes of its replies' words; 0: none are kept
}

// Asked records the run, and nothing of the request.
func (r *Record) Asked(_ *openai.Request, run string) {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	if r.turn.Run != run {
		r.turn.Run = run
		r.store.changed(r)
	}
}

// Listens reports whether words of replies are wanted.
func (r *Record) Listens() bool { return r.most > 0 }

// Replied records a reply. It copies what may change after the turn.
func (r *Record) Replied(h *turn.Reply) {
	reply := Reply{At: r.store.Now(), Server: h.Server, Style: h.Style, Profile: h.Profile,
		IDs: slices.Clone(h.IDs), Reading: *h.Reading}
	size := int64(fixedBytes)
	reply.Reading.Calls = slices.Clone(h.Reading.Calls)
	for i := range reply.Reading.Calls {
		c := &reply.Reading.Calls[i]
		c.Arguments = bytes.Clone(c.Arguments)
		size += int64(len(c.Arguments)) + 200
	}
	size += int64(200 * (len(h.Reading.Steps) + len(h.Reading.Candidates)))
	if r.most > 0 {
		reply.User, reply.Workspace, reply.Finish = h.Facts.User, h.Workspace, h.Finish
		reply.Intact, reply.Asked, reply.Formatted = h.Facts.Intact, h.Facts.Asked, h.Facts.Formatted
		reply.Words, reply.Whole, reply.Thought = !h.Lost, h.Whole, h.Thought
		offered, bytes := r.store.offered.Copy(h.Tools, maxOffered)
		reply.Offered, reply.OfferedUnknown = offered, bytes > maxOffered
		size += int64(len(h.Whole.Content) + len(h.Whole.Reasoning) + len(h.Thought) +
			len(h.Reading.Content) +
			len(h.Reading.Reasoning) + len(h.Facts.User))
		for _, c := range h.Whole.Calls {
			size += int64(len(c.Arguments)) + 100
		}
	} else {
		reply.dropWords()
	}
	s := r.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.gone {
		return
	}
	if len(r.turn.Replies) >= maxReplies {
		r.turn.Omitted++
		return
	}
	if s.bounds.Words == 0 || r.bytes+size > max(r.most, bareBytes) {
		reply.dropWords()
		size = fixedBytes
	}
	reply.rules = s.keep(h.Set)
	r.turn.Replies = append(r.turn.Replies, reply)
	s.grow(r, size)
	s.changed(r)
}

// dropWords removes the words from a request. Viewers have their own copies.
func (r *Record) dropWords() {
	t := &r.turn
	t.Replies = slices.Clone(t.Replies)
	for i := range t.Replies {
		t.Replies[i].dropWords()
	}
	t.dropWords()
	by := int64(fixedBytes*(1+len(t.Replies))) - r.bytes
	r.bytes, r.store.bytes = r.bytes+by, r.store.bytes+by
}

// dropWords removes fields that may quote the model or a server.
func (t *Turn) dropWords() {
	t.Why, t.Account.Notice = "", ""
	t.Account.Faults = slices.Clone(t.Account.Faults)
	for i := range t.Account.Faults {
		t.Account.Faults[i].Tool, t.Account.Faults[i].Why = "", ""
	}
}

// dropWords removes the words of the model and of the user.
func (r *Reply) dropWords() {
	r.Words, r.Whole, r.Thought, r.User, r.Workspace, r.Offered = false, parse.Delta{}, nil, "", "", nil
	r.Reading.Content, r.Reading.Reasoning = "", ""
	r.Reading.Calls = slices.Clone(r.Reading.Calls)
	dropWords(&r.Reading)
}

// dropWords removes the words of the model from a reading.
func dropWords(r *parse.Reading) {
	for i := range r.Calls {
		c := &r.Calls[i]
		c.Arguments, c.Repairs = nil, slices.Clone(c.Repairs)
		for k := range c.Repairs {
			c.Repairs[k].From, c.Repairs[k].To = "", ""
		}
	}
	r.Refused = slices.Clone(r.Refused)
	for i := range r.Refused {
		r.Refused[i] = tools.Refusal{Code: r.Refused[i].Code} // its name and reason may quote the model
	}
	r.Steps, r.Candidates = nil, nil
}

// Ended records the result of the request.
func (r *Record) Ended(o *turn.Outcome) {
	s := r.store
	s.mu.Lock()
	defer s.mu.Unlock()
	t, now := &r.turn, s.Now()
	t.Done, t.Took, t.Account, t.Status, t.Why = true, now.Sub(t.Began), o.Account, o.Status,
		strings.Clone(scan.Head(o.Why, maxWhy))
	t.Run = cmp.Or(o.Account.Run, t.Run)
	if r.most == 0 || s.bounds.Words == 0 {
		t.dropWords()
	}
	s.minutes.count(now, t)
	s.changed(r)
}
