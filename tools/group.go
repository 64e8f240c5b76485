package tools

import (
	"slices"
	"unicode/utf8"
)

// index returns the index of a name in a list, by its key, or -1.
func index(list []Word, want string) int {
	return slices.IndexFunc(list, func(w Word) bool { return hasKey(w.Text, want) })
}

// groupOf returns the index of the first group with a name, or -1.
func (r *Rules) groupOf(name string) int {
	want := key(name)
	at := slices.IndexFunc(r.Groups, func(g Group) bool { return index(g.Names, want) >= 0 })
	if at < 0 {
		at = slices.IndexFunc(r.Groups, func(g Group) bool { return index(g.Weak, want) >= 0 })
	}
	return at
}

// Kind returns the first name of the tool's group, or its own name if it has no group, or one of another
// effect.
func (r *Rules) Kind(tool string) string {
	if at := r.groupOf(tool); at >= 0 {
		if first := r.Groups[at].Names[0].Text; r.mayMean(first, tool, at) {
			return first
		}
	}
	return tool
}

// mayMean reports whether a name may mean a tool of a group. The first name of the group always may. Any
// other must belong to this group first, and a name that reads never means one that changes something,
// nor the reverse.
func (r *Rules) mayMean(name, tool string, group int) bool {
	if hasKey(r.Groups[group].Names[0].Text, key(tool)) {
		return true
	}
	named, does := r.Classes.of(name), r.class(tool)
	return r.groupOf(tool) == group && (named == "" || does == "" || (named == Read) == (does == Read))
}

// class returns the class of a name by its words, else by the names of its group, else "".
func (r *Rules) class(name string) Class {
	class := r.Classes.of(name)
	if class == "" {
		if at := r.groupOf(name); at >= 0 {
			for _, other := range r.Groups[at].Names {
				class = class.AtLeast(r.Classes.of(other.Text))
			}
		}
	}
	return class
}

// hasKey reports whether want is the key of a name, without allocating.
func hasKey(name, want string) bool {
	for _, r := range name {
		if r = keyRune(r); r < 0 {
			continue
		}
		first, size := utf8.DecodeRuneInString(want)
		if first != r || size == 0 {
			return false
		}
		want = want[size:]
	}
	return want == ""
}
