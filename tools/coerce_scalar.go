package tools

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// thousands matches a number grouped by commas.
var thousands = regexp.MustCompile(`^-?\d{1,3}(,\d{3})+(\.\d+)?$`)

// zeros matches a fraction of zeros.
var zeros = regexp.MustCompile(`\.0+$`)

// readings lists other values that a scalar may stand for, likeliest first. None changes its meaning;
// the schema decides.
func readings(s *Schema, raw string) []string {
	v := gjson.Parse(raw)
	switch v.Type {
	case gjson.Number:
		whole := zeros.ReplaceAllString(raw, "")
		out := []string{whole, jsontext.Quote(raw)}
		switch whole {
		case "1":
			out = append(out, "true")
		case "0":
			out = append(out, "false")
		}
		return out
	case gjson.True, gjson.False:
		return []string{jsontext.Quote(raw)}
	case gjson.String:
		return ofText(s, strings.TrimSpace(v.String()))
	}
	return nil
}

// ofText lists what a string may stand for if s wants no such string.
func ofText(s *Schema, text string) []string {
	out := choices(s, text)
	switch strings.ToLower(text) {
	case "true", "yes":
		return append(out, "true")
	case "false", "no":
		return append(out, "false")
	case "null", "none":
		return append(out, "null")
	}
	if thousands.MatchString(text) {
		text = strings.ReplaceAll(text, ",", "")
	}
	if json.Valid([]byte(text)) && gjson.Parse(text).Type == gjson.Number {
		out = append(out, zeros.ReplaceAllString(text, ""), text)
	}
	return out
}

// choices returns the one value of an enum or const that equals text but for case.
func choices(s *Schema, text string) []string {
	values := slices.Clone(s.Enum)
	if s.Const != nil {
		values = append(values, *s.Const)
	}
	var out []string
	for _, v := range values {
		if word, ok := v.(string); ok && strings.EqualFold(strings.TrimSpace(word), text) {
			out = append(out, jsontext.Quote(word))
		}
	}
	if len(out) > 1 {
		return nil
	}
	return out
}
