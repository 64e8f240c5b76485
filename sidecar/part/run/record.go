package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

// JournalRecord is one line of a run's file. Time and exactly one other member are set.
type JournalRecord struct {
	Time   time.Time     `json:"time"`
	Begin  *BeginRecord  `json:"begin,omitempty"`  // always first
	Turn   *TurnRecord   `json:"turn,omitempty"`   // a reply of the model
	Call   *CallRecord   `json:"call,omitempty"`   // a call that is about to run
	Result *ResultRecord `json:"result,omitempty"` // of a call that ran or was refused
	Resume *ResumeRecord `json:"resume,omitempty"` // another process goes on
	End    *EndRecord    `json:"end,omitempty"`    // always last
}

// BeginRecord is what a run was asked for.
type BeginRecord struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"` // id that the caller asked for
	Session string          `json:"session,omitempty"`
	Agent   string          `json:"agent,omitempty"`
	Channel string          `json:"channel,omitempty"`
	Rules   string          `json:"rules"`   // version
	Sum     string          `json:"sum"`     // hash of caller and request
	Request json.RawMessage `json:"request"` // as the caller sent it, secrets masked
}

// TurnRecord is a reply of the model.
type TurnRecord struct {
	N         int             `json:"n"`
	Content   string          `json:"content,omitempty"`
	Reasoning string          `json:"reasoning,omitempty"`
	Calls     []RequestedCall `json:"calls,omitempty"`
	Prompt    int             `json:"prompt_tokens,omitempty"`
	Answer    int             `json:"completion_tokens,omitempty"`
	Squeezed  bool            `json:"squeezed,omitempty"` // the request was too long and was shortened
	Finish    string          `json:"finish,omitempty"`   // finish_reason
	Done      bool            `json:"done,omitempty"`     // it says in its own form that the work is done
	Over      bool            `json:"over,omitempty"`     // it ends the run, and the work is not finished
	Why       string          `json:"why,omitempty"`      // why, if the reply does not say it
}

// RequestedCall is a call of a reply. CallRecord and ResultRecord have the same id.
type RequestedCall struct {
	ID        string `json:"id"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
}

// CallRecord is a call that was allowed. From here on it may have taken effect.
type CallRecord struct {
	ID      string `json:"id"`
	Tool    string `json:"tool"`
	Does    string `json:"does"`    // description for people
	Changes bool   `json:"changes"` // its tool does more than read
}

// ResultRecord is the result of a call.
type ResultRecord struct {
	ID      string `json:"id"`
	Text    string `json:"text"` // as the model reads it
	Failed  bool   `json:"failed,omitempty"`
	Refused bool   `json:"refused,omitempty"` // it did not run
	Doubt   bool   `json:"doubt,omitempty"`   // it may have taken effect
	Took    int64  `json:"took_ms"`
}

// ResumeRecord says that a broken run goes on.
type ResumeRecord struct {
	Rules string   `json:"rules"`
	Doubt []string `json:"doubt,omitempty"` // ids of the calls that were about to run
	By    string   `json:"by,omitempty"`    // the person who wanted it
}

// The states of a run.
const (
	Answered   = "answered"   // the model has answered
	Unfinished = "unfinished" // the rules have ended the run
	Failed     = "failed"     // the caller got an error
	Departed   = "left"       // the caller left
	running    = "open"       // active, or broken off
)

// EndRecord is how a run ended.
type EndRecord struct {
	Status string `json:"status"`
	Finish string `json:"finish,omitempty"` // finish_reason of the answer
	Text   string `json:"text,omitempty"`   // the answer, or the error
}

// line returns the record as JSON on one line, secrets masked.
func (r *JournalRecord) line() ([]byte, error) {
	masked, err := r.masked()
	if err != nil {
		return nil, fmt.Errorf("mask a record: %w", err)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(masked); err != nil {
		return nil, fmt.Errorf("write a record: %w", err)
	}
	return out.Bytes(), nil
}

// masked returns a copy without secrets in what the caller, the model and tools wrote.
func (r JournalRecord) masked() (JournalRecord, error) {
	var err error
	if r.Begin != nil {
		b := *r.Begin
		maskAll(&b.Model, &b.Session, &b.Agent, &b.Channel)
		b.Request, _, err = secrets.MaskJSON(b.Request)
		r.Begin = &b
	}
	if r.Turn != nil {
		t := *r.Turn
		maskAll(&t.Content, &t.Reasoning, &t.Why)
		t.Calls = slices.Clone(t.Calls)
		for i := range t.Calls {
			maskAll(&t.Calls[i].Tool, &t.Calls[i].Arguments)
		}
		r.Turn = &t
	}
	if r.Call != nil {
		c := *r.Call
		maskAll(&c.Tool, &c.Does)
		r.Call = &c
	}
	if r.Result != nil {
		o := *r.Result
		maskAll(&o.Text)
		r.Result = &o
	}
	if r.End != nil {
		e := *r.End
		maskAll(&e.Text)
		r.End = &e
	}
	return r, err
}

func maskAll(texts ...*string) {
	for _, text := range texts {
		*text, _ = secrets.Mask(*text)
	}
}
