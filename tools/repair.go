package tools

import (
	"fmt"
	"slices"
	"strings"
)

// Cut says what the end of the input cut off. Text that ends too early may be
// closed, but a value that was cut mid-way is not what the model meant.
type Cut int

// How much the end of the input cut off.
const (
	Whole    Cut = iota // nothing
	Closers             // only } and ]: every value is complete
	Unquoted            // nothing, it seems: a string lost its closing quote, and the closers that everything waits for end the text
	MidValue            // inside a value: a string without its closing quote, a number, a literal, a key or a comma without what must follow
)

// Repaired is text, read as one JSON value.
type Repaired struct {
	JSON    []byte   // one valid JSON value
	Repairs []Repair // the first changes, at most maxRecords, in the order of the text
	Changes int      // all changes, also those that Repairs has no room for
	Cut     Cut
}

const (
	defaultDepth = 256 // nesting allowed where the caller names no limit
	maxRecords   = 64  // changes recorded; more are only counted
	maxShown     = 80  // bytes of each side of a change that a record shows
)

// JSONError says where text cannot be read as JSON, and why.
type JSONError struct {
	At  int // byte offset in the text
	Msg string
}

func (e *JSONError) Error() string { return fmt.Sprintf("byte %d: %s", e.At, e.Msg) }

// RepairJSON reads text as one JSON value, as a forgiving reader would.
//
// Valid JSON comes back byte for byte without the white space around it; a
// duplicate key stays. Anything else is rewritten with one Repair per change; its
// undamaged parts stay as they are, but for white space. Containers nested deeper than maxDepth (0: 256) are an
// error, as is text without any value. Time is linear in len(text).
func RepairJSON(text string, maxDepth int) (Repaired, error) {
	if maxDepth <= 0 {
		maxDepth = defaultDepth
	}
	if plain := strings.Trim(text, asciiSpace); plain != "" && validJSON(plain, maxDepth) == len(plain) {
		return Repaired{JSON: []byte(plain)}, nil
	}
	m := mender{text: text, maxDepth: maxDepth}
	return m.mend()
}

// only reports whether nothing but changes of these kinds was made.
func (r Repaired) only(kinds ...string) bool {
	return len(r.Repairs) > 0 && r.Changes == len(r.Repairs) &&
		!slices.ContainsFunc(r.Repairs, func(c Repair) bool { return !slices.Contains(kinds, c.Kind) })
}
