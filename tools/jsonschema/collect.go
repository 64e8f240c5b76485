package jsonschema

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// source is a document of schemas. Its parts are named by JSON pointers.
type source struct {
	doc       any
	draft     int
	bases     map[string]*url.URL // the address of each part that has one of its own
	resources map[string]string   // the part by its address
	anchors   map[string]string   // the part by address#name
	collected map[string]bool
	built     map[string]*Schema
}

func compile(doc any) (*Schema, error) {
	base, err := url.Parse(place)
	if err != nil {
		return nil, err
	}
	c := &source{doc: doc, draft: 2020, bases: map[string]*url.URL{"": base},
		resources: map[string]string{place: ""},
		anchors:   map[string]string{}, collected: map[string]bool{}, built: map[string]*Schema{}}
	if obj, ok := doc.(map[string]any); ok {
		if said, ok := obj["$schema"].(string); ok {
			if c.draft = draftOf(said); c.draft == 0 {
				return nil, errUnreadable
			}
		}
	}
	if err := c.collect(doc, ""); err != nil {
		return nil, err
	}
	return c.build("")
}

func draftOf(address string) int {
	address = strings.TrimSuffix(address, "#")
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		return 0
	}
	return drafts[rest]
}

// held is what a keyword holds that has schemas in it.
type held int

const (
	one         held = iota
	oneOrBool        // draft 4 knows no boolean schemas but here
	many             // a list of schemas
	oneOrMany        // a schema or a list
	named            // an object of schemas
	namedOrList      // an object of schemas and of lists of names
)

// holders are the keywords that hold schemas, with the first and the last draft that knows
// them; 0: the last there is.
var holders = map[string]struct {
	since, until int
	held
}{
	"definitions": {4, 0, named}, "not": {4, 0, one}, "allOf": {4, 0, many}, "anyOf": {4, 0, many}, "oneOf": {4, 0, many},
	"properties": {4, 0, named}, "patternProperties": {4, 0, named}, "additionalProperties": {4, 0, oneOrBool}, "dependencies": {4, 0, namedOrList},
	"items": {4, 0, oneOrMany}, "additionalItems": {4, 2019, oneOrBool},
	"contains": {6, 0, one}, "propertyNames": {6, 0, one},
	"if": {7, 0, one}, "then": {7, 0, one}, "else": {7, 0, one},
	"$defs": {2019, 0, named}, "dependentSchemas": {2019, 0, named}, "contentSchema": {2019, 0, one},
	"unevaluatedItems": {2019, 0, one}, "unevaluatedProperties": {2019, 0, one},
	"prefixItems": {2020, 0, many},
}

// collect notes the addresses and names in a part and in the parts below, and checks that all of
// them are schemas.
func (c *source) collect(v any, at string) error {
	if c.collected[at] {
		return nil
	}
	c.collected[at] = true
	obj, ok := v.(map[string]any)
	if !ok {
		if _, isBool := v.(bool); isBool && c.draft > 4 {
			return nil
		}
		return wrong(at, "it is no schema")
	}
	if err := c.address(obj, at); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(obj)) {
		if err := c.shaped(obj, key, at); err != nil {
			return err
		}
		h, ok := holders[key]
		if !ok || c.draft < h.since || h.until > 0 && c.draft > h.until {
			continue
		}
		if err := c.below(h.held, obj[key], at+"/"+escape(key)); err != nil {
			return err
		}
	}
	return nil
}

// below collects what a keyword holds.
func (c *source) below(h held, v any, at string) error {
	list, isList := v.([]any)
	switch {
	case h == many || h == oneOrMany && isList && c.draft < 2020:
		if len(list) == 0 {
			return wrong(at, "it is no list of schemas")
		}
		for i, e := range list {
			if err := c.collect(e, at+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
		return nil
	case h == named || h == namedOrList:
		all, ok := v.(map[string]any)
		if !ok {
			return wrong(at, "it is no object")
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if _, isList := all[name].([]any); isList && h == namedOrList {
				if !c.names(all[name]) {
					return wrong(at+"/"+escape(name), "it is no list of names")
				}
			} else if err := c.collect(all[name], at+"/"+escape(name)); err != nil {
				return err
			}
		}
		return nil
	case h == oneOrBool:
		if _, ok := v.(bool); ok {
			c.collected[at] = true
			return nil
		}
	}
	return c.collect(v, at)
}

// address notes by what a part can be referred to.
func (c *source) address(obj map[string]any, at string) error {
	base := c.base(at)
	if said, ok := obj["$schema"].(string); ok && draftOf(said) == 0 {
		return errUnreadable
	}
	old := c.draft < 2019
	key := "$id"
	if c.draft == 4 {
		key = "id"
	}
	_, refers := obj["$ref"]
	id, _ := obj[key].(string)
	if old && refers {
		return nil // what stands beside a reference says nothing in old drafts
	}
	if id != "" {
		said, err := base.Parse(id)
		if err != nil {
			return fmt.Errorf("%s: %w", cmp.Or(at, "/"), err)
		}
		name := said.Fragment
		said.Fragment, said.RawFragment = "", ""
		if !strings.HasPrefix(id, "#") {
			if other, ok := obj["$schema"].(string); ok && draftOf(other) != c.draft {
				return errUnreadable
			}
			if known, ok := c.resources[said.String()]; ok && known != at {
				return wrong(at, "its id is that of another part")
			}
			base = said
			c.bases[at], c.resources[said.String()] = said, at
		}
		if old && name != "" && name[0] != '/' {
			if err := c.name(base, name, at); err != nil {
				return err
			}
		}
	}
	if name, ok := obj["$anchor"].(string); ok && !old {
		if err := c.name(base, name, at); err != nil {
			return err
		}
	}
	if name, ok := obj["$dynamicAnchor"].(string); ok && c.draft >= 2020 {
		return c.name(base, name, at)
	}
	return nil
}

func (c *source) name(base *url.URL, name, at string) error {
	key := base.String() + "#" + name
	if known, ok := c.anchors[key]; ok && known != at {
		return wrong(at, "its anchor is that of another part")
	}
	c.anchors[key] = at
	return nil
}

// base is the address of the part around a part.
func (c *source) base(at string) *url.URL {
	for {
		if base := c.bases[at]; base != nil {
			return base
		}
		at = at[:strings.LastIndexByte(at, '/')]
	}
}

// refer is the part that a reference in a part means.
func (c *source) refer(ref, at string) (*Schema, error) {
	to, err := c.base(at).Parse(ref)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmp.Or(at, "/"), err)
	}
	fragment := to.Fragment
	to.Fragment, to.RawFragment = "", ""
	found, ok := c.resources[to.String()]
	switch {
	case !ok && draftOf(to.String()) > 0:
		yes := true
		return &Schema{Draft: c.draft, Bool: &yes}, nil // an argument that is a schema may say anything
	case !ok:
		return nil, errUnreadable
	case strings.HasPrefix(fragment, "/"):
		found += fragment
	case fragment != "":
		if found, ok = c.anchors[to.String()+"#"+fragment]; !ok {
			return nil, wrong(at, "it refers to nothing")
		}
	}
	return c.build(found)
}

// look is the value at a pointer.
func (c *source) look(at string) (any, bool) {
	v := c.doc
	if at == "" {
		return v, true
	}
	for part := range strings.SplitSeq(at[1:], "/") {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		switch in := v.(type) {
		case map[string]any:
			e, ok := in[part]
			if !ok {
				return nil, false
			}
			v = e
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, true
}

func escape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

func wrong(at, why string) error { return fmt.Errorf("%s: %s", cmp.Or(at, "/"), why) }
