package approvals

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestWait(t *testing.T) {
	timed(t, func(t *testing.T, s *Store, _ *counts) {
		wait := func(ctx context.Context, id string) chan string {
			out := make(chan string, 1)
			go func() {
				e, err := s.Wait(ctx, id)
				out <- fmt.Sprint(e.State, " ", err)
			}()
			return out
		}
		a, b, c := s.Request(does("a"), Reason{}).ID, s.Request(does("b"), Reason{}).ID, s.Request(does("c"),
			Reason{}).ID
		short, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		left, allowed, denied, expired := wait(short, c), wait(t.Context(), a), wait(t.Context(),
			b), wait(t.Context(), c)
		synctest.Wait()
		if _, err := s.Allow(a, "ada"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Deny(b, "ada", ""); err != nil {
			t.Fatal(err)
		}
		for name, row := range map[string]struct {
			got  chan string
			want string
		}{
			"allowed": {allowed, "allowed <nil>"}, "denied": {denied, "denied <nil>"}, "expired": {expired, "expired <nil>"},
			"left": {left, "pending wait for an approval: context deadline exceeded"}, "unknown": {wait(t.Context(), "0000-0000"), " there is no such approval"},
		} {
			if got := <-row.got; got != row.want {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
}
