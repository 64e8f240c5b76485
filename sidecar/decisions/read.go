package decisions

import "fmt"

// Read gives the records of a log to take, oldest first, until that says false. A line
// that is no record comes with the error that names its place, and what can be read of
// it. The last line may be one that is just being written; that is left out.
func Read(dir string, take func(*Record, error) bool) error {
	list, err := segments(dir)
	if err != nil {
		return fmt.Errorf("read decisions: %w", err)
	}
	more := true
	for _, s := range list {
		if !more {
			break
		}
		err := s.lines(func(l line) bool {
			if !l.whole {
				return true
			}
			r, err := parse(l.text)
			if err != nil {
				err = fmt.Errorf("%s:%d: %w", s.path, l.n, err)
			}
			more = take(&r, err)
			return more
		})
		if err != nil {
			return fmt.Errorf("read decisions: %w", err)
		}
	}
	return nil
}

// Last is the place of the last record: what to keep elsewhere, so that a log cannot end
// earlier. Zero: there is none.
func Last(dir string) (at Checkpoint, err error) {
	list, err := segments(dir)
	if err != nil {
		return at, fmt.Errorf("read decisions: %w", err)
	}
	for i := len(list) - 1; i >= 0 && at.Seq == 0; i-- {
		err := list[i].lines(func(l line) bool {
			if r, err := parse(l.text); l.whole && err == nil {
				at = Checkpoint{r.Seq, r.Hash}
			}
			return true
		})
		if err != nil {
			return at, fmt.Errorf("read decisions: %w", err)
		}
	}
	return at, nil
}
