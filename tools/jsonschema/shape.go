package jsonschema

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// shaped checks the value of a keyword that holds no schemas as the meta-schema of the draft has
// it. A schema that breaks its own meta-schema has no clear meaning.
func (c *source) shaped(obj map[string]any, key, at string) error {
	v := obj[key]
	ok := true
	switch key {
	case "title", "description", "format", "pattern":
		ok = isText(v)
	case "$comment", "contentMediaType", "contentEncoding":
		ok = c.draft < 7 || isText(v)
	case "id":
		ok = c.draft > 4 || isText(v)
	case "$schema":
		ok = isText(v) && isURI(v.(string))
	case "$ref":
		ok = isText(v) && (c.draft == 4 || isReference(v.(string)))
	case "$id":
		ok = c.draft == 4 || isText(v) && isReference(v.(string)) && (c.draft < 2019 ||
			!strings.Contains(strings.TrimSuffix(v.(string), "#"), "#"))
	case "$dynamicRef", "$recursiveRef":
		ok = c.draft < 2019 || key == "$dynamicRef" && c.draft < 2020 || isText(v) && isReference(v.(string))
	case "$anchor", "$dynamicAnchor":
		ok = c.draft < 2019 || key == "$dynamicAnchor" && c.draft < 2020 || isText(v) &&
			anchorName(v.(string), c.draft)
	case "$recursiveAnchor":
		ok = c.draft < 2019 || c.draft == 2019 && isBool(v) || c.draft == 2020 && isText(v) &&
			anchorName(v.(string), c.draft)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		ok = isCount(v)
	case "minContains", "maxContains":
		ok = c.draft < 2019 || isCount(v)
	case "minimum", "maximum":
		ok = number(v) != nil
	case "exclusiveMinimum", "exclusiveMaximum":
		_, other := obj[strings.ToLower(strings.TrimPrefix(key, "exclusive"))]
		ok = c.draft == 4 && isBool(v) && other || c.draft > 4 && number(v) != nil
	case "multipleOf":
		n := number(v)
		ok = n != nil && n.Sign() > 0
	case "uniqueItems":
		ok = isBool(v)
	case "readOnly", "writeOnly":
		ok = c.draft < 7 || isBool(v)
	case "deprecated":
		ok = c.draft < 2019 || isBool(v)
	case "examples":
		ok = c.draft < 7 || isList(v)
	case "enum":
		list, _ := v.([]any)
		ok = isList(v) && (c.draft >= 2019 || len(list) > 0 && unique(list))
	case "type":
		ok = isType(v)
	case "required":
		ok = c.names(v)
	case "dependentRequired":
		ok = c.draft < 2019 || isObject(v, c.names)
	case "$vocabulary":
		ok = c.draft < 2019 || isObject(v, isBool)
	}
	if !ok {
		return wrong(at+"/"+escape(key), "the draft forbids this value")
	}
	return nil
}

func isText(v any) bool { _, ok := v.(string); return ok }
func isBool(v any) bool { _, ok := v.(bool); return ok }
func isList(v any) bool { _, ok := v.([]any); return ok }

func isObject(v any, each func(any) bool) bool {
	all, ok := v.(map[string]any)
	for _, e := range all {
		ok = ok && each(e)
	}
	return ok
}

func isCount(v any) bool {
	n := number(v)
	return n != nil && n.IsInt() && n.Sign() >= 0
}

func isType(v any) bool {
	known := func(v any) bool { name, ok := v.(string); return ok && slices.Contains(typeNames, name) }
	list, ok := v.([]any)
	if !ok {
		return known(v)
	}
	return len(list) > 0 && unique(list) && !slices.ContainsFunc(list, func(e any) bool { return !known(e) })
}

// names reports whether a value is a list of names, each of them once.
func (c *source) names(v any) bool {
	list, ok := v.([]any)
	return ok && (c.draft > 4 || len(list) > 0) && unique(list) &&
		!slices.ContainsFunc(list, func(e any) bool { return !isText(e) })
}

func anchorName(name string, draft int) bool {
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' && (i > 0 || draft >= 2020)
		if !letter && (i == 0 || !strings.ContainsRune("-0123456789.", r) && (r != ':' || draft >= 2020)) {
			return false
		}
	}
	return name != ""
}

// lenient takes ECMAScript patterns that Go cannot express, such as look-ahead, as matching
// everything, so that the rest of the schema stays in force.
func lenient(pattern string) *regexp.Regexp {
	if re, err := regexp.Compile(pattern); err == nil {
		return re
	}
	return regexp.MustCompile("")
}

// address is a text as a URL, if it is one.
func address(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		return nil
	}
	if host := u.Hostname(); strings.Contains(host, ":") && (!strings.Contains(u.Host, "[") ||
		!isIPv6(host)) {
		return nil
	}
	return u
}
