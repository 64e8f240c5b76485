package paths

// Effect is what the developer profile makes of a use.
var Effect = effect

// Follow is where an absolute path leads.
func (g Guard) Follow(p string) string {
	var at place
	g.walk(p, true, &at)
	return at.path
}
