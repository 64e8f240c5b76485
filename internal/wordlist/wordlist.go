// Package wordlist reads lists of words from a text that stands beside the code which uses them: a line at
// the margin names a list, the lines below it hold its words, in which + is a blank, and # begins a
// comment.
package wordlist

import (
	"strings"
	"sync"
)

// Lists are the lists of one text, parsed on first use.
type Lists struct{ parse func() map[string][]string }

// Of returns the lists of a text.
func Of(text string) Lists {
	return Lists{sync.OnceValue(func() map[string][]string {
		lists, list := map[string][]string{}, ""
		for line := range strings.Lines(text) {
			words := strings.Fields(line)
			switch {
			case len(words) == 0 || words[0] == "#":
			case line[0] != '\t':
				list = words[0]
			default:
				for _, w := range words {
					lists[list] = append(lists[list], strings.ReplaceAll(w, "+", " "))
				}
			}
		}
		return lists
	})}
}

// List returns the words of a list, in their order.
func (l Lists) List(name string) []string { return l.parse()[name] }

// Set returns the words of a list as a set that is made on first use.
func (l Lists) Set(name string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		set := map[string]bool{}
		for _, w := range l.List(name) {
			set[w] = true
		}
		return set
	})
}
