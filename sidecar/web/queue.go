package web

// queue is the requests that wait: a line for each session, and the sessions in a ring. The head of a line
// waits at most for one of each other session. The zero queue is empty.
type queue[T comparable] struct {
	lines map[string][]T
	ring  []string // the sessions that have a line; the first is next
	size  int
}

func (q *queue[T]) put(session string, t T) {
	if q.lines == nil {
		q.lines = map[string][]T{}
	}
	if len(q.lines[session]) == 0 {
		q.ring = append(q.ring, session)
	}
	q.lines[session] = append(q.lines[session], t)
	q.size++
}

// next takes out who is let in next. Its session goes to the end of the ring.
func (q *queue[T]) next() (t T, ok bool) {
	if q.size == 0 {
		return t, false
	}
	session := q.ring[0]
	q.ring = q.ring[1:]
	line := q.lines[session]
	t = line[0]
	if q.size--; len(line) == 1 {
		delete(q.lines, session)
	} else {
		q.lines[session] = line[1:]
		q.ring = append(q.ring, session)
	}
	return t, true
}

// drop takes out one that waits no longer, and reports whether it was there.
func (q *queue[T]) drop(session string, t T) bool {
	line := q.lines[session]
	for i, each := range line {
		if each != t {
			continue
		}
		q.size--
		if len(line) > 1 {
			q.lines[session] = append(line[:i:i], line[i+1:]...)
			return true
		}
		delete(q.lines, session)
		for n, name := range q.ring {
			if name == session {
				q.ring = append(q.ring[:n:n], q.ring[n+1:]...)
				break
			}
		}
		return true
	}
	return false
}
