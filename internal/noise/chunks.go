package noise

// chunks splits the reply into deltas of odd sizes, also within a rune or a token.
func (d *draft) chunks() (out []Delta) {
	size := pick(d.Rand, []int{1, 3, 7, 40, 400})
	split := func(s string, put func(string) Delta) {
		for s != "" {
			n := min(1+d.IntN(size), len(s))
			out = append(out, put(s[:n]))
			s = s[n:]
		}
	}
	split(d.thoughts, func(s string) Delta { return Delta{Thoughts: s} })
	split(d.content, func(s string) Delta { return Delta{Content: s} })
	for i, c := range d.native {
		out = append(out, Delta{Call: i + 1, Name: c.Name})
		split(c.Args, func(s string) Delta { return Delta{Call: i + 1, Args: s} })
	}
	return out
}
