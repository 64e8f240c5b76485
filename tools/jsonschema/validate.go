package jsonschema

import (
	"maps"
	"math/big"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Faults are what is wrong with a value, made of nil, bool, json.Number, string, []any and
// map[string]any; none: it is right.
func (s *Schema) Faults(v any) []Fault { return (&check{}).self(s, v, nil) }

// Accepts reports whether a value is right. It is quicker than to ask for all faults.
func (s *Schema) Accepts(v any) bool { return len((&check{quick: true}).self(s, v, nil)) == 0 }

// check is the work on one value. It checks the value against several schemas in turn.
type check struct {
	quick  bool      // one fault is enough, and where it lies says nothing
	at     []string  // where the value lies
	active []*Schema // those that it is being checked against
}

// seen are the properties and elements that some schema has said something about. Only the
// keywords unevaluated… need them; without these keywords, it is nil.
type seen struct {
	names map[string]bool
	items map[int]bool
}

func (n *seen) add(other *seen) {
	if n != nil {
		maps.Copy(n.names, other.names)
		maps.Copy(n.items, other.items)
	}
}

func newSeen() *seen { return &seen{map[string]bool{}, map[int]bool{}} }

func (c *check) fault(keyword string) Fault { return Fault{At: slices.Clone(c.at), Keyword: keyword} }

// child checks a value that lies in this one.
func (c *check) child(s *Schema, v any, key string) []Fault {
	in := check{quick: c.quick}
	if !c.quick {
		in.at = append(slices.Clip(c.at), key)
	}
	return in.self(s, v, nil)
}

// try reports whether the value itself fits another schema, whatever is wrong with it.
func (c *check) try(s *Schema, v any, n *seen) bool {
	in := check{quick: true, at: c.at, active: c.active}
	return len(in.also(s, v, n)) == 0
}

// also checks the value itself against another schema. What that has seen counts only where it fits.
func (c *check) also(s *Schema, v any, n *seen) []Fault {
	if n == nil {
		return c.self(s, v, nil)
	}
	own := newSeen()
	faults := c.self(s, v, own)
	if len(faults) == 0 {
		n.add(own)
	}
	return faults
}

// self checks the value against s, and notes in n what s has seen of it.
func (c *check) self(s *Schema, v any, n *seen) []Fault {
	if s.Bool != nil {
		if *s.Bool {
			return nil
		}
		return []Fault{c.fault("")}
	}
	if v == nil && s.Nullable {
		return nil
	}
	if slices.Contains(c.active, s) {
		return []Fault{c.fault("")} // it refers to itself, and to nothing else
	}
	c.active = append(c.active, s)
	defer func() { c.active = c.active[:len(c.active)-1] }()
	if n == nil && (s.UnevaluatedItems != nil || s.UnevaluatedProperties != nil) {
		n = newSeen()
	}
	if f, ok := c.alone(s, v); !ok {
		return []Fault{f}
	}
	var out []Fault
	for _, step := range [...]func(*Schema, any, *seen) []Fault{c.reference, c.value, c.combined, c.unseen} {
		out = append(out, step(s, v, n)...)
		if c.quick && len(out) > 0 || s.Ref != nil && s.Draft < 2019 {
			break
		}
	}
	return out
}

// alone checks what, if it is wrong, is all there is to say.
func (c *check) alone(s *Schema, v any) (Fault, bool) {
	t := typeOf(v)
	if s.Types != nil && !slices.Contains(s.Types, t) &&
		!(t == "number" && slices.Contains(s.Types, "integer") && isWhole(v)) {
		f := c.fault("type")
		f.Types, f.Got = s.Types, t
		return f, false
	}
	if s.Const != nil && !equal(v, *s.Const) {
		f := c.fault("const")
		f.Want = []any{*s.Const}
		return f, false
	}
	if s.Enum != nil && !slices.ContainsFunc(s.Enum, func(e any) bool { return equal(v, e) }) {
		f := c.fault("enum")
		f.Want = s.Enum
		return f, false
	}
	if text, ok := v.(string); ok && s.format != nil && !s.format(text) {
		f := c.fault("format")
		f.Bound = s.Format
		return f, false
	}
	return Fault{}, true
}

func isWhole(v any) bool {
	n := number(v)
	return n != nil && n.IsInt()
}

func (c *check) reference(s *Schema, v any, n *seen) (out []Fault) {
	if s.Ref != nil {
		out = c.also(s.Ref, v, n)
	}
	if s.RefDyn != nil {
		out = append(out, c.also(s.RefDyn, v, n)...)
	}
	return out
}

// value checks what is about one type of value.
func (c *check) value(s *Schema, v any, n *seen) []Fault {
	switch v := v.(type) {
	case map[string]any:
		return c.object(s, v, n)
	case []any:
		return c.list(s, v, n)
	case string:
		return c.text(s, v)
	}
	limited := s.Minimum != nil || s.Maximum != nil || s.Above != nil || s.Below != nil || s.MultipleOf != nil
	if !limited {
		return nil
	}
	if x := number(v); x != nil {
		return c.faults(s, "minimum", s.Minimum != nil && x.Cmp(s.Minimum) < 0, "maximum", s.Maximum != nil &&
			x.Cmp(s.Maximum) > 0,
			"exclusiveMinimum", s.Above != nil && x.Cmp(s.Above) <= 0, "exclusiveMaximum", s.Below != nil &&
				x.Cmp(s.Below) >= 0,
			"multipleOf", s.MultipleOf != nil && !x.Quo(x, s.MultipleOf).IsInt())
	}
	return nil
}

// faults are those of the keywords behind which true stands.
func (c *check) faults(s *Schema, pairs ...any) (out []Fault) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == true {
			f := c.fault(pairs[i].(string))
			f.Bound = s.bound(f.Keyword)
			out = append(out, f)
		}
	}
	return out
}

// bound is what a keyword bounds a value by.
func (s *Schema) bound(keyword string) string {
	if keyword == "pattern" {
		return s.Pattern.String()
	}
	counts := map[string]*int{
		"minLength": s.MinLength, "maxLength": s.MaxLength, "minItems": s.MinItems, "maxItems": s.MaxItems,
		"minContains": s.MinContains, "maxContains": s.MaxContains, "minProperties": s.MinProperties,
		"maxProperties": s.MaxProperties,
	}
	if n := counts[keyword]; n != nil {
		return strconv.Itoa(*n)
	}
	numbers := map[string]*big.Rat{
		"minimum": s.Minimum, "maximum": s.Maximum, "exclusiveMinimum": s.Above, "exclusiveMaximum": s.Below,
		"multipleOf": s.MultipleOf,
	}
	n := numbers[keyword]
	switch {
	case n == nil:
		return ""
	case n.IsInt() && n.Num().BitLen() <= 64:
		return n.Num().String()
	}
	near, _ := n.Float64()
	return strconv.FormatFloat(near, 'g', -1, 64)
}

func (c *check) text(s *Schema, v string) []Fault {
	n := 0
	if s.MinLength != nil || s.MaxLength != nil {
		n = utf8.RuneCountInString(v)
	}
	return c.faults(s, "minLength", s.MinLength != nil && n < *s.MinLength, "maxLength", s.MaxLength != nil &&
		n > *s.MaxLength,
		"pattern", s.Pattern != nil && !s.Pattern.MatchString(v))
}

func (c *check) list(s *Schema, v []any, n *seen) []Fault {
	out := c.faults(s, "minItems", s.MinItems != nil && len(v) < *s.MinItems, "maxItems", s.MaxItems != nil &&
		len(v) > *s.MaxItems,
		"uniqueItems", s.UniqueItems && !unique(v), "additionalItems", s.NoMoreItems &&
			len(v) > len(s.PrefixItems))
	for i, e := range v {
		item := s.Items
		if i < len(s.PrefixItems) {
			item = s.PrefixItems[i]
		}
		if item == nil {
			break
		}
		if n != nil {
			n.items[i] = true
		}
		if out = append(out, c.child(item, e, strconv.Itoa(i))...); c.quick && len(out) > 0 {
			return out
		}
	}
	if s.Contains == nil {
		return out
	}
	var misses []Fault
	hits := 0
	for i, e := range v {
		if faults := c.child(s.Contains, e, strconv.Itoa(i)); len(faults) > 0 {
			misses = append(misses, faults...)
			continue
		}
		if hits++; n != nil && s.Draft >= 2020 {
			n.items[i] = true
		}
	}
	least, keyword := 1, "contains"
	if s.MinContains != nil {
		least, keyword = *s.MinContains, "minContains"
	}
	if hits < least && len(misses) == 0 {
		misses = c.faults(s, keyword, true)
	}
	if hits < least {
		out = append(out, misses...)
	}
	return append(out, c.faults(s, "maxContains", s.MaxContains != nil && hits > *s.MaxContains)...)
}

// combined checks what other schemas say of the value.
func (c *check) combined(s *Schema, v any, n *seen) (out []Fault) {
	if s.If != nil {
		if c.try(s.If, v, n) {
			if s.Then != nil {
				out = c.also(s.Then, v, n)
			}
		} else if s.Else != nil {
			out = c.also(s.Else, v, n)
		}
	}
	if s.Not != nil && c.try(s.Not, v, nil) {
		out = append(out, c.fault(""))
	}
	for _, part := range s.AllOf {
		out = append(out, c.also(part, v, n)...)
	}
	if len(s.AnyOf) > 0 && c.fitting(s.AnyOf, v, n, 1) == 0 {
		out = append(out, c.fault("anyOf"))
	}
	if len(s.OneOf) > 0 && c.fitting(s.OneOf, v, n, 2) != 1 {
		out = append(out, c.fault("oneOf"))
	}
	return out
}

// fitting is how many of the schemas the value fits. It stops at enough of them, unless the
// others may have seen something, too.
func (c *check) fitting(all []*Schema, v any, n *seen, enough int) (hits int) {
	for _, part := range all {
		if c.try(part, v, n) {
			hits++
		}
		if hits == enough && n == nil {
			break
		}
	}
	return hits
}

// unseen checks what no other schema has said anything about.
func (c *check) unseen(s *Schema, v any, n *seen) (out []Fault) {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			if s.UnevaluatedProperties != nil && !n.names[name] {
				n.names[name] = true
				out = append(out, c.child(s.UnevaluatedProperties, v[name], name)...)
			}
		}
	case []any:
		for i := range v {
			if s.UnevaluatedItems != nil && !n.items[i] {
				n.items[i] = true
				out = append(out, c.child(s.UnevaluatedItems, v[i], strconv.Itoa(i))...)
			}
		}
	}
	return out
}
