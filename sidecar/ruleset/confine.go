package ruleset

// Confine says whether commands run confined by the kernel.
type Confine uint8

const (
	Never    Confine = iota
	Possible         // if the machine can do it
	Always           // or not at all
)

func confineOf(word string) Confine {
	switch word {
	case "never":
		return Never
	case "always":
		return Always
	}
	return Possible
}

// Confine is what both folders say: the one that confines more.
func (s *Set) Confine() Confine {
	if s.locked == nil {
		return s.own.confine
	}
	return max(s.own.confine, s.locked.confine)
}
