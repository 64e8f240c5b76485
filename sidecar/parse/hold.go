package parse

// maxName is how long a name may be that prose is held back for.
const maxName = 64

// tail is how many bytes at the end of v may be the beginning of "assistant", or
// an offered name that a { could follow.
func (t *text) tail(v string) int {
	if v == "" || t.fence.n > 0 || t.ticks > 0 {
		return 0
	}
	hold := 0
	if t.r.s.harmony != nil {
		hold = begun(v, assistant)
	}
	if t.r.s.json == nil || t.r.c.Open() || !isName(v[len(v)-1]) {
		return hold
	}
	if i := t.nameStart(v, len(v)); i < len(v) && t.r.initial(v[i]) && t.r.c.HasPrefix(v[i:]) {
		return max(hold, len(v)-i)
	}
	return hold
}

// begun is how many bytes at the end of v may be the beginning of lit.
func begun(v, lit string) int {
	n := min(len(lit)-1, len(v))
	for n > 0 && (lit[n-1] != v[len(v)-1] || v[len(v)-n:] != lit[:n]) {
		n--
	}
	return n
}

// nameStart is where the word that ends at end begins, or end if it is no name
// that stands by itself.
func (t *text) nameStart(v string, end int) int {
	i := end
	for i > 0 && end-i <= maxName && isName(v[i-1]) {
		i--
	}
	if end-i > maxName || !isSpace(t.before(v, i)) {
		return end
	}
	return i
}

// nameBefore is the offset of an offered name that a { at v[j:] follows, or j.
func (t *text) nameBefore(v string, j int) int {
	if v[j] != '{' {
		return j
	}
	if w := t.nameStart(v, j); w < j && t.r.c.Exact(v[w:j]) {
		return w
	}
	return j
}
