package jsonschema

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func valueOf(t testing.TB, text string) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

const draft7 = `{"$schema":"http://json-schema.org/draft-07/schema#",`

// What is special about one keyword or one draft. Most of the rest is for the library to say.
func TestFaults(t *testing.T) {
	const tree = `{"$defs":{"tree":{"$id":"T0","properties":{"sub":{"$ref":"T0"},"n":{"type":"integer"}}}},"$ref":"T0"}`
	for _, row := range []struct{ schema, value, want string }{
		{`{"type":["integer","null"]}`, `1.0`, ``},
		{`{"type":"integer"}`, `1.5`, ` type[] [] [integer]number`},
		{tree, `{"sub":{"sub":{"n":"x"}}}`, `sub/sub/n type[] [] [integer]string`},
		{`{"items":{"required":["a","b"]}}`, `[{},{"a":1,"b":2},{"b":1}]`, `0 required[a b] [] [];2 required[a] [] []`},
		{`{"additionalProperties":false,"patternProperties":{"^x":true}}`, `{"xa":1,"c":1,"b":1}`, ` additionalProperties[b c] [] []`},
		{`{"anyOf":[{"type":"string"},{"required":["a"]}]}`, `{}`, ` anyOf[] [] []`},
		{`{"allOf":[{"properties":{"a":{"const":1}}},{"required":["b"]}]}`, `{"a":2}`, ` required[b] [] [];a const[] [1] []`},
		{`{"properties":{"a":true},"unevaluatedProperties":false}`, `{"a":1,"b":1}`, `b [] [] []`},
		{`{"$ref":"#/$defs/loop","$defs":{"loop":{"$ref":"#/$defs/loop"}}}`, `1`, ` [] [] []`},
		{`{"minimum":1e-5000,"maximum":9}`, `1e99999999`, ` maximum[] [] []`},
		{`{"minimum":0}`, `-1e999999`, ` minimum[] [] []`},
		{`{"enum":[10e400]}`, `10E400`, ``},
		{`{"format":"date"}`, `"tomorrow"`, ``},
		{draft7 + `"format":"date"}`, `"tomorrow"`, ` format[] [] []`},
		{draft7 + `"items":[true],"additionalItems":false}`, `[1,2]`, ` additionalItems[] [] []`},
		{draft7 + `"$ref":"#/definitions/a","minimum":5,"definitions":{"a":{"type":"integer"}}}`, `1`, ``},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, `1`, ` exclusiveMinimum[] [] []`},
		// a schema may say anything here
		{draft7 + `"$ref":"http://json-schema.org/draft-07/schema#"}`, `{"type":1}`, ``},
	} {
		s, err := Compile([]byte(row.schema))
		if err != nil {
			t.Errorf("%s: %v", row.schema, err)
			continue
		}
		var words []string
		for _, f := range s.Faults(valueOf(t, row.value)) {
			words = append(words, inWords(f))
		}
		if got := strings.Join(sorted(words), ";"); got != row.want {
			t.Errorf("%s of %s:\n%s, want\n%s", row.schema, row.value, got, row.want)
		}
	}
}

func TestNotCompiled(t *testing.T) {
	for _, row := range []struct {
		schema     string
		unreadable bool // it may be right, but is not understood
	}{
		{``, false}, {`{}{}`, false}, {`1`, false}, {`{"type":"text"}`, false}, {`{"required":"a"}`, false}, {`{"properties":{"a":[]}}`, false},
		{`{"$ref":"#/$defs/none"}`, false}, {`{"$ref":"#none"}`, false}, {`{"items":[true]}`, false}, {`{"minLength":-1}`, false},
		{`{"$ref":"https://example.com/schema"}`, true}, {`{"$schema":"https://example.com/mine"}`, true}, {`{"$ref":"file:///etc/passwd"}`, true},
		{`{"$defs":{"a":{"$id":"a","$dynamicAnchor":"n"},"b":{"$id":"b","$dynamicAnchor":"n"}},"properties":{"x":{"$dynamicRef":"a#n"}}}`, true},
	} {
		_, err := Compile([]byte(row.schema))
		if err == nil || errors.Is(err, errUnreadable) != row.unreadable {
			t.Errorf("%s: %v", row.schema, err)
		}
	}
}

func FuzzFaults(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}`, `{"a":{"a":1}}`)
	f.Add(draft7+`"items":[{"format":"date-time"}],"oneOf":[{"minItems":1},{"contains":{"const":1e3}}]}`,
		`["2026-01-02T03:04:60Z",1000]`)
	f.Add(`{"$id":"x","$anchor":"a","$dynamicRef":"#a","unevaluatedItems":{"format":"email"}}`,
		`[[1],"a@[::1]"]`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := Compile([]byte(schema))
		if err != nil || !json.Valid([]byte(value)) {
			return
		}
		v := valueOf(t, value)
		if faults := s.Faults(v); s.Accepts(v) != (len(faults) == 0) {
			t.Errorf("%s of %s: %v", schema, value, faults)
		}
	})
}
