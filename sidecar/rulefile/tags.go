package rulefile

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A rule file is described by a Go struct whose fields carry the tag `rule:"key"`, or
// `rule:"key,required"`, and, where it helps, `min`, `max` and `one` (the allowed
// words). `doc` says in a sentence what the key is for, and `eg` is an example of
// its value, in YAML: both are for editors. Fields may be of type
// string, Text, bool, int, Number, float64, time.Duration ("30s"), Size ("16MiB"),
// any (JSON values), a struct, a pointer to one (nil: left out), a list, a map, or []Pair
// (a mapping, in order). The field At gets the place of its struct. A field without a tag
// is for the program alone; the keys of a struct that is embedded without one are keys of
// the outer struct.

// Size is a number of bytes, written 512, 64KiB, 16MiB or 1GiB.
type Size int

// Obsolete is the value of a key of earlier versions or other programs. It is not read; a warning shows its
// doc.
type Obsolete struct{}

// Pair is one entry of a mapping whose keys the operator chooses.
type Pair[T any] struct {
	Key   Text
	Value T
}

func (Pair[T]) isPair() {}

// IsPair reports whether a type is a Pair.
func IsPair(t reflect.Type) bool {
	_, is := reflect.Zero(t).Interface().(interface{ isPair() })
	return is
}

// Head is the start of each rule file.
type Head struct {
	Version int `rule:"version,required" one:"1" doc:"The version of this file's format."`
}

// Lists are lists of texts, each below a key that the operator chooses.
type Lists = []Pair[[]Text]

// Keys returns the fields of a struct that are keys of a rule file.
func Keys(t reflect.Type) (out []reflect.StructField) {
	for f := range t.Fields() {
		key, _ := KeyOf(f)
		switch {
		case key != "":
			out = append(out, f)
		case f.Anonymous:
			for _, inner := range Keys(f.Type) {
				inner.Index = append(slices.Clone(f.Index), inner.Index...)
				out = append(out, inner)
			}
		}
	}
	return out
}

// StructOf returns a struct with keys of several others.
func StructOf(keys []reflect.StructField) reflect.Type {
	fields := make([]reflect.StructField, len(keys))
	for i, f := range keys {
		fields[i] = reflect.StructField{Name: "F" + strconv.Itoa(i), Type: f.Type, Tag: f.Tag}
	}
	return reflect.StructOf(fields)
}

// KeyOf returns the key of a field of a rule file; empty for other fields.
func KeyOf(f reflect.StructField) (key string, required bool) {
	key, flag, _ := strings.Cut(f.Tag.Get("rule"), ",")
	return key, flag == "required"
}
