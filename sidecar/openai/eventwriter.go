package openai

import (
	"net/http"
	"time"
)

// EventWriter answers with server-sent events. It is for one goroutine at a time. The first
// write sends the headers. Only Flush and Last make sure that the bytes leave. After Last
// every call does nothing.
type EventWriter struct {
	// WriteTimeout is how long the caller may take no bytes before a write
	// fails; 0 is for ever. Set it before the first write.
	WriteTimeout time.Duration

	w        http.ResponseWriter
	ctl      *http.ResponseController
	started  bool // the status is set
	flushed  bool // the head may have left
	ended    bool
	deadline time.Time // that writes have now
}

// NewEventWriter writes to w. Nothing is sent yet.
func NewEventWriter(w http.ResponseWriter) EventWriter {
	return EventWriter{w: w, ctl: http.NewResponseController(w)}
}

// Started reports whether the headers are gone: a status can no longer be set.
func (s *EventWriter) Started() bool {
	return s.started
}

// Head sets a header of the answer, where these are not gone; an empty value sets none.
func (s *EventWriter) Head(name, value string) {
	if value != "" && !s.started {
		s.w.Header().Set(name, value)
	}
}

// Raw writes one whole event as it is, final empty line included.
func (s *EventWriter) Raw(event []byte) error {
	if s.ended {
		return nil
	}
	s.begin()
	_, err := s.w.Write(event)
	return err
}

// Flush sends what has been written.
func (s *EventWriter) Flush() error {
	if s.ended {
		return nil
	}
	return s.flush()
}

// Last writes the event that ends the stream.
func (s *EventWriter) Last(event []byte) error {
	if s.ended {
		return nil
	}
	err := s.Raw(event)
	if err == nil {
		err = s.flush()
	}
	s.ended = true
	return err
}

// flush sends what has been written. The first time net/http writes the head, which takes
// more stack than all the rest of a stream: elsewhere, so that its goroutine, which may live
// for minutes, does not grow for it.
func (s *EventWriter) flush() error {
	s.begin()
	if s.flushed {
		return s.ctl.Flush()
	}
	s.flushed = true
	done := make(chan error)
	go func() { done <- s.ctl.Flush() }()
	return <-done
}

// begin sends the headers once, and moves the write deadline on when a quarter
// of it has passed: setting it for every event would cost more than the event.
func (s *EventWriter) begin() {
	if s.WriteTimeout > 0 {
		if now := time.Now(); s.deadline.Sub(now) < s.WriteTimeout*3/4 {
			s.deadline = now.Add(s.WriteTimeout)
			_ = s.ctl.SetWriteDeadline(s.deadline) // a writer without deadlines has none to move
		}
	}
	if s.started {
		return
	}
	s.started = true
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // nginx would hold the events back
	s.w.WriteHeader(http.StatusOK)
}
