package turn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// Stream reads events up to the end mark, within the limits of bytes. Where the stream ends without the mark,
// a choice that has not finished is cut. The error is one of the body, of its form, or *ErrorInside.
func (r *Reader) Stream(body io.Reader, maxEvent, maxTotal int) (err error) {
	events, ended := openai.NewEventReader(body, maxEvent, maxTotal), false
	defer events.Close()
	for !ended && err == nil {
		events.Wait()
		ended, err = r.arrived(events)
	}
	return err
}

// arrived reads the events that are there, and whether the stream has ended with them.
func (r *Reader) arrived(events *openai.EventReader) (ended bool, err error) {
	for more := true; more; {
		data, err := events.Next()
		switch {
		case err == nil && openai.IsDone(data):
			return true, nil
		case err != nil && r.finished(): // whatever breaks behind it, the reply was whole
			return true, nil
		case errors.Is(err, io.EOF):
			return true, r.unmarked()
		case err != nil:
			return true, bounded(err)
		case events.Fails():
			return true, &ErrorInside{bytes.Clone(data)}
		}
		more = events.Buffered()
		if err := r.Event(data, events.Raw(), more); err != nil {
			return true, err
		}
	}
	return false, nil
}

// bounded says of a limit of ours which one it is.
func bounded(err error) error {
	var limit *openai.LimitError
	if !errors.As(err, &limit) {
		return err
	}
	name := "size.line"
	if limit.What == "stream" {
		name = "size.reply"
	}
	return fmt.Errorf("%w, which is %s of limits.yaml", err, name)
}

// finished says that all choices that have begun have ended.
func (r *Reader) finished() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.choices) > 0 && !slices.ContainsFunc(r.choices, func(c *choice) bool { return !c.ended })
}

// errEnded says that a stream has ended in good order, and its reply has not.
var errEnded = errors.New("the stream ended before the reply did")

// errHidden says that the server hid an error.
var errHidden = errors.New("it ended the reply with a blank event, as Ollama does for a call that it cannot read")

// unmarked notes that the stream has ended without its end mark. The error says that the server hid one: the
// chat completions of Ollama read its own error as an event in which nothing stands.
func (r *Reader) unmarked() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.torn = true
	if r.blank {
		return errHidden
	}
	return nil
}
