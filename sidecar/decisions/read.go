package decisions

import "fmt"

// Read gives the records of a log to take, oldest first, until that says false. A line
// that is no record comes with the error that names its place, and what can be read of
// it. The last line may be one that is just being written; that is left out.
func Read(dir string, take func(*Record, error) bool) error {
	list, err := segments(dir)
	if err == nil {
		err = read(list, take)
	}
	if err != nil {
		return fmt.Errorf("read decisions: %w", err)
	}
	return nil
}

// read is Read of some segments.
func read(list []segment, take func(*Record, error) bool) error {
	more := true
	for i := 0; i < len(list) && more; i++ {
		s := list[i]
		err := s.lines(func(l line) bool {
			if !l.whole {
				return true
			}
			r, err := l.record()
			if err != nil {
				err = fmt.Errorf("%s:%d: %w", s.path, l.n, err)
			}
			more = take(&r, err)
			return more
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Last is the place of the last record: what to keep elsewhere, so that a log cannot end
// earlier. Zero: there is none.
func Last(dir string) (at Checkpoint, err error) {
	list, err := segments(dir)
	for i := len(list) - 1; i >= 0 && at.Seq == 0 && err == nil; i-- {
		err = read(list[i:i+1], func(r *Record, broken error) bool {
			if broken == nil {
				at = Checkpoint{r.Seq, r.Hash}
			}
			return true
		})
	}
	if err != nil {
		return at, fmt.Errorf("read decisions: %w", err)
	}
	return at, nil
}
