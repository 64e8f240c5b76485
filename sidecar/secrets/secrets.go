// Package secrets masks secrets in text that is stored or shown: tokens by their form, and values by
// names such as password. It is pure. It does not find a password in the middle of a sentence.
package secrets

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
)

// Mask replaces each secret by «masked:KIND:BYTES» and returns how many there were. A secret that was
// one word of a shell line is one word again. Masks are kept and not counted.
func Mask(s string) (masked string, n int) {
	put := func(kind, secret string) string {
		n++
		return mask(kind, secret)
	}
	s = Forms(s, put)
	if hasName(strings.ToLower(s)) {
		s = replaceNamed(s, put)
	}
	return s, n
}

const maskPrefix = "«masked:"

func mask(kind, secret string) string { return fmt.Sprintf(maskPrefix+"%s:%d»", kind, len(secret)) }

// Masks. Only the known kinds count, so that no secret hides in one.
var (
	maskAnywhere = maskPattern("", "")
	maskAtStart  = maskPattern("^", "")
	maskOnly     = maskPattern("^", "$")
)

func maskPattern(before, after string) *regexp.Regexp {
	return regexp.MustCompile(before + maskPrefix + `(?:` + strings.Join(kinds(), "|") + `):\d{1,9}»` + after)
}

// IsMasked reports whether a text has a mask.
func IsMasked(s string) bool { return strings.Contains(s, maskPrefix) && maskAnywhere.MatchString(s) }

// Forms lets put replace each secret that is found by its form.
func Forms(s string, put func(kind, secret string) string) string {
	lower := strings.ToLower(s)
	has := pairsOf(lower)
	for i := range forms {
		if f := &forms[i]; f.mayBeIn(lower, has) {
			s = f.replace(s, put)
		}
	}
	return s
}

// MaskJSON masks secrets in the texts of a document and in members with names of secrets, and returns
// how many there were. Members are sorted; of a repeated key the last one counts, as for the reader of
// a call's arguments. The others are dropped and count as secrets: doc still has them. It is an error
// if doc is not exactly one JSON value.
func MaskJSON(doc []byte) (masked []byte, n int, err error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, 0, fmt.Errorf("mask secrets: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, 0, errors.New("mask secrets: something follows the value")
	}
	n = members(gjson.ParseBytes(doc)) - distinctMembers(v)
	v = value("", v, &n)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, 0, fmt.Errorf("mask secrets: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), n, nil
}

// members counts the members of all objects in a value.
func members(v gjson.Result) (n int) {
	object := v.IsObject()
	if !object && !v.IsArray() {
		return 0
	}
	v.ForEach(func(_, e gjson.Result) bool {
		if object {
			n++
		}
		n += members(e)
		return true
	})
	return n
}

// distinctMembers counts them with each key once.
func distinctMembers(v any) (n int) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += distinctMembers(e)
		}
	case map[string]any:
		n = len(v)
		for _, e := range v {
			n += distinctMembers(e)
		}
	}
	return n
}

// value masks a value under a name; the elements of a list share it.
func value(name string, v any, n *int) any {
	switch v := v.(type) {
	case string:
		if kind := kindOfValue(name, v); kind != "" {
			*n++
			return mask(kind, v)
		}
		masked, k := Mask(v)
		*n += k
		return masked
	case json.Number:
		if kindOfName(name) != "" {
			*n++
			return mask(kindOfName(name), v.String())
		}
	case []any:
		for i := range v {
			v[i] = value(name, v[i], n)
			v[i] = maskListWord(v[:i], v[i], n)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, inner := range v {
			as := key
			if key == "value" { // of {"name": "DB_PASSWORD", "value": …} and {"password": {"value": …}}
				as = cmp.Or(text(v["name"]), text(v["key"]), name, key)
			}
			key, k := Mask(key)
			*n += k
			out[key] = value(as, inner, n)
		}
		return out
	}
	return v
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// maxWordsBefore is how many words before an argument are examined.
const maxWordsBefore = 8

// maskListWord masks a word of a list that is a secret by the words before it: ["curl", "-u", "me:x"].
func maskListWord(before []any, v any, n *int) any {
	word := text(v)
	if len(before) == 0 || word == "" {
		return v
	}
	if flag := text(before[len(before)-1]); strings.HasPrefix(flag, "-") && word[0] != '-' {
		if kind := kindOfValue(flag, word); kind != "" {
			*n++
			return mask(kind, word)
		}
	}
	var line strings.Builder
	for _, b := range before[max(0, len(before)-maxWordsBefore):] {
		line.WriteString(text(b) + " ")
	}
	masked, k := Mask(line.String() + word)
	if rest, same := strings.CutPrefix(masked, line.String()); same && k > 0 {
		*n += k
		return rest
	}
	return v
}
