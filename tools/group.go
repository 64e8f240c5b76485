package tools

import (
	"slices"
	"unicode/utf8"
)

// index is the place of a name in a list, by its key; -1: it is not there.
func index(list []Word, want string) int {
	return slices.IndexFunc(list, func(w Word) bool { return hasKey(w.Text, want) })
}

// groupOf is the place of the first group that a name is in; -1: it is in none.
func (r *Rules) groupOf(name string) int {
	want := key(name)
	at := slices.IndexFunc(r.Groups, func(g Group) bool { return index(g.Names, want) >= 0 })
	if at < 0 {
		at = slices.IndexFunc(r.Groups, func(g Group) bool { return index(g.Weak, want) >= 0 })
	}
	return at
}

// Kind is the first name of the group that a tool is in, or its own name where it is in none, or
// in one of tools that do other things to the world.
func (r *Rules) Kind(tool string) string {
	if at := r.groupOf(tool); at >= 0 {
		if first := r.Groups[at].Names[0].Text; r.stands(first, tool, at) {
			return first
		}
	}
	return tool
}

// stands reports whether a name may mean a tool of a group. The first name of the group is what
// all others mean. Another tool must be of this group before all others, and a name that reads never
// means one that changes something, nor the other way round.
func (r *Rules) stands(name, tool string, group int) bool {
	if hasKey(r.Groups[group].Names[0].Text, key(tool)) {
		return true
	}
	said, does := r.Classes.of(name), r.class(tool)
	return r.groupOf(tool) == group && (said == "" || does == "" || (said == Read) == (does == Read))
}

// class is what the rules say about a name: the words in it, else the names of its group; empty
// where they say nothing.
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

// hasKey reports whether want is the key of a name, without a copy of the name.
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
