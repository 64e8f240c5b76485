// Package secrets hides secrets in text that is kept or shown: tokens that are known by
// their form, and what stands behind a name such as password. It is pure. What it
// cannot know, such as a password in the middle of a sentence, it leaves.
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

// Mask is s with «masked:KIND:BYTES» for each secret, and how many there were. A
// secret that was one word of a shell line is one word again. What is masked already
// stays, and is not counted again.
func Mask(s string) (masked string, n int) {
	put := func(kind, secret string) string {
		n++
		return token(kind, secret)
	}
	s = Forms(s, put)
	if hasName(strings.ToLower(s)) {
		s = replaceNamed(s, put)
	}
	return s, n
}

const opens = "«masked:"

func token(kind, secret string) string { return fmt.Sprintf(opens+"%s:%d»", kind, len(secret)) }

// What Mask puts. Only kinds of ours count, so that no secret hides in one.
var (
	doneAny    = doneWith("", "")
	doneBegins = doneWith("^", "")
	done       = doneWith("^", "$")
)

func doneWith(before, after string) *regexp.Regexp {
	return regexp.MustCompile(before + opens + `(?:` + strings.Join(kinds(), "|") + `):\d{1,9}»` + after)
}

// IsMasked reports whether a text has had a secret masked.
func IsMasked(s string) bool { return strings.Contains(s, opens) && doneAny.MatchString(s) }

// Forms lets put write something in the place of each secret that is known by its form,
// whatever stands before it.
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

// MaskJSON is a document with the secrets in its texts and in the members of telling names
// masked, and how many these are. Members come out sorted; of a key that comes twice the last one
// counts, as it does for the reader of a call's arguments. The others are gone, and count as
// secrets: doc itself holds them still. The error is for what is no JSON, or more than one value.
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
	n = members(gjson.ParseBytes(doc)) - kept(v)
	v = value("", v, &n)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, 0, fmt.Errorf("mask secrets: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), n, nil
}

// members are how many members all objects in a value have, kept those of objects that have each key once.
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

func kept(v any) (n int) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += kept(e)
		}
	case map[string]any:
		n = len(v)
		for _, e := range v {
			n += kept(e)
		}
	}
	return n
}

// value masks what stands under a name; the elements of a list share it.
func value(name string, v any, n *int) any {
	switch v := v.(type) {
	case string:
		if kind := kindOfValue(name, v); kind != "" {
			*n++
			return token(kind, v)
		}
		masked, k := Mask(v)
		*n += k
		return masked
	case json.Number:
		if kindOfName(name) != "" {
			*n++
			return token(kindOfName(name), v.String())
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

// mostBefore is how many words before an argument are looked at for what it is.
const mostBefore = 8

// maskListWord masks a word of a list that is a secret by the words before it: ["curl", "-u", "me:x"].
func maskListWord(before []any, v any, n *int) any {
	word := text(v)
	if len(before) == 0 || word == "" {
		return v
	}
	if flag := text(before[len(before)-1]); strings.HasPrefix(flag, "-") && word[0] != '-' {
		if kind := kindOfValue(flag, word); kind != "" {
			*n++
			return token(kind, word)
		}
	}
	var line strings.Builder
	for _, b := range before[max(0, len(before)-mostBefore):] {
		line.WriteString(text(b) + " ")
	}
	masked, k := Mask(line.String() + word)
	if rest, same := strings.CutPrefix(masked, line.String()); same && k > 0 {
		*n += k
		return rest
	}
	return v
}
