// Package jsonc reads the configuration of another program, JSON with comments and trailing commas, as a
// tree with the place of each value, and sets or removes single values of its text. All other bytes
// stay, comments too. It knows no settings.
package jsonc

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// Kind is the kind of a value.
type Kind uint8

const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

func (k Kind) String() string {
	return [...]string{"null", "true or false", "a number", "a string", "a list", "an object"}[k]
}

// Value is a value with its place in the text.
type Value struct {
	Kind       Kind
	Start, End int
	Text       string   // of a string: decoded; of a number, true or false: as written
	Members    []Member // of an object
	Items      []Value  // of a list
	node       *hujson.Value
}

// Member is a member of an object. The last of two with one name counts.
type Member struct {
	Key   string
	Value Value
}

// SyntaxError tells where a text cannot be read.
type SyntaxError struct {
	Line, Column int
	Msg          string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Msg) }

// Position returns the line and the column of an offset, both from 1. A column counts characters.
func Position(text []byte, offset int) (line, column int) {
	before := text[:min(offset, len(text))]
	return bytes.Count(before, []byte("\n")) + 1,
		utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
}

// Get returns the member of an object with this name, or nil. A nil value has no members.
func (v *Value) Get(key string) *Value {
	members := v.AllMembers()
	for i := len(members) - 1; i >= 0; i-- {
		if members[i].Key == key {
			return &members[i].Value
		}
	}
	return nil
}

// AllMembers returns the members of an object; none for nil.
func (v *Value) AllMembers() []Member {
	if v == nil {
		return nil
	}
	return v.Members
}

// At returns the value at a path of names and, in lists, of indexes, or nil.
func (v *Value) At(path ...string) *Value {
	for _, step := range path {
		if v != nil && v.Kind == Array {
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v.Items) {
				return nil
			}
			v = &v.Items[i]
			continue
		}
		v = v.Get(step)
	}
	return v
}

// Is reports whether a value is a string, or true, false or a number written so.
func (v *Value) Is(kind Kind, text string) bool {
	return v != nil && v.Kind == kind && v.Text == text
}

// Float returns the number that a value is.
func (v *Value) Float() (n float64, ok bool) {
	if v == nil || v.Kind != Number {
		return 0, false
	}
	if whole, err := strconv.ParseInt(v.Text, 0, 64); err == nil { // YAML and TOML also have 0x10 and 1_000
		return float64(whole), true
	}
	n, _ = strconv.ParseFloat(v.Text, 64) // out of range: an infinity
	return n, true
}

// Index returns the index, as a step of a path, of the item with this text at a member; the one behind
// the last item if there is none.
func (v *Value) Index(key, text string) string {
	if v == nil {
		return "0"
	}
	for i := range v.Items {
		if v.Items[i].Get(key).Is(String, text) {
			return strconv.Itoa(i)
		}
	}
	return strconv.Itoa(len(v.Items))
}
