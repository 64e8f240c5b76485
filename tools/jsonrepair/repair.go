// Package jsonrepair turns damaged JSON, as models and people write it, into JSON: quotes, commas and
// brackets that are missing, wrong or surplus. Valid JSON is returned byte for byte. It repairs syntax
// only, knows no schema and keeps no state. It invents a null for a missing value and a missing digit of
// a number, and reports both.
package jsonrepair

import (
	"fmt"
	"slices"
	"strings"
)

// Result is text as one JSON value.
type Result struct {
	JSON    []byte   // one valid JSON value
	Changes []Change // the first changes, at most MaxChanges, in text order
	Total   int      // all changes, also those not in Changes
	Cut     Cut
	Around  string // text dropped around the value, without blanks
	Words   bool   // true, false or null may be an unquoted text
	Unsure  bool
}

// Change is one change between the text and the JSON.
type Change struct {
	Kind string // one of the kinds below
	At   int    // byte offset in the text
	From string // at most 80 bytes before the change
	To   string // at most 80 bytes after it
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

// Cut tells what the end of the text cut off. A text that ends early may be closed, but a value that was
// cut is not what was meant.
type Cut int

// What the end of the text cut off.
const (
	Whole   Cut = iota // nothing
	Closers            // only } and ]: every value is complete
	// nothing, it seems: a string lost its closing quote, and the closers of all containers end the text
	Unquoted
	Unended // the closing quote of the last string, and all that follows
	// part of another value: a number, a literal, a key, or the value behind a comma
	MidValue
)

// MaxChanges bounds Result.Changes.
const MaxChanges = 64

const (
	defaultDepth = 256 // nesting by default
	maxShown     = 80  // bytes of each side of a change
)

// Error tells where and why text cannot be read as JSON.
type Error struct {
	At  int // byte offset in the text
	Msg string
}

func (e *Error) Error() string { return fmt.Sprintf("byte %d: %s", e.At, e.Msg) }

// Repair reads text as one JSON value.
//
// Valid JSON is returned byte for byte without the white space around it; duplicate keys stay. Anything
// else is rewritten, and every change is counted; undamaged parts keep their bytes, except white space.
// Containers nested deeper than maxDepth (0: 256), and text without a value, yield an *Error. Time is
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

// Has reports whether Changes contains a change of this kind.
func (r Result) Has(kind string) bool {
	return slices.ContainsFunc(r.Changes, func(c Change) bool { return c.Kind == kind })
}

// Only reports whether there are changes, all of these kinds.
func (r Result) Only(kinds ...string) bool {
	return len(r.Changes) > 0 && r.Total == len(r.Changes) &&
		!slices.ContainsFunc(r.Changes, func(c Change) bool { return !slices.Contains(kinds, c.Kind) })
}
