package args

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Op is one kind of damage: what does it to a text, and what undoes it.
type Op struct {
	ID, About string
	Server    bool // a server does it; else the model slips
	// Damage damages the arguments of a call. It is false where it would not stay clear what was meant.
	Damage func(r *rand.Rand, text string) (damaged string, ok bool)
	// Undo returns what a text may have been: nothing where it was not damaged so.
	Undo  func(x *Text) []Reading
	Signs string // a text that holds none of these characters was not damaged so; empty: it may be
	Cost  int
	// Keeps: undoing it cannot change the meaning of a value. What may is undone for tools that only read.
	Keeps  bool
	Proof  bool // what comes out must be parameters of the tool, and nothing else
	Open   bool // what comes out has no end of its own
	Stream bool // it comes to calls that a server has read, and streams
	Words  bool // it puts words around the arguments, which may deny the call: asking again is right
	Fits   bool // it leaves a valid object, and the tool that takes it undoes it
	Alone  bool // nothing but syntax is undone before
	Whole  bool // it is done to texts that are valid JSON, and are no object
}

// openers are what arguments begin with, in one notation or another.
const openers = "{[\"<｛＂「“`"

// Do damages a text that is valid, or puts something around it. It is false where nothing is done: what is a
// valid object then, only the tool can tell.
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

// What undoing costs: the reading for which the least had to be undone wins.
const (
	cheap   = 2  // nothing but this damage looks so
	usual   = 3  // something stands around the object
	repair  = 5  // its syntax is repaired, without a doubt
	program = 8  // it is a literal of a program
	words   = 20 // there are words around it
	guess   = 24 // a value of it may be another
	lone    = 30 // the text is the value of the only parameter
)

// Table is kinds of damage.
type Table []Op

// Ops is the table, in the order in which damage comes to arguments: how the object is written, what stands
// around it, what servers make of it.
func Ops() Table {
	return slices.Concat(objectOps(), syntaxOps(), signOps(), notationOps(), frameOps(), encodingOps(),
		tokenOps(), transportOps(), soleOps())
}

// has reports whether the table has a row.
func (t Table) has(id string) bool {
	return slices.ContainsFunc(t, func(o Op) bool { return o.ID == id })
}

// pure is an undo for which the tool does not count.
func pure(undo func(text string) []string) func(*Text) []Reading {
	return func(x *Text) (out []Reading) {
		for _, text := range undo(x.string) {
			out = append(out, Reading{Text: text})
		}
		return out
	}
}

// strip is an undo that takes something off a text, unless words in it may deny the call.
func strip(undo func(x *Text) (inner, off string)) func(*Text) []Reading {
	return func(x *Text) []Reading {
		inner, taken := undo(x)
		if !x.Known() || inner == x.string || x.Denies(taken) {
			return nil
		}
		return []Reading{{Text: inner}}
	}
}

// written is a damage that always can be done.
func written(damage func(r *rand.Rand, text string) string) func(*rand.Rand, string) (string, bool) {
	return func(r *rand.Rand, text string) (string, bool) { return damage(r, text), true }
}

// when is a damage that is done only where it stays clear what was meant.
func when(damage func(*rand.Rand, string) (string, bool),
	clear func(text string) bool) func(*rand.Rand, string) (string, bool) {
	return func(r *rand.Rand, text string) (string, bool) {
		out, ok := damage(r, text)
		return out, ok && clear(text)
	}
}

// between is a damage that puts a text between one of several pairs.
func between(pairs ...[2]string) func(*rand.Rand, string) (string, bool) {
	return func(r *rand.Rand, text string) (string, bool) {
		p := pick(r, pairs...)
		return p[0] + text + p[1], true
	}
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }
