package admin

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"
)

// status is that of an answer; 0: there is none.
func status(err error) int {
	var said *Error
	if errors.As(err, &said) {
		return said.status
	}
	return 0
}

// One draft is tried for a person at a time, and few at once. What takes too long keeps its seat
// until it is done.
func TestDesk(t *testing.T) {
	d := NewDraftLimiter()
	ctx, stop := context.WithCancel(context.Background())
	go1, began := make(chan struct{}), make(chan struct{}, maxDrafts)
	done := make(chan error, maxDrafts)
	names := []string{"Ann", "Bob"}
	if len(names) != maxDrafts {
		t.Fatal("not as many as there are seats")
	}
	for _, name := range names {
		go func() {
			done <- d.Work(ctx, name, false, func() error { began <- struct{}{}; <-go1; return nil })
		}()
	}
	for range names {
		<-began
	}
	if got := status(d.Work(context.Background(), "Ann", false,
		func() error { return nil })); got != http.StatusTooManyRequests {
		t.Errorf("Ann has two at a time: %d", got)
	}
	hurried, cancel := context.WithCancel(context.Background())
	cancel()
	if got := status(d.Work(hurried, "Cid", false,
		func() error { t.Error("a third is tried"); return nil })); got != http.StatusServiceUnavailable {
		t.Errorf("Cid has a seat: %d", got)
	}
	stop() // nobody waits for them now
	for range names {
		if got := status(<-done); got != http.StatusServiceUnavailable {
			t.Errorf("who waits too long gets %d", got)
		}
	}
	if got := status(d.Work(context.Background(), "Ann", false,
		func() error { return nil })); got != http.StatusTooManyRequests {
		t.Errorf("what goes on has no seat: %d", got)
	}
	close(go1)
	for range names { // both leave
		d.slots <- struct{}{}
	}
	for range names {
		<-d.slots
	}
	want := errors.New("mine")
	if err := d.Work(context.Background(), "Ann", false, func() error { return want }); !errors.Is(err,
		want) {
		t.Errorf("the error is %v", err)
	}
	ended := false
	ctx, stop = context.WithCancel(context.Background())
	err := d.Work(ctx, "Ann", true, func() error {
		stop()
		time.Sleep(10 * time.Millisecond) // so long it could return too early
		ended = true
		return want
	})
	if !errors.Is(err, want) || !ended {
		t.Errorf("what changes something is not waited for: %v", err)
	}
}

// A panic is the request's, which the server outlives.
func TestDeskPanics(t *testing.T) {
	d := NewDraftLimiter()
	func() {
		defer func() {
			if got := recover(); got != "broken" {
				t.Errorf("it panics with %v", got)
			}
		}()
		_ = d.Work(context.Background(), "Ann", false, func() error { panic("broken") })
	}()
	if err := d.Work(context.Background(), "Ann", false, func() error { return nil }); err != nil {
		t.Errorf("the seat is lost: %v", err)
	}
}
