package rulefile

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

const maxDepth = 100 // far more than any rule file nests

// Values is a mapping with values of any kind, in the order of the file. A value is a []Member, a []any, a
// string, an int, a float64, a bool, or nil.
type Values struct {
	At      Place
	Members []Member
}

// Member is an entry of a mapping.
type Member struct {
	Key   string
	Value any
}

// decoder decodes one file. It reports every problem and never stops at one.
type decoder struct {
	src      *source
	origin   map[*yaml.Node]*source // of nodes from an included file
	hints    map[*yaml.Node]string  // for items that lack what only a complete one has
	partial  bool                   // only version is required
	problems Problems
}

// Decode decodes a rule file into a struct, which holds what could be read if there are problems.
func Decode[T any](name, doc string) (out T, _ Problems) {
	return out, Single(name, doc).Decode(&out, false)
}

// at returns the place of a node: all of a scalar, else its first character.
func (d *decoder) at(n *yaml.Node) Place {
	if n.Kind == yaml.ScalarNode {
		return d.text(n).All()
	}
	return Place{d.from(n), n.Line, n.Column, n.Column + 1}
}

// from returns the file of a node.
func (d *decoder) from(n *yaml.Node) *source {
	if src := d.origin[n]; src != nil {
		return src
	}
	return d.src
}

func (d *decoder) text(n *yaml.Node) Text {
	t := Text{Value: n.Value, At: Place{d.from(n), n.Line, n.Column, n.Column + 1}}
	if n.Style&^yaml.FlowStyle == 0 { // quotes and blocks end by themselves
		t.tail = n.LineComment
	}
	return t
}

func (d *decoder) report(n *yaml.Node, code, msg, hint string) {
	d.problems = append(d.problems, d.at(n).Problem(code, msg, hint))
}

// value decodes a node into v. key names it in messages; tag holds min, max and one.
func (d *decoder) value(n *yaml.Node, v reflect.Value, tag reflect.StructTag, key string, depth int) {
	if d.reportTrap(n, key, depth) {
		return
	}
	if n.ShortTag() == "!!null" && v.Type() != reflect.TypeFor[any]() {
		d.report(n, CodeMissing, key+" has no value", d.hints[n])
		return
	}
	switch p := v.Addr().Interface().(type) {
	case *Text:
		if d.isText(n, tag, key) {
			*p = d.text(n)
			d.oneOf(n, tag, key)
		}
	case *bool:
		if d.hasType(n, key, "true or false", "!!bool") {
			*p = n.Value == "true" || n.Value == "True" || n.Value == "TRUE"
		}
	case *int:
		if d.hasType(n, key, "a whole number", "!!int") {
			i, err := strconv.ParseInt(n.Value, 0, 64)
			*p = int(i)
			d.oneOf(n, tag, key)
			d.inRange(n, tag, key, float64(i), err)
		}
	case *Number:
		p.At = d.at(n)
		d.value(n, reflect.ValueOf(&p.Value).Elem(), tag, key, depth+1)
	case *float64:
		if d.hasType(n, key, "a number", "!!float", "!!int") {
			f, err := strconv.ParseFloat(n.Value, 64)
			*p = f
			d.inRange(n, tag, key, f, err)
		}
	case *time.Duration:
		if d.hasType(n, key, "a duration such as 30s or 2m", "!!str") {
			t, err := time.ParseDuration(n.Value)
			*p = t
			least, _ := time.ParseDuration(tag.Get("min"))
			switch {
			case err != nil || t < 0:
				d.report(n, CodeValue, display(n)+" is not a duration", "write 500ms, 30s or 2m")
			case t < least:
				d.report(n, CodeValue, key+" must be at least "+tag.Get("min"), "")
			}
		}
	case *Size:
		if d.hasType(n, key, "a size such as 64KiB or 16MiB", "!!str", "!!int") {
			b, ok := parseSize(n.Value)
			*p = Size(b)
			least, _ := parseSize(tag.Get("min"))
			switch {
			case !ok:
				d.report(n, CodeValue, display(n)+" is not a size", "write 512, 64KiB, 16MiB or 1GiB")
			case b < least:
				d.report(n, CodeValue, key+" must be at least "+tag.Get("min"), "")
			}
		}
	case *any:
		*p = d.json(n, depth)
	case *Values:
		p.At = d.at(n)
		if d.isMapping(n, key) {
			p.Members = d.tree(n, depth, func(members []Member) any { return members }).([]Member)
		}
	default:
		d.compound(n, v, tag, key, depth)
	}
}

// compound decodes named string types, lists, mappings and structs.
func (d *decoder) compound(n *yaml.Node, v reflect.Value, tag reflect.StructTag, key string, depth int) {
	isPairs := v.Kind() == reflect.Slice && IsPair(v.Type().Elem())
	switch {
	case v.Kind() == reflect.String:
		if d.isText(n, tag, key) {
			v.SetString(n.Value)
			d.oneOf(n, tag, key)
		}
	case v.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		d.mapping(n, key, func(k, val *yaml.Node) {
			one := reflect.New(v.Type().Elem()).Elem()
			d.value(val, one, tag, k.Value, depth+1)
			v.SetMapIndex(reflect.ValueOf(k.Value), one)
		})
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), tag, key, depth+1)
	case isPairs:
		d.mapping(n, key, func(k, val *yaml.Node) {
			one := reflect.New(v.Type().Elem()).Elem()
			one.Field(0).Set(reflect.ValueOf(d.text(k)))
			d.value(val, one.Field(1), tag, k.Value, depth+1)
			v.Set(reflect.Append(v, one))
		})
	case v.Kind() == reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			d.report(n, CodeType, key+" must be a list",
				"write ["+display(n)+"], or each entry on a line of its own behind -")
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
		for i, c := range n.Content {
			d.value(c, v.Index(i), tag, "an entry of "+key, depth+1)
		}
	default:
		d.object(n, v, key, depth)
	}
}

// object decodes a mapping into a struct.
func (d *decoder) object(n *yaml.Node, v reflect.Value, key string, depth int) {
	if at := v.FieldByName("At"); at.IsValid() {
		at.Set(reflect.ValueOf(d.head(n)))
	}
	fields, names := map[string]reflect.StructField{}, []string{}
	for _, f := range Keys(v.Type()) {
		name, _ := KeyOf(f)
		fields[name] = f
		names = append(names, name)
	}
	seen := map[string]bool{}
	if !d.mapping(n, key, func(k, val *yaml.Node) {
		f, ok := fields[k.Value]
		switch {
		case ok:
		case k.Value == "<<":
			d.problems = append(d.problems, aliasProblem(d.at(k), "<<"))
			return
		default:
			d.report(k, CodeKey, "unknown key "+display(k), indentHint(n, k, DidYouMean(k.Value, names)))
			return
		}
		if f.Type == reflect.TypeFor[Obsolete]() {
			gone := d.at(k).Problem(CodeKey, k.Value+" is not read any more", f.Tag.Get("doc"))
			gone.Warning = true
			d.problems = append(d.problems, gone)
			return
		}
		seen[k.Value] = true
		d.value(val, v.FieldByIndex(f.Index), f.Tag, k.Value, depth+1)
	}) {
		return
	}
	var lacks []string
	for _, name := range names {
		_, required := KeyOf(fields[name])
		if required && !seen[name] && (!d.partial || name == "version") {
			lacks = append(lacks, name)
		}
	}
	if len(lacks) > 0 {
		d.problems = append(d.problems, d.head(n).Problem(CodeMissing, key+" lacks "+strings.Join(lacks,
			", "), d.hints[n]))
	}
}

// indentHint is a hint about an unknown key: the key above it may lack its value because what belongs to it
// is not indented.
func indentHint(n, k *yaml.Node, hint string) string {
	for i := 2; i < len(n.Content); i += 2 {
		if above := n.Content[i-2]; n.Content[i] == k && n.Content[i-1].ShortTag() == "!!null" &&
			!strings.HasPrefix(hint, "did you mean") {
			return "indent it by two spaces if it belongs to " + above.Value
		}
	}
	return hint
}

// head returns the place of the first key of a mapping, or of the node itself.
func (d *decoder) head(n *yaml.Node) Place {
	if n.Kind == yaml.MappingNode && len(n.Content) > 0 && n.Style&yaml.FlowStyle == 0 {
		return d.at(n.Content[0])
	}
	return d.at(n)
}

// mapping calls each for each entry.
func (d *decoder) mapping(n *yaml.Node, key string, each func(k, v *yaml.Node)) bool {
	if !d.isMapping(n, key) {
		return false
	}
	for k, v := range pairs(n) {
		if k.Kind == yaml.ScalarNode {
			each(k, v)
		} else {
			d.report(k, CodeType, "a key must be a plain word", "")
		}
	}
	return true
}

func (d *decoder) isMapping(n *yaml.Node, key string) bool {
	if n.Kind != yaml.MappingNode {
		d.report(n, CodeType, key+" must be a list of keys and values", "write key: value")
	}
	return n.Kind == yaml.MappingNode
}

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
