package cli

// sides is a line of two readings; nil where one of them has it not.
type sides struct{ a, b *row }

func (s sides) differ() bool { return s.a == nil || s.b == nil || s.a.text != s.b.text }

// maxAligned bounds the table that align fills: lines of one side times lines of
// the other.
const maxAligned = 4 << 20

// align pairs the lines that two readings share, in order, as many of them as
// there can be, and then what stands between them line by line.
func align(a, b []row) []sides {
	var out []sides
	for len(a) > 0 && len(b) > 0 && a[0].text == b[0].text {
		out = append(out, sides{&a[0], &b[0]})
		a, b = a[1:], b[1:]
	}
	if len(a)*len(b) > maxAligned {
		return gap(out, a, b)
	}
	shared := common(a, b)
	i, j, from, with := 0, 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i].text == b[j].text:
			out = gap(out, a[from:i], b[with:j])
			out = append(out, sides{&a[i], &b[j]})
			i, j = i+1, j+1
			from, with = i, j
		case shared[i+1][j] >= shared[i][j+1]:
			i++
		default:
			j++
		}
	}
	return gap(out, a[from:], b[with:])
}

// common is the table of the longest common subsequence: how many lines a[i:] and
// b[j:] share.
func common(a, b []row) [][]int32 {
	shared := make([][]int32, len(a)+1)
	for i := range shared {
		shared[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i].text == b[j].text {
				shared[i][j] = shared[i+1][j+1] + 1
			} else {
				shared[i][j] = max(shared[i+1][j], shared[i][j+1])
			}
		}
	}
	return shared
}

// gap pairs lines that differ.
func gap(out []sides, a, b []row) []sides {
	for i := range max(len(a), len(b)) {
		var s sides
		if i < len(a) {
			s.a = &a[i]
		}
		if i < len(b) {
			s.b = &b[i]
		}
		out = append(out, s)
	}
	return out
}
