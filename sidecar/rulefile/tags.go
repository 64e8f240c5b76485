package rulefile

import (
	"reflect"
	"strings"
)

// A rule file is described by a Go struct whose fields carry the tag `rule:"key"`, or
// `rule:"key,required"`, and, where it helps, `min`, `max` and `one` (the allowed
// words). `doc` says in a sentence what the key is for, and `eg` is an example of
// its value, in YAML: both are for editors. Fields may be of type
// string, Text, bool, int, Number, float64, time.Duration ("30s"), Size ("16MiB"),
// any (JSON values), a struct, a pointer to one (nil: left out), a list, or []Pair
// (a mapping, in order). A field of type Place gets the place of its struct.

// Size is a number of bytes, written 512, 64KiB, 16MiB or 1GiB.
type Size int

// Pair is one entry of a mapping whose keys the operator chooses.
type Pair[T any] struct {
	Key   Text
	Value T
}

func (Pair[T]) isPair() {}

// IsPair reports whether a type is a Pair of anything.
func IsPair(t reflect.Type) bool {
	_, is := reflect.Zero(t).Interface().(interface{ isPair() })
	return is
}

// KeyOf is the key of a field of a struct for rule files, empty for a place.
func KeyOf(f reflect.StructField) (key string, required bool) {
	key, flag, _ := strings.Cut(f.Tag.Get("rule"), ",")
	return key, flag == "required"
}
