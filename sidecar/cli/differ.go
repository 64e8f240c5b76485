package cli

// maxCompared bounds the table that differ fills: lines of one side times lines of the
// other. Beyond it all of them differ.
const maxCompared = 4 << 20

// differ is the lines of both readings in order, each behind a mark: a blank where both have
// it, - and + where only the first or the second has. As many are shared as there can be.
func differ(a, b []row) (out []row) {
	add := func(mark string, r row) {
		r.text = mark + " " + r.text
		out = append(out, r)
	}
	for len(a) > 0 && len(b) > 0 && a[0].text == b[0].text {
		add(" ", b[0])
		a, b = a[1:], b[1:]
	}
	shared := common(a, b)
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case shared != nil && i < len(a) && j < len(b) && a[i].text == b[j].text:
			add(" ", b[j])
			i, j = i+1, j+1
		case j == len(b), i < len(a) && (shared == nil || shared[i+1][j] >= shared[i][j+1]):
			add("-", a[i])
			i++
		default:
			add("+", b[j])
			j++
		}
	}
	return out
}

// common is the table of the longest common subsequence: how many lines a[i:] and b[j:]
// share. nil: it would be too large.
func common(a, b []row) [][]int32 {
	if len(a)*len(b) > maxCompared {
		return nil
	}
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
