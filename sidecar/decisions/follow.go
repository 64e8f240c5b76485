package decisions

import "fmt"

// follower knows which record comes next in a chain.
type follower struct {
	next uint64 // 0: whatever comes first
	prev Sum
	open bool // prev is not known, since the record before is damaged
}

// follow says what is wrong with the place of a record, or "". broken is what parse
// said of its line: such a record still has a place if it says one that fits.
func (f *follower) follow(r *Record, broken error) string {
	if broken != nil && r.Seq != f.next { // what it says of its place may be what was changed
		r.Seq = f.next
		f.next, f.open = f.next+1, true
		return broken.Error()
	}
	said := f.place(r)
	if said == "" && broken != nil {
		said = broken.Error()
	}
	if r.Seq >= f.next {
		f.next, f.prev, f.open = r.Seq+1, r.Hash, r.Hash == Sum{}
	}
	return said
}

// place compares where a record says it stands with where it stands.
func (f *follower) place(r *Record) string {
	switch {
	case f.next == 0:
		if r.Seq == 1 && r.Prev != (Sum{}) {
			return "the first record follows on something"
		}
	case r.Seq == f.next+1:
		return fmt.Sprintf("record %d is missing before it", f.next)
	case r.Seq > f.next:
		return fmt.Sprintf("records %d to %d are missing before it", f.next, r.Seq-1)
	case r.Seq == f.next-1:
		return fmt.Sprintf("record %d stands here a second time", r.Seq)
	case r.Seq < f.next:
		return fmt.Sprintf("record %d stands here, after record %d", r.Seq, f.next-1)
	case !f.open && r.Prev != f.prev:
		return fmt.Sprintf("it does not follow on record %d: one of the two was changed, or put here",
			f.next-1)
	}
	return ""
}
