package lab

import (
	"github.com/jgavinray/gpt-oss-executor/sidecar/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Listens says that the words of replies are wanted: a shadow reads them, or they are recorded.
func (s *Seat) Listens() bool { return s.recording() != nil || s.shadowed() }

// shadowed reports whether shadows read the replies.
func (s *Seat) shadowed() bool {
	x := s.base.Experiments.List
	for _, p := range s.places {
		for i := range x {
			if x[i].ID == p.of.ID && x[i].Shadow {
				return true
			}
		}
	}
	return false
}

// Heard counts the calls of a reply, records it, and has shadows read it.
func (s *Seat) Heard(h *turn.Heard) {
	s.calls(h)
	s.record(h)
	if s.shadowed() && !h.Lost {
		s.shadow(h)
	}
}

// maxKinds is how many different calls of a session are remembered.
const maxKinds = 256

// calls counts calls.
func (s *Seat) calls(h *turn.Heard) {
	l, r := s.lab, h.Reading
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
		s.rate(experiment.Repeated, did.calls[k] > 1)
		s.rate(experiment.Loop, did.calls[k] > 2)
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
		at, _ := l.calls.Use(s.who.Session + " " + id)
		*at = waiting{s.places}
	}
}

// tried counts a call that was tried.
func (s *Seat) tried(valid, fits, denied bool) {
	s.rate(experiment.CallValid, valid)
	s.rate(experiment.ArgsValid, fits)
	s.rate(experiment.Denied, denied)
}
