package web

// slack is how many percent of the limit memory must fall below the mark before requests are let in again: at
// one mark alone every other request would be refused.
const slack = 10

// gate is closed while memory is short. The zero gate is open.
type gate struct{ closed bool }

// at takes how much of the limit is in use, and the mark in percent. It reports whether the gate has moved.
func (g *gate) at(used, limit uint64, shed int) bool {
	full := limit > 0 && used >= mark(limit, shed)
	free := limit == 0 || used < mark(limit, shed-slack)
	was := g.closed
	g.closed = full || was && !free
	return g.closed != was
}

// mark is so many percent of a limit.
func mark(limit uint64, percent int) uint64 { return limit / 100 * uint64(max(percent, 0)) }
