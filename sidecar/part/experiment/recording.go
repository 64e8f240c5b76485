package experiment

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

// recording returns the rule that records this request, or nil.
func (s *Assignment) recording() *Recording {
	r := Of(s.base).Capture
	if r == nil || s.tracker.Store == nil || !r.Drawn(s.id) {
		return nil
	}
	return r
}

// note keeps the parts of a request that are recorded.
func (s *Assignment) note(req *openai.Request) {
	r := s.recording()
	if r == nil {
		return
	}
	if folders := s.base.Named(req.Instructed).Folders; len(folders) > 0 {
		s.workspace = folders[0]
	}
	if !r.Messages {
		return
	}
	s.user = req.LastUser
	if at, ok := req.Field("messages"); ok {
		s.messages = json.RawMessage(at.Of(req.Body))
	}
}

// seen returns the environment of the condition of capture.
func (s *Assignment) seen(h *turn.Reply, differs bool) Captured {
	r := h.Reading
	repaired := 0
	for i := range r.Calls {
		repaired += len(guard.Repairs(&r.Calls[i]))
	}
	return Captured{
		Asking: s.who, Arms: s.Set.Arms,
		Calls: len(r.Calls), Refused: len(r.Refused), Repaired: repaired, Empty: r.Empty(),
		Cut:     r.Cut != "" || r.Finish == "length",
		Differs: differs, Text: h.Whole.Content[:min(len(h.Whole.Content), maxSeen)],
	}
}

// takes reports whether the rule records a reply. A failing condition counts as false.
func (s *Assignment) takes(r *Recording, h *turn.Reply, differs bool) bool {
	yes, err := r.Takes(s.seen(h, differs))
	if err != nil && s.tracker.wrong.failed("", s.base.Version, err, s.tracker.Now()) {
		s.tracker.Log.Warn("the condition of capture failed, so a reply is not recorded",
			"event", "capture_failed", "detail", err.Error())
	}
	return yes && err == nil
}

// reply builds the reply to record, without its outcome.
func (s *Assignment) reply(h *turn.Reply, n int) captureReply {
	id := s.id
	if n > 0 {
		id = fmt.Sprintf("%s.%d", id, n+1)
	}
	return captureReply{
		At: s.tracker.Now(), ID: id, Model: s.who.Model, Server: h.Server, Session: s.who.Session,
		Rules: h.Set.Version, Style: h.Style, Profile: h.Profile,
		Agent: s.who.Agent, Channel: s.who.Channel, Workspace: s.workspace, Caller: s.who.User, User: s.user,
		Arms: h.Set.Arms, Tools: h.Tools, Messages: s.messages, Content: h.Whole.Content,
		Reasoning: turn.ReasoningOf(&h.Whole, h.Thought),
		Calls:     SaidOf(h.Whole.Calls), Finish: h.Finish, Reading: readingOf(h.Reading),
		Lost: h.Lost,
	}
}

// record keeps a reply until the outcome of its request is known.
func (s *Assignment) record(h *turn.Reply) {
	if r := s.recording(); r != nil && s.takes(r, h, false) {
		s.kept = append(s.kept, s.reply(h, s.replies))
	}
	s.replies++
}

// put records the kept replies.
func (s *Assignment) put(a *turn.Account, took time.Duration, fault string) {
	r := Of(s.base).Capture
	for i := range s.kept {
		k := &s.kept[i]
		k.Outcome = captureOutcome{Turns: a.Turns, PromptTokens: a.Prompt, Tokens: a.Completion,
			First: a.First, All: took, Fault: fault}
		s.tracker.Store.Put(ruleOf(r), *k)
	}
	s.kept = nil
}

// differs records the differing reading of a shadow, if the rule records the reply because of it.
func (s *Assignment) differs(h *turn.Reply, arm string, other *parse.Reading) {
	r := s.recording()
	if r == nil || s.takes(r, h, false) || !s.takes(r, h, true) {
		return
	}
	k := s.reply(h, 0)
	k.Shadow = &shadowOutcome{Arm: arm, Reading: readingOf(other)}
	s.tracker.Store.Put(ruleOf(r), k)
}

func ruleOf(r *Recording) captureRule {
	return captureRule{Messages: r.Messages, Bytes: r.Bytes, Age: r.Age, Mask: r.Mask}
}
