package state

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// shelf is an elsewhere in memory, which counts what it is asked.
type shelf struct {
	texts []Text
	asked [][]string
}

func (s *shelf) Keep(t Text) { s.texts = append(s.texts, t) }

func (s *shelf) Find(_ context.Context, keys []string) (out []Text) {
	s.asked = append(s.asked, keys)
	for _, t := range s.texts {
		if slices.Contains(keys, t.Key) {
			out = append(out, t)
		}
	}
	return out
}

func of(keys ...string) func() []string { return func() []string { return keys } }

// A call that left here is never looked for; one that nobody knows is looked for twice, since what is
// known of it may come a moment later.
func TestRecall(t *testing.T) {
	far := &shelf{}
	here, there := NewRecall(10, far), NewRecall(10, far)
	here.Put(Thought, "a", "because")
	here.Put(Thought, "b", "") // it was not thought about
	here.Put(Note, "a", "it was held")
	here.Put(Awaited, "a", "asks")
	here.Put(Note, "", "nobody's")
	for range 3 {
		here.Fetch(t.Context(), of("a", "b"))
	}
	if len(far.asked) != 0 || len(far.texts) != 3 {
		t.Errorf("asked %v, kept %v", far.asked, far.texts)
	}
	if _, ok := here.Take(Awaited, "a"); ok {
		t.Error("what is awaited is for others")
	}
	for range 3 {
		there.Fetch(t.Context(), of("a", "b", "a", "", "late"))
	}
	if len(far.asked) != 2 || !slices.Equal(far.asked[0], []string{"a", "b", "late"}) {
		t.Errorf("asked %v", far.asked)
	}
	for kind, want := range map[Kind]string{Thought: "because", Note: "it was held"} {
		if got, ok := there.Get(kind, "a"); got != want || !ok {
			t.Errorf("%s: %q %v", kind, got, ok)
		}
	}
	if what, ok := there.Take(Awaited, "a"); what != "asks" || !ok {
		t.Errorf("%q %v", what, ok)
	}
	if _, ok := there.Take(Awaited, "a"); ok {
		t.Error("it was taken twice")
	}
	if got, ok := there.Get(Thought, "late"); ok {
		t.Errorf("%q", got)
	}
}

// What is not kept here is not kept elsewhere, and nobody is asked where there is no elsewhere.
func TestRecallOfNothing(t *testing.T) {
	far := &shelf{}
	none := NewRecall(0, far)
	none.Put(Thought, "a", "because")
	none.Fetch(t.Context(), func() []string { t.Error("the calls of a request were looked at"); return nil })
	NewRecall(10, nil).Fetch(t.Context(),
		func() []string { t.Error("the calls of a request were looked at"); return nil })
	if _, ok := none.Get(Thought, "a"); ok || len(far.texts) != 0 {
		t.Errorf("%v", far.texts)
	}
	long := NewRecall(1, far)
	long.Put(Thought, "a", strings.Repeat("x", 2*maxText)+"end")
	if got := far.texts[0].Text; len(got) != maxText || !strings.HasSuffix(got, "end") {
		t.Errorf("%d bytes leave", len(got))
	}
}

// What another replica says of a session is counted if it can have been, and all of it is kept.
func TestSessionIsTold(t *testing.T) {
	r := NewRates(1, nil)
	for i := range 3 * maxMoments {
		r.Add("s", noon.Add(time.Duration(i)*time.Second), map[string]int{"calls": 1, "deletes": i % 3})
	}
	whole := *r.sessions.Get("s")
	again, err := decodeSession(whole.encode())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"calls", "deletes", "other"} {
		now := noon.Add(3 * maxMoments * time.Second)
		if got, want := again.count(kind, longest, now), whole.count(kind, longest, now); got != want {
			t.Errorf("%s: %d, want %d", kind, got, want)
		}
	}
	for _, doc := range []string{"", "[]", `{"kinds":{"a":[1]}}`, `{"kinds":{"a":[1,-1]}}`,
		`{"kinds":{"a":[1,9999999999]}}`, `{"kinds":{"a":"b"}}`,
		`{"kinds":{"a":[` + strings.TrimSuffix(strings.Repeat("1,1,", maxMoments+1), ",") + `]}}`} {
		if s, err := decodeSession([]byte(doc)); err == nil {
			t.Errorf("%.40s: %v", doc, s)
		}
	}
}

// Whatever is told does no harm, and is told on as it was understood.
func FuzzDecodeSession(f *testing.F) {
	f.Add([]byte(`{"kinds":{"calls":[1700000000,2,1700000001,3]}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		s, err := decodeSession(doc)
		if err != nil {
			return
		}
		if n := s.count("calls", longest, noon); n < 0 {
			t.Errorf("%d", n)
		}
		if again, err := decodeSession(s.encode()); err != nil || len(again) != len(s) {
			t.Errorf("%v %v, want %v", again, err, s)
		}
	})
}
