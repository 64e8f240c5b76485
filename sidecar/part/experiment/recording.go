package experiment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
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
		k.Outcome = Came{Turns: a.Turns, PromptTokens: a.Prompt, Tokens: a.Completion,
			First: milliseconds(a.First), All: milliseconds(took), Fault: scan.Head(fault, maxName)}
		s.tracker.Store.Put(r.captureRule, *k)
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
	s.tracker.Store.Put(r.captureRule, k)
}

// Listens reports whether the words of replies are needed, for a shadow or for recording.
func (s *Assignment) Listens() bool { return s.recording() != nil || len(s.shadows) > 0 }

// Replied counts the calls of a reply, records it, and queues it for shadows.
func (s *Assignment) Replied(h *turn.Reply) {
	s.calls(h)
	if !s.Listens() {
		return
	}
	h = own(h)
	s.record(h)
	if !h.Lost {
		s.shadow(h)
	}
}

// own returns a copy that outlives the turn, whose buffers are reused.
func own(h *turn.Reply) *turn.Reply {
	out, reading := *h, *h.Reading
	reading.Calls = slices.Clone(reading.Calls)
	for i := range reading.Calls {
		reading.Calls[i].Arguments = bytes.Clone(reading.Calls[i].Arguments)
	}
	out.Reading = &reading
	return &out
}

// maxKinds is how many different calls of a session are remembered.
const maxKinds = 256

// calls counts the calls of a reply.
func (s *Assignment) calls(h *turn.Reply) {
	l, r := s.tracker, h.Reading
	l.mu.Lock()
	defer l.mu.Unlock()
	did, _ := l.sessions.Use(s.who.Session)
	if did.calls == nil {
		did.calls = map[string]int{}
	}
	for i := range r.Calls {
		s.tried(true, true, false)
		if s.who.Session == "" {
			continue
		}
		k := key("", r.Calls[i].Key()) // arguments may be long
		if _, known := did.calls[k]; known || len(did.calls) < maxKinds {
			did.calls[k]++
		}
		s.rate(repeated, did.calls[k] > 1)
		s.rate(Loop, did.calls[k] > 2)
	}
	for i := range r.Refused {
		switch code := r.Refused[i].Code; code {
		case tools.Answer:
		case tools.Denied:
			s.tried(true, true, true)
		default:
			s.tried(false, code != tools.BadJSON && code != tools.BadSchema, false)
		}
	}
	for _, id := range h.IDs {
		at, _ := l.calls.Use(s.call(id))
		*at = s.places
	}
}

// call returns a key of a call and its caller: some servers repeat ids, and some callers name no session.
func (s *Assignment) call(id string) string {
	return key(strings.Join([]string{s.who.Lasting(), s.who.User, s.who.Agent}, "\x00"), id)
}

// tried counts an attempted call.
func (s *Assignment) tried(valid, fits, denied bool) {
	s.rate(callValid, valid)
	s.rate(argsValid, fits)
	s.rate(Denied, denied)
}
