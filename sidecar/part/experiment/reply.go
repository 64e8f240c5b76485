package experiment

import (
	"bytes"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

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
