package args

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Op is one kind of damage with its undo.
type Op struct {
	ID, About string
	Server    bool // by a server; else by the model
	// Damage damages the arguments of a call; false if their meaning would become unclear.
	Damage func(r *rand.Rand, text string) (damaged string, ok bool)
	// Undo returns what a text may have been, or nothing if it has no such damage.
	Undo  func(x *Text) []Reading
	Signs string // the damaged text contains one of these characters; empty: any
	Cost  int
	// Keeps reports that undoing cannot change the meaning of a value; else it is done only for tools
	// that read.
	Keeps  bool
	Proof  bool // all keys of the result must be parameters
	Open   bool // the result has no end of its own
	Stream bool // it occurs in a server's own, streamed calls
	Words  bool // it adds words, which may deny the call: asking again is right
	Fits   bool // the result is a valid object that Accept undoes
	Alone  bool // only syntax may be undone before
	Whole  bool // the damaged text is valid JSON but no object
}

// openers begin arguments in some notation.
const openers = "{[\"<｛＂「“`"

// Do damages a valid text, or surrounds it; false if nothing changes, for only the tool can tell what a
// valid object was.
func (o *Op) Do(r *rand.Rand, text string) (damaged string, ok bool) {
	r0, _ := utf8.DecodeRuneInString(text)
	whole := valid(text, jsontext.MaxDepth) && r0 == '{'
	if o.Damage == nil || !whole && (o.Cost != usual || !strings.ContainsRune(openers, r0)) {
		return text, false
	}
	damaged, ok = o.Damage(r, text)
	if !ok || damaged == "" || damaged == text || !o.Fits && damaged[0] == '{' && valid(damaged,
		jsontext.MaxDepth) {
		return text, false
	}
	return damaged, true
}

// Costs of undoing: the reading with the least total wins.
const (
	cheap   = 2  // unmistakable
	usual   = 3  // something around the object
	repair  = 5  // certain repair of syntax
	program = 8  // a literal of a program
	words   = 20 // words around it
	guess   = 24 // a value may be another
	lone    = 30 // the value of the only parameter
)

// Table is a list of kinds of damage.
type Table []Op

// Ops returns the table in the order in which damage happens: how the object is written, what surrounds
// it, what servers do to it.
func Ops() Table {
	return slices.Concat(objectOps(), syntaxOps(), signOps(), notationOps(), frameOps(), encodingOps(),
		tokenOps(), transportOps(), soleOps())
}

// has reports whether the table has a row.
func (t Table) has(id string) bool {
	return slices.ContainsFunc(t, func(o Op) bool { return o.ID == id })
}

// pure is an undo that ignores the tool.
func pure(undo func(text string) []string) func(*Text) []Reading {
	return func(x *Text) (out []Reading) {
		for _, text := range undo(x.string) {
			out = append(out, Reading{Text: text})
		}
		return out
	}
}

// strip is an undo that removes a text, unless words in it may deny the call.
func strip(undo func(x *Text) (inner, off string)) func(*Text) []Reading {
	return func(x *Text) []Reading {
		inner, taken := undo(x)
		if !x.Known() || inner == x.string || x.Denies(taken) {
			return nil
		}
		return []Reading{{Text: inner}}
	}
}

// written is a damage that is always possible.
func written(damage func(r *rand.Rand, text string) string) func(*rand.Rand, string) (string, bool) {
	return func(r *rand.Rand, text string) (string, bool) { return damage(r, text), true }
}

// when is a damage that is possible only while the meaning stays clear.
func when(damage func(*rand.Rand, string) (string, bool),
	clear func(text string) bool) func(*rand.Rand, string) (string, bool) {
	return func(r *rand.Rand, text string) (string, bool) {
		out, ok := damage(r, text)
		return out, ok && clear(text)
	}
}

// between is a damage that surrounds a text with one of several pairs.
func between(pairs ...[2]string) func(*rand.Rand, string) (string, bool) {
	return func(r *rand.Rand, text string) (string, bool) {
		p := pick(r, pairs...)
		return p[0] + text + p[1], true
	}
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }
