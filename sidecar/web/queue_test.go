package web

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// Whatever comes, goes and is let in: nobody is lost, each session keeps its order, and whoever is at the
// head of a line sees at most one of each other session let in before.
func TestQueueIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue[int]
		lines := map[string][]int{}           // as they should be
		passed := map[string]map[string]int{} // the head of a session saw so many of each other one
		number, size := 0, 0
		begin := func(session string) { passed[session] = map[string]int{} }
		session := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				s := session.Draw(t, "session")
				if number++; len(lines[s]) == 0 {
					begin(s)
				}
				lines[s] = append(lines[s], number)
				q.put(s, number)
				size++
			},
			"next": func(t *rapid.T) {
				got, ok := q.next()
				if ok != (size > 0) {
					t.Fatalf("%d wait, and %v is let in", size, ok)
				}
				if !ok {
					return
				}
				size--
				of := ""
				for s, line := range lines {
					if len(line) > 0 && line[0] == got {
						of = s
					}
				}
				if of == "" {
					t.Fatalf("%d is let in, and is at the head of no line: %v", got, lines)
				}
				lines[of] = lines[of][1:]
				begin(of)
				for s, line := range lines {
					if s == of || len(line) == 0 {
						continue
					}
					if passed[s][of]++; passed[s][of] > 1 {
						t.Fatalf("%s waits while a second one of %s is let in", s, of)
					}
				}
			},
			"drop": func(t *rapid.T) {
				s := session.Draw(t, "session")
				if len(lines[s]) == 0 {
					if q.drop(s, number) {
						t.Fatal("one was dropped that was not there")
					}
					return
				}
				i := rapid.IntRange(0, len(lines[s])-1).Draw(t, "place")
				if who := lines[s][i]; !q.drop(s, who) || q.drop(s, who) {
					t.Fatalf("%d is not dropped once", who)
				}
				lines[s] = append(lines[s][:i:i], lines[s][i+1:]...)
				size--
			},
			"": func(t *rapid.T) {
				if q.size != size || len(q.ring) != len(q.lines) {
					t.Fatalf("%d wait, not %d; %v, %v", q.size, size, q.ring, q.lines)
				}
			},
		})
	})
}

// One session with a thousand requests does not hold up the others.
func TestQueueBesideACrowd(t *testing.T) {
	var q queue[string]
	for i := range 1000 {
		q.put("crowd", fmt.Sprint("crowd ", i))
	}
	q.put("one", "one")
	q.put("two", "two")
	for i, want := range []string{"crowd 0", "one", "two", "crowd 1", "crowd 2"} {
		if got, _ := q.next(); got != want {
			t.Errorf("%d: %s, not %s", i, got, want)
		}
	}
}
