package approvals

import (
	"errors"
	"testing"
)

// TestUse: a person says yes where the call runs, whatever the state of the question is.
func TestUse(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(s *Store, id string) error
		by     string // empty: it cannot be used
		counts map[string]int
	}{
		{"pending", func(*Store, string) error { return nil }, "ada", map[string]int{"asked": 1, "allowed": 1, "used": 1}},
		{"allowed before", func(s *Store, id string) error { _, err := s.Allow(id, "bob"); return err }, "bob", map[string]int{"asked": 1, "allowed": 1, "used": 1}},
		{"denied before", func(s *Store, id string) error { _, err := s.Deny(id, "bob", "no"); return err }, "", map[string]int{"asked": 1, "denied": 1}},
		{"used before", func(s *Store, id string) error { _, err := s.Use(id, "bob"); return err }, "", map[string]int{"asked": 1, "allowed": 1, "used": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			timed(t, func(t *testing.T, s *Store, n *counts) {
				call := does("git push")
				id := s.Request(call, Reason{}).ID
				if err := c.before(s, id); err != nil {
					t.Fatal(err)
				}
				e, err := s.Use(id, "ada")
				var late *AnsweredError
				if c.by == "" && !errors.As(err, &late) || c.by != "" && (err != nil || e.State != Used ||
					e.By != c.by) {
					t.Errorf("%+v, %v", e, err)
				}
				if s.Take(call.Binding()) != "" {
					t.Error("it may run a second time")
				}
				n.want(t, 0, c.counts)
			})
		})
	}
	timed(t, func(t *testing.T, s *Store, _ *counts) {
		if _, err := s.Use("none-none", "ada"); !errors.Is(err, ErrUnknown) {
			t.Error(err)
		}
	})
}
