package jsonschema

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strconv"
)

// build makes the schema of a part, once. Schemas may refer in circles.
func (c *source) build(at string) (*Schema, error) {
	if s := c.built[at]; s != nil {
		return s, nil
	}
	v, ok := c.look(at)
	if !ok {
		return nil, wrong(at, "there is no such part")
	}
	if err := c.collect(v, at); err != nil {
		return nil, err
	}
	s := &Schema{Draft: c.draft}
	c.built[at] = s
	switch v := v.(type) {
	case bool:
		s.Bool = &v
	case map[string]any:
		if len(v) == 0 {
			yes := true
			s.Bool = &yes
			break
		}
		b := builder{source: c, obj: v, at: at}
		b.into(s)
		return s, b.err
	}
	return s, nil
}

// builder reads the keywords of one part. After an error it reads nothing more.
type builder struct {
	*source
	obj map[string]any
	at  string
	err error
}

func (b *builder) into(s *Schema) {
	s.Nullable = b.obj["nullable"] == true
	if s.Ref = b.reference("$ref"); s.Ref != nil && b.draft < 2019 {
		return // what stands beside a reference says nothing in old drafts
	}
	s.AllOf, s.AnyOf, s.OneOf, s.Not = b.many("allOf"), b.many("anyOf"), b.many("oneOf"), b.one("not")
	b.values(s)
	b.objects(s)
	b.lists(s)
	if _, ok := b.obj["if"]; ok && b.draft >= 7 {
		s.If = b.one("if")
		if b.obj["if"] != false {
			s.Then = b.one("then")
		}
		if b.obj["if"] != true {
			s.Else = b.one("else")
		}
	}
	if b.draft >= 2020 {
		s.RefDyn = b.reference("$dynamicRef")
	}
	if b.draft >= 2019 && s.RefDyn == nil {
		s.RefDyn = b.reference("$recursiveRef")
	}
	if s.RefDyn != nil && len(b.resources) > 2 {
		b.err = cmp.Or(b.err, errUnreadable) // which part it means depends on the way to it
	}
}

func (b *builder) values(s *Schema) {
	for _, name := range typeNames {
		if said := b.obj["type"]; said == name || isList(said) && slices.Contains(said.([]any), any(name)) {
			s.Types = append(s.Types, name)
		}
	}
	s.Enum, _ = b.obj["enum"].([]any)
	if v, ok := b.obj["const"]; ok && b.draft >= 6 {
		s.Const = &v
	}
	if name, ok := b.obj["format"].(string); ok && b.draft < 2019 { // later drafts do not check them
		s.Format, s.format = name, formatOf(name)
	}
	if text, ok := b.obj["pattern"].(string); ok {
		s.Pattern = lenient(text)
	}
	s.MinLength, s.MaxLength = b.count("minLength"), b.count("maxLength")
	s.Minimum, s.Above = b.limit("minimum", "exclusiveMinimum")
	s.Maximum, s.Below = b.limit("maximum", "exclusiveMaximum")
	s.MultipleOf = number(b.obj["multipleOf"])
}

// limit reads a limit and the one that is not allowed itself. In draft 4 they are one number.
func (b *builder) limit(with, without string) (*big.Rat, *big.Rat) {
	n := number(b.obj[with])
	if b.obj[without] == true {
		return nil, n
	}
	return n, number(b.obj[without])
}

func (b *builder) objects(s *Schema) {
	s.MinProperties, s.MaxProperties = b.count("minProperties"), b.count("maxProperties")
	s.Required = texts(b.obj["required"])
	s.Properties = b.named("properties")
	patterns := b.named("patternProperties")
	for _, name := range slices.Sorted(maps.Keys(patterns)) {
		s.PatternProperties = append(s.PatternProperties, Pattern{lenient(name), patterns[name]})
	}
	if s.Closed = b.obj["additionalProperties"] == false; !s.Closed {
		s.Others = b.one("additionalProperties")
	}
	all, _ := b.obj["dependencies"].(map[string]any)
	b.depend(s, "dependency", "dependencies", all)
	if b.draft >= 6 {
		s.PropertyNames = b.one("propertyNames")
	}
	if b.draft >= 2019 {
		all, _ := b.obj["dependentSchemas"].(map[string]any)
		b.depend(s, "", "dependentSchemas", all)
		all, _ = b.obj["dependentRequired"].(map[string]any)
		b.depend(s, "dependentRequired", "dependentRequired", all)
		s.UnevaluatedProperties = b.one("unevaluatedProperties")
	}
}

func (b *builder) depend(s *Schema, said, keyword string, all map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d := Dependency{Keyword: said, Property: name}
		if isList(all[name]) {
			d.Names = texts(all[name])
		} else {
			d.Schema = b.part(keyword, name)
		}
		s.Dependencies = append(s.Dependencies, d)
	}
}

func (b *builder) lists(s *Schema) {
	s.MinItems, s.MaxItems = b.count("minItems"), b.count("maxItems")
	s.UniqueItems = b.obj["uniqueItems"] == true
	tuple := isList(b.obj["items"])
	switch {
	case b.draft >= 2020:
		s.PrefixItems, s.Items = b.many("prefixItems"), b.one("items")
	case tuple && b.obj["additionalItems"] == false:
		s.PrefixItems, s.NoMoreItems = b.many("items"), true
	case tuple:
		s.PrefixItems, s.Items = b.many("items"), b.one("additionalItems")
	default:
		s.Items = b.one("items")
	}
	if b.draft >= 6 {
		s.Contains = b.one("contains")
	}
	if b.draft >= 2019 {
		if s.Contains != nil {
			s.MinContains, s.MaxContains = b.count("minContains"), b.count("maxContains")
		}
		s.UnevaluatedItems = b.one("unevaluatedItems")
	}
}

func (b *builder) reference(keyword string) *Schema {
	ref, ok := b.obj[keyword].(string)
	if !ok || b.err != nil {
		return nil
	}
	s, err := b.refer(ref, b.at)
	b.err = err
	return s
}

// part is the schema below this one that lies at the keys.
func (b *builder) part(keys ...string) *Schema {
	if b.err != nil {
		return nil
	}
	at := b.at
	for _, key := range keys {
		at += "/" + escape(key)
	}
	s, err := b.build(at)
	b.err = err
	return s
}

func (b *builder) one(keyword string) *Schema {
	if _, ok := b.obj[keyword]; !ok {
		return nil
	}
	return b.part(keyword)
}

func (b *builder) many(keyword string) (out []*Schema) {
	list, _ := b.obj[keyword].([]any)
	for i := range list {
		out = append(out, b.part(keyword, strconv.Itoa(i)))
	}
	return out
}

func (b *builder) named(keyword string) map[string]*Schema {
	all, ok := b.obj[keyword].(map[string]any)
	if !ok {
		return nil
	}
	out := make(map[string]*Schema, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out[name] = b.part(keyword, name)
	}
	return out
}

func (b *builder) count(keyword string) *int {
	n := number(b.obj[keyword])
	if n == nil || !n.IsInt() {
		return nil
	}
	i := int(n.Num().Int64())
	return &i
}

func texts(v any) (out []string) {
	list, _ := v.([]any)
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
