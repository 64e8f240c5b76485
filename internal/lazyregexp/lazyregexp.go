// Package lazyregexp makes regular expressions that are compiled when they are first used,
// because most starts of the program need none of them.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New is for variables of a package. A text that is no regular expression panics at its
// first use.
func New(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
