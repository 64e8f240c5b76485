// Package jsonrepair turns text that was meant as JSON into JSON: what language
// models and people write by hand, with quotes, commas and brackets that are
// missing, wrong or too many. Valid JSON comes back byte for byte. It mends syntax
// and nothing else: it knows no schema and keeps no state. What it makes up is a null
// where a value is missing and the digit that a number lacks; both are told of.
package jsonrepair

import (
	"fmt"
	"slices"
	"strings"
)

// Result is text, read as one JSON value.
type Result struct {
	JSON    []byte   // one valid JSON value
	Changes []Change // the first changes, at most MaxChanges, in the order of the text
	Total   int      // all changes, also those that Changes has no room for
	Cut     Cut
	Around  string // what was dropped before and behind the value, but for blanks
	Words   bool   // true, false or null may be a text that lacks its quotes, if their parameters take text
	Unsure  bool
}

// Change is one change between the text and the JSON.
type Change struct {
	Kind string // one of the kinds below
	At   int    // byte offset in the text
	From string // at most 80 bytes of what stood there
	To   string // at most 80 bytes of what it became
}

// The kinds of change. They are stable: logs and metrics may count them.
const (
	KindQuote    = "json.quote"    // a quote added, dropped or replaced around a key or a value
	KindEscape   = "json.escape"   // a character in a string escaped, or a bad escape mended
	KindComma    = "json.comma"    // a comma added or dropped
	KindColon    = "json.colon"    // a colon added, dropped or put for another sign
	KindCloser   = "json.closer"   // a bracket or brace added, dropped or moved
	KindLiteral  = "json.literal"  // True, None, undefined, NaN and the like
	KindNumber   = "json.number"   // a number completed, or kept as a string
	KindValue    = "json.value"    // null put where a value is missing
	KindConcat   = "json.concat"   // "a" + "b" joined
	KindComment  = "json.comment"  // a comment dropped
	KindEllipsis = "json.ellipsis" // "..." dropped
	KindSpace    = "json.space"    // white space that JSON does not know
	KindFence    = "json.fence"    // a code fence dropped
	KindWrapper  = "json.wrapper"  // callback(…), ObjectId(…) or (…) around a value dropped
	KindProse    = "json.prose"    // text before, after or between values dropped
	KindRepeat   = "json.repeat"   // beginnings of the object before it dropped, or the same once more
	KindSequence = "json.sequence" // several values put into one array
)

// Cut says what the end of the text cut off. Text that ends too early may be
// closed, but a value that was cut mid-way is not what the writer meant.
type Cut int

// How much the end of the text cut off.
const (
	Whole   Cut = iota // nothing
	Closers            // only } and ]: every value is complete
	// nothing, it seems: a string lost its closing quote, and the closers that everything waits for end the
	// text
	Unquoted
	Unended // inside the last string: it lacks its closing quote, and all that follows
	// inside another value: a number, a literal, a key or a comma without what must follow
	MidValue
)

// MaxChanges is how many changes a Result tells of.
const MaxChanges = 64

const (
	defaultDepth = 256 // nesting allowed where the caller names no limit
	maxShown     = 80  // bytes of each side of a change that is told of
)

// Error says where text cannot be read as JSON, and why.
type Error struct {
	At  int // byte offset in the text
	Msg string
}

func (e *Error) Error() string { return fmt.Sprintf("byte %d: %s", e.At, e.Msg) }

// Repair reads text as one JSON value, as a forgiving reader would.
//
// Valid JSON comes back byte for byte without the white space around it; a
// duplicate key stays. Anything else is rewritten, and every change is counted;
// undamaged parts stay as they are, but for white space. Containers nested deeper
// than maxDepth (0: 256) are an *Error, as is text without any value. Time is
// linear in len(text).
func Repair(text string, maxDepth int) (Result, error) {
	if maxDepth <= 0 {
		maxDepth = defaultDepth
	}
	if plain := []byte(strings.Trim(text, asciiSpace)); len(plain) > 0 &&
		validEnd(plain, 0, maxDepth) == len(plain) {
		return Result{JSON: plain}, nil
	}
	if object, ok := Resumed(text, maxDepth); ok {
		begin := strings.LastIndex(text, object)
		return Result{JSON: []byte(object), Changes: []Change{{KindRepeat, 0, excerpt(text[:begin]), ""}},
			Total: 1}, nil
	}
	m := mender{text: text, maxDepth: maxDepth}
	return m.mend()
}

// Has reports whether a change of this kind was made, as far as Changes tells.
func (r Result) Has(kind string) bool {
	return slices.ContainsFunc(r.Changes, func(c Change) bool { return c.Kind == kind })
}

// Only reports whether changes were made, and none but those of these kinds.
func (r Result) Only(kinds ...string) bool {
	return len(r.Changes) > 0 && r.Total == len(r.Changes) &&
		!slices.ContainsFunc(r.Changes, func(c Change) bool { return !slices.Contains(kinds, c.Kind) })
}
